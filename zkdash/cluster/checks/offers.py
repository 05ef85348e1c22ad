"""From what a check found to the form of the action that mends it, filled in with what caused it.

Each is asked when a page is rendered, so that it looks at what is named and at nothing else of a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from zkdash.cluster.model import groups, summary
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Partition, Topic
from zkdash.kafka import paths, topic_names
from zkdash.kafka.assignment import placement
from zkdash.kafka.values import (
    Election,
    Layout,
    PartitionState,
    Pattern,
    Reassignment,
    Registration,
)

# How many things one offer names.
MOST = 50


class Offer(msgspec.Struct, frozen=True):
    """A kind of action, and what its form is filled in with: parameters, each as often as it has values."""

    kind: str
    given: tuple[tuple[str, str], ...] = ()


# Of a state and the names of causes, in their order; None where no action would mend any of them.
Offering = Callable[[ClusterState, Sequence[str]], Offer | None]


def simply(kind: str) -> Offering:
    """The form as it is."""
    return lambda _state, _names: Offer(kind)


def each(kind: str, parameter: str, *given: tuple[str, str]) -> Offering:
    """The form with each cause in the same parameter, and with what is given beside."""

    def offer(_: ClusterState, names: Sequence[str]) -> Offer:
        return Offer(kind, (*given, *((parameter, name) for name in names[:MOST])))

    return offer


def first(kind: str, parameter: str) -> Offering:
    """The form with the first cause: it takes one only."""
    return lambda _state, names: Offer(kind, tuple((parameter, name) for name in names[:1]))


def balance(_: ClusterState, _names: Sequence[str]) -> Offer:
    """Replicas and leaders evenly over all brokers: what one has too many of goes to the others."""
    return Offer("reassign", (("way", "balance"),))


def electable(state: ClusterState, names: Sequence[str]) -> Offer | None:
    """Partitions led by whom no controller would have elected, where the preferred replica can take over.

    Where it leads already, or is not in sync, an election changes nothing.
    """

    def can_be(topic: Topic, part: Partition) -> bool:
        replicas, part_state = part.replicas, part.state
        if (
            topic.deleting
            or part.id in topic.moving
            or not replicas
            or not isinstance(part_state, PartitionState)
        ):
            return False
        is_wrong = part_state.leader >= 0 and (
            part_state.leader not in part_state.isr or part_state.leader not in replicas
        )
        able = replicas[0] in state.brokers and replicas[0] in part_state.isr
        return is_wrong and able and part_state.leader != replicas[0]

    partitions = [
        ("partition", f"{topic.name}-{part.id}")
        for topic, part in _partitions(state, names)
        if can_be(topic, part)
    ]
    return Offer("elect-preferred", tuple(partitions[:MOST])) if partitions else None


def adopted(state: ClusterState, names: Sequence[str]) -> Offer | None:
    """Partitions in whose ISR is a live broker that is no replica: it becomes one, as it holds the data."""
    moves = []
    for topic, part in _partitions(state, names):
        replicas, part_state = part.replicas or (), part.state
        if topic.deleting or part.id in topic.moving or not isinstance(part_state, PartitionState):
            continue
        every = (*replicas, *(broker for broker in part_state.isr if broker not in replicas))
        if len(every) > len(replicas) > 0 and all(broker in state.brokers for broker in every):
            moves.append(("moves", f"{topic.name}-{part.id}: {', '.join(map(str, every))}"))
    return Offer("reassign", (("way", "lists"), *moves[:MOST])) if moves else None


def replicated(state: ClusterState, names: Sequence[str]) -> Offer | None:
    """As many replicas for every partition of a topic as most of its own have, three where they have but one.

    A form has one replication factor: the topics that need the one which most of them need.
    """
    wanted: dict[int, list[str]] = {}
    for name in names:
        numbers = state.summaries.get(name)
        if numbers is None or numbers.replication is None or numbers.moving:
            continue
        least, most = numbers.replication
        brokers = len(state.brokers)
        factor = min(brokers, most) if most > 1 else placement.usual_replication(brokers)
        if least < factor:
            wanted.setdefault(factor, []).append(name)
    if not wanted:
        return None
    factor = max(wanted, key=lambda candidate: (len(wanted[candidate]), candidate))
    topics = (("topic", name) for name in wanted[factor][:MOST])
    return Offer("reassign", (("way", "factor"), ("factor", str(factor)), *topics))


def stuck_reassignment(state: ClusterState, _: Sequence[str]) -> Offer:
    """What no controller can act on is cleared, what waits for what will not come is sent back; what could
    go on needs a controller that looks at it."""
    seen = state.reassignment
    if seen is None or not isinstance(seen.value, Reassignment) or not seen.value.moves:
        return Offer("clear-stuck", (("path", paths.REASSIGNMENT),))
    waits = any(
        not set(move.replicas) <= set(state.brokers)
        or _leader(state, move.topic, move.partition) not in state.brokers
        for move in seen.value.moves
    )
    return Offer("revert-stuck" if waits else "reelect-controller")


def stuck_election(state: ClusterState, _: Sequence[str]) -> Offer:
    """As `stuck_reassignment`, of /admin/preferred_replica_election."""
    seen = state.election
    value = None if seen is None else seen.value
    can_be = isinstance(value, Election) and value.partitions
    if can_be and isinstance(value, Election) and all(name in state.topics for name, _ in value.partitions):
        return Offer("reelect-controller")
    return Offer("clear-stuck", (("path", paths.ELECTION),))


def absent_topics(state: ClusterState, names: Sequence[str]) -> Offer | None:
    """Configurations of absent topics; those of brokers stay, which may be down."""
    prefix = f"{paths.TOPIC_CONFIGS}/"
    topics = [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
    gone = [name for name in topics if _is_gone(state, name)]
    return Offer("clear-configs", tuple(("topic", name) for name in gone[:MOST])) if gone else None


def wider_topic(state: ClusterState, names: Sequence[str]) -> Offer | None:
    """As many partitions as the first group has threads for, of a topic that it subscribes to by name."""
    for name in names:
        for topic, threads in sorted(_threads(state, name).items()):
            numbers = state.summaries.get(topic)
            if numbers is None or numbers.layout is not Layout.V08 or topic in topic_names.INTERNAL:
                continue
            if numbers.partitions is not None and numbers.partitions < threads and not numbers.moving:
                return Offer("add-partitions", (("topic", topic), ("partitions", str(threads))))
    return None


def lost_topic(state: ClusterState, names: Sequence[str]) -> Offer | None:
    """What groups without members keep of a topic that is gone: of the first such, all groups that do."""
    kept: dict[str, list[str]] = {}
    for name in names:
        group = state.groups.get(name)
        if group is not None and not group.members:
            for topic in {*group.offsets, *group.owners}.difference(state.topics):
                kept.setdefault(topic, []).append(name)
    if not kept:
        return None
    topic = max(sorted(kept), key=lambda name: len(kept[name]))
    return Offer("delete-group", (("topic", topic), *(("group", name) for name in kept[topic][:MOST])))


def bad_offsets(state: ClusterState, names: Sequence[str]) -> Offer | None:
    """The offsets that are not valid, of the first group without members."""
    for name in names:
        group = state.groups.get(name)
        if group is None or group.members:
            continue
        wrong = [
            ("partition", f"{topic}-{part}")
            for topic, parts in sorted(group.offsets.items())
            for part, offset in sorted(parts.items())
            if topic in state.topics and paths.is_id(part) and groups.is_bad(offset)
        ]
        if wrong:
            return Offer("reset-offsets", (("group", name), *wrong[:MOST]))
    return None


def _partitions(state: ClusterState, names: Sequence[str]) -> Iterator[tuple[Topic, Partition]]:
    for name in names[:MOST]:
        topic = state.topics.get(name)
        if topic is not None:
            yield from ((topic, part) for part in summary.assigned(topic))


def _leader(state: ClusterState, name: str, partition: int) -> int | None:
    """Who leads a partition that is assigned; None where nobody does, or there is no such."""
    topic = state.topics.get(name)
    part = topic.partition(partition) if topic else None
    if part is None or part.replicas is None or not isinstance(part.state, PartitionState):
        return None
    return part.state.leader


def _is_gone(state: ClusterState, name: str) -> bool:
    """Whether nothing but a configuration is left of a topic."""
    left = state.remnants.get(name)
    return left is not None and not left.partitions and name not in state.deletions


def _threads(state: ClusterState, name: str) -> dict[str, int]:
    """How many threads a group has for each topic that its members subscribe to by name."""
    threads_by_topic: dict[str, int] = {}
    group = state.groups.get(name)
    for member in {} if group is None else group.members.values():
        registration = member.registration
        if isinstance(registration, Registration) and registration.pattern is Pattern.STATIC:
            for topic, threads in registration.subscription.items():
                threads_by_topic[topic] = threads_by_topic.get(topic, 0) + threads
    return threads_by_topic
