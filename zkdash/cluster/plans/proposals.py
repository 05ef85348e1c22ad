"""Reassignments that zkdash proposes: the fewest copies, even leaders, racks respected.

A proposal is a list of moves to be reviewed and then planned as a `Reassign`. What counts as even is counted
over the chosen topics alone. Topics that are being deleted and partitions that move already are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

import msgspec

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Topic
from zkdash.cluster.plans import broker_racks
from zkdash.kafka.assignment import leadership, regeneration, spread
from zkdash.kafka.assignment.spread import Impossible
from zkdash.kafka.documents.document import quote
from zkdash.kafka.values import Assignment, Broker, Move, PartitionState

Key = tuple[str, int]
Lists = Mapping[Key, tuple[int, ...]]
Change = Callable[[Lists, Collection[int], Mapping[int, str]], Lists]
# Of a partition's replicas before and after: whether their order may still be changed to spread leaders.
Free = Callable[[tuple[int, ...], tuple[int, ...]], bool]


class Proposal(msgspec.Struct, frozen=True):
    """The moves, how many copies they make, and what to say about them; none where there are `refusals`."""

    moves: tuple[Move, ...] = ()
    replicas_moved: int = 0
    refusals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def drain(state: ClusterState, leaving: Collection[int], topics: Collection[str] | None = None) -> Proposal:
    """No replica stays on these brokers."""
    return _proposal(
        state, topics, lambda lists, live, racks: spread.drain(lists, leaving, live, racks), avoid=leaving
    )


def add(state: ClusterState, new: Collection[int], topics: Collection[str] | None = None) -> Proposal:
    """These brokers get as many replicas as the others have, and their share of leaders."""
    if unknown := sorted(set(new).difference(state.brokers)):
        return Proposal(refusals=(f"Broker {unknown[0]} is not registered.",))
    return _proposal(
        state,
        topics,
        lambda lists, live, racks: spread.fill(lists, new, live, racks),
        lambda _, now: not set(now).isdisjoint(new),
    )


def replace(state: ClusterState, old: int, new: int, topics: Collection[str] | None = None) -> Proposal:
    """One broker takes another's place, as leader too."""
    if new not in state.brokers or new == old:
        return Proposal(refusals=(f"Broker {new} is not registered, or is the one to be replaced.",))
    return _proposal(
        state,
        topics,
        lambda lists, live, racks: spread.replace(lists, old, new, live, racks),
        lambda *_: False,
        avoid=(old,),
    )


def resize(state: ClusterState, factor: int, topics: Collection[str]) -> Proposal:
    """The partitions of these topics get this many replicas."""
    if not 1 <= factor <= len(state.brokers):
        return Proposal(refusals=(f"{factor} replicas do not fit {len(state.brokers)} live brokers.",))
    in_sync = {
        (name, part.id): part.state.isr
        for name in topics
        if name in state.topics
        for part in state.topics[name].partitions
        if isinstance(part.state, PartitionState)
    }
    return _proposal(
        state, topics, lambda lists, live, racks: spread.resize(lists, factor, live, racks, in_sync)
    )


def balance(state: ClusterState, topics: Collection[str] | None = None) -> Proposal:
    """Every live broker holds and leads as many partitions as any other, within one where that can be."""
    return _proposal(state, topics, spread.level, lambda *_: True)


def regenerate(
    state: ClusterState,
    brokers: Iterable[int],
    draw: Callable[[str], tuple[int, int]],
    topics: Collection[str] | None = None,
) -> Proposal:
    """What Kafka's own tool would propose with these draws of start and shift, for comparison."""
    wanted = tuple(sorted(brokers))
    if unknown := sorted(set(wanted).difference(state.brokers)):
        return Proposal(refusals=(f"Broker {unknown[0]} is not registered.",))
    chosen = {name: _lists(state.topics[name]) for name in _names(state, topics) if name in state.topics}
    racks = {broker: rack for broker, rack in broker_racks.racks(state).items() if broker in wanted}
    whole = {
        name: {p: replicas for (_, p), replicas in lists.items()} for name, lists in chosen.items() if lists
    }
    try:
        placed = regeneration.regenerate(whole, wanted, racks, draw)
    except ValueError as fault:
        return Proposal(refusals=(f"Kafka's tool would refuse: {fault}.",))
    before = {(name, p): replicas for name, lists in whole.items() for p, replicas in lists.items()}
    after = {(name, p): replicas for name, lists in placed.items() for p, replicas in lists.items()}
    return _told(before, after, [])


def _proposal(
    state: ClusterState,
    topics: Collection[str] | None,
    change: Change,
    is_free: Free = lambda before, now: before[:1] != now[:1],
    avoid: Collection[int] = (),
) -> Proposal:
    """`avoid` are brokers that get nothing, not even in place of a dead one."""
    if unknown := sorted(set(topics or ()).difference(state.topics)):
        return Proposal(refusals=(f"There is no topic {quote(unknown[0])}.",))
    before = {
        key: replicas
        for name in _names(state, topics)
        for key, replicas in _lists(state.topics[name]).items()
    }
    racks, live = broker_racks.racks(state), frozenset(state.brokers)
    try:
        after = _without_dead(before, change(before, live, racks), live.difference(avoid), racks)
    except Impossible as fault:
        return Proposal(refusals=(f"That cannot be: {fault}.",))
    free = {key for key, now in after.items() if is_free(before[key], now) and live.issuperset(now)}
    after = leadership.spread(after, live, free)
    return _told(before, after, _warnings(state, racks))


def _without_dead(
    before: Lists, after: Lists, live: frozenset[int], racks: Mapping[int, str]
) -> dict[Key, tuple[int, ...]]:
    """A move whose target holds a dead broker never ends: where a list changes, its dead are replaced too."""
    touched = [key for key in after if after[key] != before[key] and not live.issuperset(after[key])]
    dead = {broker for key in touched for broker in after[key]} - live
    healed = spread.drain(after, dead, live, racks) if dead else {}
    return {**after, **{key: healed[key] for key in touched}}


def _told(before: Lists, after: Lists, warnings: Iterable[str]) -> Proposal:
    moves = tuple(Move(*key, tuple(after[key])) for key in sorted(after) if after[key] != before[key])
    if not moves:
        return Proposal(refusals=("Nothing has to move: it is so already.",), warnings=tuple(warnings))
    return Proposal(moves, spread.moved(before, after), (), tuple(warnings))


def _names(state: ClusterState, topics: Collection[str] | None) -> list[str]:
    return sorted(state.topics if topics is None else topics)


def _lists(topic: Topic) -> dict[Key, tuple[int, ...]]:
    """The replicas of the partitions that may be moved: neither moving, nor malformed."""
    if topic.deleting or not isinstance(topic.assignment, Assignment):
        return {}
    return {
        (topic.name, partition): replicas
        for partition, replicas in topic.assignment.partitions.items()
        if replicas and len(set(replicas)) == len(replicas) and partition not in topic.moving
    }


def _warnings(state: ClusterState, racks: Mapping[int, str]) -> list[str]:
    named = any(isinstance(seen.value, Broker) and seen.value.rack for seen in state.brokers.values())
    if named and not racks:
        return ["Racks are not respected, because not every broker has one."]
    return []
