"""The differences between two states that a batch made, newest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from zkdash.cluster.changes import admin, brokers, groups, topics
from zkdash.cluster.changes.change import Change, Said, Transition, stamp
from zkdash.cluster.model.state import ClusterState
from zkdash.kafka import paths
from zkdash.kafka.znode_kinds import BY_KIND, Kind, Place
from zkdash.znode import Batch

# So many partitions of one batch are told one by one; more are one sentence, with how each of them changed.
MOST_PARTITIONS = 500

_SINGLE: Mapping[Kind, Callable[[ClusterState, ClusterState], Iterable[Said]]] = {
    Kind.CONTROLLER: brokers.controller,
    Kind.CONTROLLER_EPOCH: brokers.epoch,
    Kind.CLUSTER_ID: brokers.cluster_id,
    Kind.REASSIGNMENT: admin.reassignment,
    Kind.ELECTION: admin.election,
}
_NAMED: Mapping[Kind, Callable[[ClusterState, ClusterState, str], Iterable[Said]]] = {
    Kind.TOPIC: topics.topic,
    Kind.TOPIC_CONFIG: topics.config,
    Kind.DELETION: admin.deletion,
    Kind.GROUP: groups.group,
}
# The kinds whose changes have sentences.
KINDS = frozenset({*_SINGLE, *_NAMED, Kind.STATE, Kind.BROKER, Kind.MEMBER, Kind.PARTITION_COUNT})


def diff(
    before: ClusterState,
    after: ClusterState,
    batch: Batch,
    *,
    now_ms: int,
    most_partitions: int = MOST_PARTITIONS,
) -> tuple[Change, ...]:
    """What a batch changed, newest first. The first load is no change: everything was there before.

    `now_ms` is the time of deletions, which leave none of their own behind. The states of more than
    `most_partitions` are one sentence.
    """
    if not before.loaded:
        return ()
    places = {path: paths.locate(path) for path in batch.changed}
    states = sum(place.kind is Kind.STATE for place in places.values())
    changes: list[Change] = []
    for path, place in places.items():
        if place.kind is Kind.STATE and states > most_partitions:
            continue
        read = batch.changed[path]
        if place.kind in KINDS:
            area = BY_KIND[place.kind].area
            changes += (stamp(said, area, path, read, now_ms=now_ms) for said in _said(before, after, place))
        if before.problems is not after.problems:
            changes += (
                stamp(said, "problems", path, read, now_ms=now_ms) for said in _doubted(before, after, path)
            )
    if states > most_partitions:
        changes.append(_flood(before, after, places, batch.zxid, now_ms))
    changes.sort(key=lambda change: change.when, reverse=True)
    return tuple(changes)


def of_batch(
    before: ClusterState,
    after: ClusterState,
    batch: Batch,
    *,
    now_ms: int,
    most_partitions: int = MOST_PARTITIONS,
) -> tuple[Change, ...]:
    """As `diff`, and whose partitions of groups changed, which no single znode tells: one change a group."""
    owners = groups.claims(before, after, batch, now_ms=now_ms) if before.loaded else ()
    said = diff(before, after, batch, now_ms=now_ms, most_partitions=most_partitions)
    return tuple(sorted((*said, *owners), key=lambda change: change.when, reverse=True))


def _flood(
    before: ClusterState, after: ClusterState, places: Mapping[str, Place], zxid: int, now_ms: int
) -> Change:
    """One sentence about the states of many partitions."""
    states = [place for place in places.values() if place.kind is Kind.STATE]
    alike: Counter[Transition] = Counter()
    names = set[str]()
    for place in states:
        was, now = before.topics.get(place.name), after.topics.get(place.name)
        if was and now and topics.is_same(was, now):
            transition = topics.transition(was, now, int(place.key))
            if transition is not None:
                alike[transition] += 1
                names.add(place.name)
    what = f"the states of {len(states)} partitions changed"
    transitions = tuple(transition._replace(partitions=count) for transition, count in alike.items())
    return Change(
        now_ms,
        "topics",
        what,
        None,
        None,
        paths.TOPICS,
        zxid,
        transitions=transitions,
        topics=frozenset(names),
    )


def _said(before: ClusterState, after: ClusterState, place: Place) -> Iterable[Said]:
    """The sentences about one path; none where only its version changed."""
    kind, name, key, _ = place
    if kind is Kind.STATE:
        was, now = before.topics.get(name), after.topics.get(name)
        return topics.state(was, now, int(key)) if was and now and topics.is_same(was, now) else ()
    if kind is Kind.BROKER:
        return brokers.broker(before, after, int(name))
    if kind is Kind.MEMBER:
        return groups.member(before.groups.get(name), after.groups.get(name), name, key)
    if kind is Kind.PARTITION_COUNT:
        return topics.count(before.topics.get(name), after.topics.get(name), name, int(key))
    if kind in _NAMED:
        return _NAMED[kind](before, after, name)
    return _SINGLE[kind](before, after)


def _doubted(before: ClusterState, after: ClusterState, path: str) -> Iterable[Said]:
    was, now = before.problems.get(path), after.problems.get(path)
    if now is not None and was is None:
        yield Said(f"{path} does not parse", None, now.reason)
    elif was is not None and now is None:
        yield Said(f"{path} is no problem any more", was.reason, None)
