"""Where a group of ZooKeeper consumers goes on: /consumers/G/offsets/T/P, written while nobody is in it.

Consumers read an offset when they claim a partition and write their own over it, so that a write beside
live ones is lost. Whether a value lies in the log, only a broker can tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.topics import Topic
from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Written
from zkdash.cluster.plans.intents import OffsetAt, ResetOffsets
from zkdash.cluster.plans.kinds import consumer_groups
from zkdash.cluster.plans.multis import in_multis
from zkdash.cluster.plans.values import Effect, Ground, Plan, Write, create, remove, replace
from zkdash.kafka import paths
from zkdash.kafka.consumers import exported_offsets
from zkdash.kafka.documents.document import LONG_MAX, few, quote
from zkdash.kafka.values import Assignment, Layout
from zkdash.kafka.znode_kinds import Kind

Places = Mapping[tuple[str, str], int]


def plan(intent: ResetOffsets, ground: Ground) -> Plan:
    draft = Draft(intent, ground, intent.group)
    draft.require_loaded()
    group = draft.state.groups.get(intent.group) or Group(intent.group)
    if intent.group in draft.state.groups:
        consumer_groups.inactive(intent.group, draft)
    elif not intent.group or "/" in intent.group:
        draft.refuse(f"{quote(intent.group)} is not a valid group name.")
    _check(intent, draft)
    changed = [offset for offset in intent.offsets if _now(group, offset) != offset.value]
    if intent.offsets and not changed:
        draft.refuse("Nothing would change: the offsets are so already.")
    if not draft.refusals:
        _write(intent.group, changed, draft)
        _remarks(group, changed, draft)
    old = tuple(OffsetAt(offset.topic, offset.part, _now(group, offset)) for offset in changed)
    inverse = ResetOffsets(intent.group, old)
    return draft.close(_effect(group, changed, draft), inverse)


def _effect(group: Group, changed: list[OffsetAt], draft: Draft) -> Effect:
    """What would be read again, and what never: of partitions whose offset is known before and after."""
    by = [
        offset.value - now
        for offset in changed
        if offset.value is not None and (now := _now(group, offset)) is not None
    ]
    return Effect(
        topics=len({offset.topic for offset in changed}),
        partitions=len(changed),
        read_again=-sum(moved for moved in by if moved < 0),
        skipped=sum(moved for moved in by if moved > 0),
        unit="bytes" if draft.state.layout is Layout.V07 else "messages",
    )


def to(places: Iterable[tuple[str, str]], value: int) -> tuple[OffsetAt, ...]:
    """One value for many partitions."""
    return tuple(OffsetAt(topic, part, value) for topic, part in places)


def shifted(group: Group, by: int, topics: Iterable[str] | None = None) -> tuple[OffsetAt, ...]:
    """Every stored offset moved by a number, never below 0."""
    wanted = group.offsets if topics is None else topics
    return tuple(
        OffsetAt(topic, part, max(0, offset.value + by))
        for topic in sorted(wanted)
        for part, offset in sorted(group.offsets.get(topic, {}).items())
        if isinstance(offset.value, int)
    )


def from_file(group: str, text: str) -> tuple[tuple[OffsetAt, ...], tuple[str, ...]]:
    """The offsets of this group in a file of Kafka's format, and a sentence for each thing wrong in it."""
    exported, reasons = exported_offsets.read(text)
    others = sorted({of for of, _, _ in exported if of != group})
    strange = [f"The file holds offsets of another group, {quote(of)}." for of in others]
    chosen = (OffsetAt(topic, part, value) for (of, topic, part), value in exported.items() if of == group)
    return tuple(chosen), (*reasons, *few(strange))


def exported(group: Group) -> str:
    """The group's offsets as a file of Kafka's format: what to keep before they are changed."""
    return exported_offsets.write(
        ((group.name, topic, part), offset.value)
        for topic in sorted(group.offsets)
        for part, offset in sorted(group.offsets[topic].items())
        if isinstance(offset.value, int)
    )


def _check(intent: ResetOffsets, draft: Draft) -> None:
    if not intent.offsets:
        draft.refuse("No offset is given.")
    wrong = []
    seen = set()
    for offset in intent.offsets:
        here = f"{offset.topic} {offset.part}"
        if (offset.topic, offset.part) in seen:
            wrong.append(f"{here} is named twice.")
        seen.add((offset.topic, offset.part))
        topic = draft.state.topics.get(offset.topic)
        if offset.value is None:
            continue
        if topic is None or not _has(topic, offset.part):
            wrong.append(f"{here}: there is no such {'partition' if topic else 'topic'}.")
        elif not 0 <= offset.value <= LONG_MAX:
            wrong.append(f"{here}: {offset.value} is not an offset.")
    for sentence in few(wrong):
        draft.refuse(sentence)


def _has(topic: Topic, part: str) -> bool:
    """Whether a partition exists: "1", or 0.7's "1-0" (broker and number)."""
    broker, dash, number = part.partition("-")
    if dash:
        counts = {count.broker: count.count for count in topic.counts}
        partitions = counts.get(int(broker), 0) if paths.is_id(broker) else 0
        return isinstance(partitions, int) and paths.is_id(number) and int(number) < partitions
    assignment = topic.assignment
    return isinstance(assignment, Assignment) and paths.is_id(part) and int(part) in assignment.partitions


def _now(group: Group, offset: OffsetAt) -> int | None:
    commit = group.offsets.get(offset.topic, {}).get(offset.part)
    return commit.value if commit and isinstance(commit.value, int) else None


def _write(name: str, changed: list[OffsetAt], draft: Draft) -> None:
    """The guard, the directories that are missing, then the values; each multi has its own guard."""
    made: set[str] = set()
    writes: list[Write] = []
    for offset in changed:
        path = paths.offset(name, offset.topic, offset.part)
        writes += _parents(path, draft, made)
        znode = draft.read(path)
        data = str(offset.value).encode()
        undo = "the offset as before"
        if offset.value is None:
            writes += [remove(path, znode, undo)] if znode else []
        else:
            writes.append(replace(path, znode, data, undo) if znode else create(path, data, undo))
    for portion in in_multis(writes, beside=2):
        count = sum(paths.locate(write.path).kind is Kind.OFFSET for write in portion)
        # where the group itself is made, no consumer can be in it: its creation is the guard
        is_new = any(write.path == paths.group(name) for write in portion)
        guard = [] if is_new else consumer_groups.guard(draft, name)
        draft.step(f"Write {count} offsets of {name}", [*guard, *portion], Written())


def _parents(path: str, draft: Draft, made: set[str]) -> list[Write]:
    """The directories above an offset that are not there yet, from the top."""
    pieces = path.split("/")
    writes = []
    for end in range(3, len(pieces)):
        parent = "/".join(pieces[:end])
        if parent not in made and draft.read(parent) is None:
            made.add(parent)
            writes.append(create(parent, None))
    return writes


def _remarks(group: Group, changed: list[OffsetAt], draft: Draft) -> None:
    unknown = sum(_now(group, offset) is None for offset in changed)
    if unknown:
        have = "partition has" if unknown == 1 else "partitions have"
        draft.warn(f"{unknown} {have} no offset now: what of it would be read again is not counted.")
    if draft.state.layout is Layout.V07:
        draft.warn(
            "An offset of 0.7 is a byte position and must be where a message begins: zkdash cannot tell."
        )
        return
    draft.warn("Whether the values lie within the partitions' logs is not checked here: only brokers know.")
    back = any((now := _now(group, offset)) is not None and (offset.value or 0) < now for offset in changed)
    if back:
        draft.warn(
            "Where the group also commits to Kafka (dual.commit.enabled), the larger of both offsets counts: "
            "going back in ZooKeeper alone has no effect."
        )
    draft.warn(
        "Where the group keeps its offsets in Kafka (offsets.storage=kafka), these are not read at all."
    )


KIND = ActionKind(
    ResetOffsets,
    "Set a group’s offsets",
    plan,
    needs=lambda intent: consumer_groups.needs(intent.group),
    confirm=lambda intent: intent.group,
    needs_controller=False,
)
