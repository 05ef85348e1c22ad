"""What one event means, in the words of the live pages: `cluster.changes` told of a single znode."""

from __future__ import annotations

from typing import Any, Final

from zkdash.cluster.changes import diff, difference, topics
from zkdash.cluster.changes.change import Said
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Partition, Topic
from zkdash.cluster.reducer import advance
from zkdash.kafka import paths
from zkdash.kafka.layouts import partitions
from zkdash.kafka.values import Layout, PartitionState
from zkdash.kafka.znode_kinds import Kind, Place
from zkdash.znode import Batch, Stat, Znode

KINDS: Final = tuple(sorted(difference.KINDS))
_NO_STAT: Final = Stat(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
_A_TOPIC: Final = Znode.of(b'{"version":1,"partitions":{}}', _NO_STAT)
# What else must be there for the change to be told: the topic whose config it is, whose broker counts.
_COMPANIONS: Final = (Kind.TOPIC_CONFIG, Kind.PARTITION_COUNT)


def change_descriptions(
    path: str, before: bytes | None, after: bytes | None, *, was: bool, is_there: bool
) -> list[dict[str, Any]]:
    """Each sentence about one event: area, what, before, after.

    Data counts only where there was, or is, a znode.
    """
    place = paths.locate(path)
    if place.kind is Kind.STATE:
        descriptions = _state(place, before, after) if was and is_there else ()
        return [
            {"area": "topics", "what": said.what, "before": said.before, "after": said.after}
            for said in descriptions
        ]
    if place.kind is Kind.TOPIC_CONFIG and not (was and is_there):
        return []  # made and removed with its topic, which says it
    then = _tree(path, place, before if was else None, exists=was)
    now = _tree(path, place, after if is_there else None, exists=is_there)
    batch = Batch({path: now.changed.get(path)}, 1)
    changes = diff(_meant(then), _meant(now), batch, now_ms=0)
    return [
        {"area": change.area, "what": change.what, "before": change.before, "after": change.after}
        for change in changes
        if change.area != "problems"
    ]


def _state(place: Place, before: bytes | None, after: bytes | None) -> list[Said]:
    """A topic of nothing but the partition, since this is asked most."""
    number = int(place.key)
    then, now = (partitions.parse_state(data)[0] for data in (before, after))
    if not isinstance(then, PartitionState) or not isinstance(now, PartitionState):
        return []
    earlier, other = (
        Topic(place.name, Layout.V08, None, None, (Partition(number, None, state, None),))
        for state in (then, now)
    )
    return list(topics.state(earlier, other, number))


def _tree(path: str, place: Place, data: bytes | None, *, exists: bool) -> Batch:
    znodes = {path: Znode.of(data, _NO_STAT)} if exists else {}
    if place.kind in _COMPANIONS:
        znodes[paths.topic(place.name)] = _A_TOPIC
    return Batch(znodes, 1, whole=True)


def _meant(tree: Batch) -> ClusterState:
    return advance.advance(ClusterState(), tree)[0]
