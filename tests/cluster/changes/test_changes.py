"""What is said to have changed: each case is the tree before, the batch, and the sentences."""

from __future__ import annotations

import pytest

from bench import tree as trees
from tests.cluster import small
from tests.narrowing import sure
from zkdash.cluster import changes
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.znode import Batch, Unreadable, Znode

NOW = 1_800_000_000_000
STATE = "/brokers/topics/orders/partitions/3/state"
REPLICAS = {number: [1, 2, 3] for number in range(4)}
CLUSTER = (
    small.broker(1)
    | small.broker(2)
    | small.controller(1)
    | {"/controller_epoch": small.znode("4")}
    | small.topic("orders", REPLICAS)
    | small.group("g", {"g_host-1": ["orders"]}, {"orders": [0]})
)
MARK = {"/admin/delete_topics/orders": small.znode(None)}
MOVING = {"adding_replicas": {"0": [3]}, "removing_replicas": {"0": [1]}}

CASES = [
    (
        small.state("orders", 3, 1, [1, 3]),
        [("partition orders-3 lost replica 2 from ISR", "1, 2, 3", "1, 3")],
    ),
    (small.state("orders", 3, 1, [1]), [("partition orders-3 lost replicas 2, 3 from ISR", "1, 2, 3", "1")]),
    (
        small.state("orders", 3, 2, [2, 3]),
        [
            ("partition orders-3 leader moved from broker 1 to 2", "1", "2"),
            ("partition orders-3 lost replica 1 from ISR", "1, 2, 3", "2, 3"),
        ],
    ),
    (small.state("orders", 3, -1, [1, 2, 3]), [("partition orders-3 has no leader", "1", None)]),
    (small.state("orders", 3, 1, [1, 2, 3], leader_epoch=9), []),
    ({STATE: small.znode("{")}, [(f"{STATE} does not parse", None, "not JSON: cut short")]),
    ({STATE: Unreadable("no right to read it")}, []),
    (small.gone("/brokers/ids/2"), [("broker 2 went away", "PLAINTEXT://host-2:9092", None)]),
    (small.broker(5), [("broker 5 registered", None, "PLAINTEXT://host-5:9092")]),
    (
        small.broker(2),
        [("broker 2 registered again", "PLAINTEXT://host-2:9092", "PLAINTEXT://host-2:9092")],
    ),
    (small.controller(2), [("the controller moved to broker 2", "1", "2")]),
    (small.gone("/controller"), [("the controller is gone", "1", None)]),
    ({"/controller_epoch": small.znode("5")}, [("the controller epoch changed", "4", "5")]),
    ({"/cluster/id": small.json_(version="1", id="x")}, [("the cluster id changed", None, "x")]),
    (small.topic("new", {0: [1], 1: [2]}), [("topic new was created", None, "2 partitions")]),
    (
        small.topic("new", {0: [1]}) | small.config("new", a="1"),
        [("topic new was created", None, "1 partition")],
    ),
    (
        small.gone(*small.topic("orders", REPLICAS)),
        [("topic orders was deleted", "4 partitions", None)],
    ),
    (
        small.topic("orders", {0: [1]}),
        [("topic orders was deleted and created again", "4 partitions", "1 partition")],
    ),
    (MARK, [("topic orders was marked for deletion", None, None)]),
    (
        small.config("orders", a="1", b="2"),
        [("the config of topic orders changed", None, "a=1, b=2")],
    ),
    (small.reassignment(("orders", 0, [2, 3])), [("a reassignment began", None, "1 partition")]),
    (
        {"/admin/preferred_replica_election": small.json_(version=1, partitions=[])},
        [("an election of preferred leaders was asked for", None, "0 partitions")],
    ),
    (
        small.group("h", {"h_host-1": ["orders"]}),
        [
            ("group h was created", None, None),
            ("consumer h_host-1 joined group h", None, "orders"),
        ],
    ),
    (small.gone("/consumers/g/ids/g_host-1"), [("consumer g_host-1 left group g", "orders", None)]),
    ({"/consumers/g/offsets/orders/0": small.znode("7")}, []),
    ({"/consumers/g/owners/orders/1": small.znode("g_host-1-0")}, []),
    ({"/brokers/topics/old/1": small.znode("2")}, []),
    ({"/somewhere/else": small.znode("x")}, []),
    (
        {"/brokers/ids/x": small.znode("x")},
        [("/brokers/ids/x does not parse", None, 'the name "x" is not a broker id (a number from 0)')],
    ),
]


def _diff(state: ClusterState, *parts: small.Tree) -> tuple[changes.Change, ...]:
    batch = Batch({path: read for part in parts for path, read in part.items()}, 10**6)
    after, _ = advance.advance(state, batch)
    return changes.diff(state, after, batch, now_ms=NOW)


@pytest.mark.parametrize(("batch", "said"), CASES)
def test_what_a_batch_changed_is_said(
    batch: small.Tree, said: list[tuple[str, str | None, str | None]]
) -> None:
    found = _diff(small.built(CLUSTER), batch)
    assert sorted(((one.what, one.before, one.after) for one in found), key=str) == sorted(said, key=str)
    assert {one.path for one in found} <= {*batch}


def _again(name: str, partitions: dict[int, list[int]], **more: object) -> small.Tree:
    """The assignment of a topic that has been there all the time, written anew."""
    born = sure(Znode, small.built(CLUSTER).topics["orders"].znode).czxid
    (path, znode), *_ = small.assignment(name, partitions, **more).items()
    return {path: small.znode(sure(Znode, znode).data, born=born)}


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([_again("orders", REPLICAS | {4: [1, 2]})], [("topic orders has more partitions", "4", "5")]),
        (
            [_again("orders", REPLICAS | {0: [1, 2]})],
            [("topic orders has other replicas", "0: 1, 2, 3", "0: 1, 2")],
        ),
        (
            [_again("orders", REPLICAS | {0: [3, 1, 2]}, **MOVING)],
            [("1 partition of topic orders began to move", "0: 1, 2, 3", "0: 3, 1, 2")],
        ),
        (
            [_again("orders", REPLICAS | {0: [3, 1, 2]}, **MOVING), _again("orders", REPLICAS | {0: [3, 2]})],
            [("1 partition of topic orders ended moving", "0: 3, 1, 2", "0: 3, 2")],
        ),
        (
            [small.state("orders", 3, -1, []), small.state("orders", 3, 2, [2])],
            [
                ("partition orders-3 is led by broker 2 again", None, "2"),
                ("partition orders-3 has replica 2 back in ISR", "", "2"),
            ],
        ),
        (
            [small.reassignment(("orders", 0, [2])), small.gone("/admin/reassign_partitions")],
            [("the reassignment ended", "1 partition", None)],
        ),
        ([MARK, small.gone(*MARK)], [("the deletion mark of topic orders is gone", None, None)]),
        (
            [{STATE: small.znode("{")}, small.state("orders", 3, 1, [1, 2, 3])],
            [(f"{STATE} is no problem any more", "not JSON: cut short", None)],
        ),
        ([small.gone("/controller"), small.controller(2)], [("broker 2 became the controller", None, "2")]),
    ],
)
def test_the_last_of_several_batches_is_said_alone(
    steps: list[small.Tree], said: list[tuple[str, str | None, str | None]]
) -> None:
    state = small.built(CLUSTER)
    for step in steps[:-1]:
        state, _ = small.step(state, step)
    found = _diff(state, steps[-1])
    assert sorted(((one.what, one.before, one.after) for one in found), key=str) == sorted(said, key=str)


def test_a_change_has_the_servers_time_and_a_deletion_the_watchers() -> None:
    state = small.built(CLUSTER)
    wrote = small.state("orders", 3, 1, [1])
    (change,) = _diff(state, wrote)
    state_ = sure(Znode, wrote[STATE])
    assert (change.when, change.zxid, change.area) == (state_.mtime, state_.mzxid, "topics")
    (change,) = _diff(state, small.gone("/brokers/ids/1"))
    assert (change.when, change.zxid, change.area) == (NOW, None, "brokers")


def test_the_newest_comes_first() -> None:
    found = _diff(small.built(CLUSTER), small.controller(2), small.broker(7), small.topic("x", {0: [1]}))
    assert [one.when for one in found] == sorted((one.when for one in found), reverse=True)
    assert len(found) == 3


def test_the_first_load_is_no_change() -> None:
    assert _diff(ClusterState(), CLUSTER) == ()


def test_a_catch_up_says_what_differs() -> None:
    state = small.built(CLUSTER)
    batch = Batch(small.gone("/brokers/ids/1"), 10**6, whole=True)
    after, _ = advance.advance(state, batch)
    assert [one.what for one in changes.diff(state, after, batch, now_ms=NOW)] == ["broker 1 went away"]


def test_a_flood_of_states_is_one_sentence() -> None:
    state, _ = advance.advance(ClusterState(), Batch(dict(trees.tree(topics=30, groups=0)), 1, whole=True))
    flood: small.Tree = {
        f"/brokers/topics/{trees.topic_name(topic)}/partitions/{partition}/state": small.znode(
            trees.state(-1, [])
        )
        for topic in range(30)
        for partition in range(20)
    }
    found = _diff(state, flood, small.gone("/brokers/ids/3"))
    assert sorted(one.what for one in found) == ["broker 3 went away", "the states of 600 partitions changed"]


def test_a_07_brokers_count_that_changes_is_said() -> None:
    root = "/brokers/topics/old"
    state = small.built({root: small.znode(None), f"{root}/1": small.znode("2")})
    (change,) = _diff(state, {f"{root}/1": small.znode("4")})
    assert (change.what, change.before, change.after) == (
        "broker 1 holds another number of partitions of topic old",
        "2",
        "4",
    )
