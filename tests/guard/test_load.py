"""A first load and a change make no more calls than `load.toml` says, whatever the size of the cluster."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

import pytest

from bench import tree
from tests.cluster import small
from tests.guard.calls import calls
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.znode import Batch

PARTITIONS: Final = 20
LIMITS: Final = tomllib.loads(Path(__file__).with_name("load.toml").read_text())
# So far below its limit a count may be: what is saved is to be kept.
SLACK: Final = 0.05


def _tree(topics: int) -> small.Tree:
    return dict(tree.tree(topics=topics, partitions=PARTITIONS, groups=topics // 10))


def _groups(count: int) -> small.Tree:
    return dict(sorted(tree.tree(topics=20, partitions=PARTITIONS, groups=count, dead=count)))


def _loaded(topics: int) -> ClusterState:
    return small.built(_tree(topics))


def _state(topic: int, partition: int, *, leader: int, epoch: int) -> small.Tree:
    ids = tree.replicas(topic, partition)
    path = f"/brokers/topics/{tree.topic_name(topic)}/partitions/{partition}/state"
    return {path: tree.znode(tree.state(ids[leader], ids, leader_epoch=epoch), zxid=9_999_999)}


def _cost(state: ClusterState, changed: small.Tree) -> int:
    """The calls that a batch makes once everything is warm."""
    batch = Batch(changed, state.zxid + 1)
    advance.advance(state, batch)
    return calls(lambda: advance.advance(state, batch))


def _hold(count: float, of: str, limit: str) -> None:
    most = LIMITS[of][limit]
    assert count <= most, (
        f"{of}.{limit}: {count:.2f} calls, {most} at most: lower the cost, or raise it there"
    )
    assert count >= most * (1 - SLACK), f"{of}.{limit}: {count:.2f} calls, well below {most}: lower it there"


def test_a_first_load_makes_so_many_calls_a_znode() -> None:
    """Counted as what a larger tree adds to a small one: a load has a cost of its own."""
    few, many = _tree(20), _tree(100)
    more = _cost(ClusterState(), many) - _cost(ClusterState(), few)
    _hold(more / (len(many) - len(few)), "load", "a_znode")


def test_a_first_load_makes_so_many_calls_a_znode_of_a_group() -> None:
    """Counted as what more groups add, directory by directory, as a mirror reads them."""
    few, many = _groups(4), _groups(20)
    more = _cost(ClusterState(), many) - _cost(ClusterState(), few)
    _hold(more / (len(many) - len(few)), "load", "a_znode_of_a_group")


@pytest.mark.parametrize("topics", [20, 200])
@pytest.mark.parametrize(("what", "leader", "epoch"), [("epoch", 0, 77), ("leader", 1, 78)])
def test_a_changed_state_makes_so_many_calls(topics: int, what: str, leader: int, epoch: int) -> None:
    """Counted as what ten of a batch add to one: a batch has a cost of its own."""
    state = _loaded(topics)
    one = _state(3, 5, leader=leader, epoch=epoch)
    ten = one.copy()
    for topic in range(4, 14):
        ten |= _state(topic, 5, leader=leader, epoch=epoch)
    _hold((_cost(state, ten) - _cost(state, one)) / 10, "change", what)


@pytest.mark.parametrize("topics", [20, 200])
def test_a_committed_offset_makes_so_many_calls(topics: int) -> None:
    state = _loaded(topics)
    path = f"/consumers/group-0001/offsets/{tree.topic_name(1)}"
    one: small.Tree = {f"{path}/0": small.znode("5000")}
    ten = one | {f"{path}/{part}": small.znode("5000") for part in range(1, 11)}
    _hold((_cost(state, ten) - _cost(state, one)) / 10, "change", "offset")


def test_a_broker_that_goes_makes_so_many_calls_a_topic() -> None:
    state = _loaded(200)
    held = sum(3 in numbers.brokers for numbers in state.summaries.values())
    _hold(_cost(state, small.gone("/brokers/ids/3")) / held, "change", "broker")
