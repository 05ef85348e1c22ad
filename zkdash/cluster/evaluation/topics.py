"""What the checks have against a topic, and its status: one pass over its partitions tells both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from zkdash.cluster.evaluation import partitions
from zkdash.cluster.evaluation.context import Context, Mark
from zkdash.cluster.evaluation.details import told_as, told_of
from zkdash.cluster.evaluation.partitions import MOVING, STRANGERS, TOLD
from zkdash.cluster.model import summary
from zkdash.cluster.model.summary import Status
from zkdash.cluster.model.tone import Tone
from zkdash.cluster.model.topics import Partition, Topic, TopicSummary
from zkdash.cluster.model.violations import Violation
from zkdash.kafka import topic_names
from zkdash.kafka.values import Assignment, PartitionState, Unparsable
from zkdash.znode import Unreadable, Znode

# Those that a topic's status is made of as well. Beside checks: topics with partitions that move, and with
# somebody in an ISR who is no replica.
CHECKS = (
    *("D3", "D4", "D5", "D6", "D7", "D9", "D10", "D14", "D15", "D16", "D17", "D25", "D55"),
    "D59",
    MOVING,
    STRANGERS,
)


class Judged(NamedTuple):
    """A topic in numbers, and the checks of CHECKS that it fails, by their ids."""

    summary: TopicSummary
    causes: dict[str, Violation]


def judge(topic: Topic, ground: Context) -> Judged:
    """Look at a topic. Nothing is held against one that is being deleted: it loses its leaders by design."""
    led = _led(topic, ground)
    marks = led.marks
    numbers = summary.numbers(
        topic,
        leaders=led.leaders,
        preferred=led.preferred,
        preferable=led.preferable,
        counts={check: len(found) for check, found in marks.items()},
    )
    if topic.deleting:
        return Judged(msgspec.structs.replace(numbers, tone=Tone.INFO, words="deleting"), {})
    whole = _whole(topic, ground)
    tone, words = _status(topic, numbers, marks, whole)
    if tone is not Tone.OK:
        numbers = msgspec.structs.replace(numbers, tone=tone, words=words)
    return Judged(numbers, _causes(topic, marks, whole))


# Partitions by what is held against them, by the check.
_Held = tuple[Partition, Mark]
_Marks = Mapping[str, Sequence[_Held]]


class _Led(NamedTuple):
    """What the states say: leaders in all, and what is held against their partitions."""

    leaders: list[int]
    marks: dict[str, list[_Held]]
    preferred: int
    preferable: int


def _led(topic: Topic, ground: Context) -> _Led:
    """One plain loop, which a first load goes through 200 000 times: nearly all are as they should be."""
    assigned = summary.assigned(topic)
    least, moving, shapes = ground.least(topic), topic.moving, partitions.shapes(ground)
    epoch = _NEVER if ground.controller_epoch is None else ground.controller_epoch
    leaders: list[int] = []
    found: dict[str, list[_Held]] = {}
    preferred = preferable = 0
    for partition in assigned:
        state, replicas = partition.state, partition.replicas
        if not isinstance(state, PartitionState) or replicas is None:
            if isinstance(state, PartitionState) and state.leader >= 0:
                leaders.append(state.leader)
            _hold(found, partition, partitions.marks(topic, partition, ground))
            continue
        leader = state.leader
        moves = partition.id in moving
        if leader >= 0:
            leaders.append(leader)
            if replicas and not moves:
                preferable += 1
                preferred += replicas[0] == leader
        if moves or state.controller_epoch > epoch or state.leader_recovery_state:
            _hold(found, partition, partitions.marks(topic, partition, ground))
        elif marks := shapes(replicas, state.isr, leader, least).marks:
            _hold(found, partition, marks)
    if len(assigned) < len(topic.partitions):
        _orphans(found, topic, ground)
    return _Led(leaders, found, preferred, preferable)


def _orphans(found: dict[str, list[_Held]], topic: Topic, ground: Context) -> None:
    """Those that are not assigned: nothing else is asked of them."""
    for partition in topic.partitions:
        if partition.replicas is None:
            _hold(found, partition, partitions.marks(topic, partition, ground))


def _hold(found: dict[str, list[_Held]], partition: Partition, marks: Iterable[Mark]) -> None:
    for mark in marks:
        held = found.get(mark.check)
        if held is None:
            found[mark.check] = [(partition, mark)]
        else:
            held.append((partition, mark))


_NEVER = 1 << 31  # no epoch is larger


class _Fact(NamedTuple):
    """What is held against a topic as a whole: the check, how bad it is, its status's words, the cause's."""

    check: str
    tone: Tone
    words: str
    why: tuple[str, ...] = ()


def _whole(topic: Topic, ground: Context) -> list[_Fact]:
    found = []
    fault = topic_names.fault(topic.name)
    if fault:
        found.append(_Fact("D55", Tone.WARNING, "illegal name", (fault,)))
    if isinstance(topic.assignment, Assignment):
        found += _of_assignment(topic.assignment, topic)
        targets = ground.targets.get(topic.name, {})
        absent = tuple(
            f"partition {number} is not there"
            for number in targets
            if number not in topic.assignment.partitions
        )
        if absent:
            found.append(_Fact("D25", Tone.CRITICAL, TOLD["D25"], absent))
    return found


def _of_assignment(assignment: Assignment, topic: Topic) -> list[_Fact]:
    """Partitions without a gap, and as many replicas of each; of those that move nobody can tell."""
    found, lists, moving = [], assignment.partitions, topic.moving
    if lists and max(lists) != len(lists) - 1:
        missing = sorted(set(range(len(lists))) - lists.keys())
        why = tuple(f"partition {number} is missing" for number in missing)
        found.append(_Fact("D16", Tone.CRITICAL, "partitions missing", why))
    sizes = Counter(len(ids) for number, ids in lists.items() if number not in moving)
    if len(sizes) > 1:
        told = ", ".join(f"{size} replicas: {count}" for size, count in sorted(sizes.items()))
        found.append(_Fact("D15", Tone.INFO, "unequal replication", (told,)))
    return found


def _status(topic: Topic, numbers: TopicSummary, marks: _Marks, whole: Sequence[_Fact]) -> Status:
    """The worst of what is held against the topic and its partitions, and all of it in words."""
    facts = []
    for check, words in TOLD.items():
        told = [mark.tone for _, mark in marks.get(check, ()) if mark.words]
        if told:
            facts.append((min(told, key=lambda tone: tone.rank), f"{len(told)} {words}"))
    facts += ((fact.tone, fact.words) for fact in whole)
    if numbers.unparsable or isinstance(topic.assignment, Unparsable):
        facts.append((Tone.UNKNOWN, "unparsable"))
    if numbers.unreadable or isinstance(topic.assignment, Unreadable):
        facts.append((Tone.UNKNOWN, "unreadable"))
    return summary.worst(facts)


def _causes(
    topic: Topic,
    marks: _Marks,
    whole: Sequence[_Fact],
) -> dict[str, Violation]:
    """The marks by their checks, each with the tone of its worst."""
    found: dict[str, Violation] = {}
    for check in CHECKS:
        held = [*marks.get(f"{check} under", ()), *marks.get(check, ())]
        if held:
            found[check] = _cause(check, held)
    for fact in whole:
        if fact.check == "D15" and "D15" in found:
            continue  # that some have one replica says more
        told = [*map(_why, marks.get(fact.check, ())), *fact.why]
        found[fact.check] = Violation(len(told), tone=fact.tone, why=told_of(told))
    _tell(found, topic)
    return found


def _tell(found: dict[str, Violation], topic: Topic) -> None:
    """What only the topic's own znodes tell, and whether it moves."""
    if found.get("D15", _NONE).tone is Tone.WARNING and isinstance(topic.assignment, Assignment):
        why = f"{found['D15'].count} of {len(topic.assignment.partitions)} have one replica"
        found["D15"] = msgspec.structs.replace(found["D15"], why=why)
    if "D3" in found and isinstance(topic.znode, Znode):
        # The assignment is older than the partition that waits for its first leader.
        found["D3"] = msgspec.structs.replace(found["D3"], since=topic.znode.mtime / 1000)
    if topic.moving:
        found[MOVING] = Violation(len(topic.moving))


_NONE = Violation()


def _cause(check: str, held: Sequence[_Held]) -> Violation:
    tone = _OTHERWISE.get(check)
    is_so = tone is not None and any(mark.tone is tone for _, mark in held)
    return Violation(len(held), tone=tone if is_so else None, why=told_as(held, _why))


def _why(held: _Held) -> str:
    partition, mark = held
    return f"partition {partition.id}: {mark.detail}" if mark.detail else f"partition {partition.id}"


# How bad some of what fails a check is, where it is not as bad as the check says.
_OTHERWISE = {"D9": Tone.CRITICAL, "D15": Tone.WARNING}
