"""What is expected of the groups that are looked at, remembered while nothing that it follows from changes.

Groups commit every second, and rebalance seldom.
"""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.rebalance import expectation
from zkdash.cluster.tables.groups import partitions as group_partitions
from zkdash.cluster.tables.groups.partitions import Catalogue
from zkdash.live.snapshot import Snapshot

# Partitions of all groups that are remembered; the newest one is so whatever its size.
MOST = 200_000


class _Known(msgspec.Struct, frozen=True):
    """A catalogue, and the group and state that it was made from."""

    group: Group
    state: ClusterState
    catalogue: Catalogue


_known: OrderedDict[tuple[str, str], _Known] = OrderedDict()


def of(snapshot: Snapshot, group: Group) -> Catalogue:
    """The catalogue of a group. Two threads may make it at once, of which one is forgotten."""
    key = snapshot.cluster, group.name
    kept = _known.get(key)
    if kept is None or not _holds(kept, snapshot.state, group):
        expected = expectation.expect(snapshot.state, group, now=0)
        kept = _Known(group, snapshot.state, group_partitions.catalogue(expected))
    _remember(key, _Known(kept.group, snapshot.state, kept.catalogue))
    return kept.catalogue


def _holds(kept: _Known, state: ClusterState, group: Group) -> bool:
    """Whether members, owners and partitions are the very same objects."""
    before, was = kept.group, kept.state
    if before.members is not group.members or before.owners is not group.owners:
        return False
    if bool(before.offsets) != bool(group.offsets) or bool(was.brokers) != bool(state.brokers):
        return False
    return was.topics is state.topics or _same_topics(kept.catalogue, was, state)


def _same_topics(catalogue: Catalogue, was: ClusterState, state: ClusterState) -> bool:
    """Whether the topics that the group asks for are what they were; of wildcards, whether all names are."""
    demanded = catalogue.expected.inputs
    if demanded.assumptions and was.topics.keys() != state.topics.keys():
        return False
    for name in {*demanded.demand.partitions, *demanded.open_topics}:
        earlier, other = was.topics.get(name), state.topics.get(name)
        if earlier is other:
            continue
        if earlier is None or other is None or earlier.layout is not other.layout:
            return False
        if earlier.assignment is not other.assignment or earlier.counts is not other.counts:
            return False
    return True


def _remember(key: tuple[str, str], kept: _Known) -> None:
    _known[key] = kept
    _known.move_to_end(key)
    size = sum(len(kept.catalogue.entries) for kept in tuple(_known.values()))
    while size > MOST and len(_known) > 1:
        _, gone = _known.popitem(last=False)
        size -= len(gone.catalogue.entries)
