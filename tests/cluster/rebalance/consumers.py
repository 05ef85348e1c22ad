"""Small groups of 0.8 and later for tests."""

from __future__ import annotations

from collections.abc import Mapping

from tests.cluster import small
from tests.cluster.small import AnyTree, Tree
from zkdash.cluster.model.state import ClusterState


def member(name: str, subscription: Mapping[str, int], *, group: str = "g", pattern: str = "static") -> Tree:
    fields = {"version": 1, "subscription": subscription, "pattern": pattern, "timestamp": "1"}
    return {f"/consumers/{group}/ids/{name}": small.json_(**fields)}


def owners(topic: str, threads: Mapping[object, str], *, group: str = "g") -> Tree:
    return {f"/consumers/{group}/owners/{topic}/{key}": small.znode(to) for key, to in threads.items()}


def offsets(topic: str, values: Mapping[object, int], *, group: str = "g") -> Tree:
    return {f"/consumers/{group}/offsets/{topic}/{key}": small.znode(str(at)) for key, at in values.items()}


def cluster(*trees: AnyTree, **topics: int) -> ClusterState:
    """A cluster with one broker and these topics, by their number of partitions."""
    made = [small.topic(topic, {number: [1] for number in range(count)}) for topic, count in topics.items()]
    return small.built(small.broker(1), *made, *trees)
