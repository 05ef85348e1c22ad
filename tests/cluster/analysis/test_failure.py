"""What happens when brokers stop: each answer worked out by hand, as Kafka's controller would decide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from bench import tree
from tests import recorded
from tests.cluster import small
from tests.narrowing import sure
from zkdash.cluster.analysis import failure
from zkdash.cluster.analysis.failure import Default, Failure, Fate
from zkdash.cluster.model import summary
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Partition, Topic
from zkdash.cluster.reducer import advance
from zkdash.kafka.consumers import coordinators
from zkdash.kafka.values import PartitionState
from zkdash.znode import Batch

BROKERS = [small.broker(number, rack="ab"[number % 2]) for number in (1, 2, 3)]


def _of(state: ClusterState, *stopped: int, most: int = 100, groups: Iterable[str] = ()) -> Failure:
    return failure.of(state, stopped, most=most, groups=groups)


def _losses(found: Failure) -> dict[tuple[str, int], tuple[Fate, int | None, tuple[int, ...]]]:
    return {(one.topic, one.partition): (one.fate, one.leader_after, one.isr_after) for one in found.losses}


def test_the_first_replica_of_the_assignment_in_sync_leads_next() -> None:
    lists = {0: [1, 2, 3], 1: [1, 3, 2], 2: [2, 1, 3], 3: [1, 2, 3]}
    topic = small.topic("t", lists) | small.state("t", 3, 1, [3, 1])
    found = _of(small.built(*BROKERS, topic), 1)
    assert _losses(found) == {
        ("t", 0): (Fate.LED_ANEW, 2, (2, 3)),
        ("t", 1): (Fate.LED_ANEW, 3, (3, 2)),
        ("t", 2): (Fate.SHRINKS, 2, (2, 3)),
        ("t", 3): (Fate.LED_ANEW, 3, (3,)),  # 2 stands before it in the assignment and is not in sync
    }
    assert (found.led_anew, found.offline, found.under_replicated) == (3, 0, 3)
    assert found.leaders == {1: (3, 0), 2: (1, 2), 3: (0, 2)}
    assert found.is_safe is True


def test_without_another_replica_in_sync_a_partition_goes_offline() -> None:
    topic = small.topic("t", {0: [1], 1: [1, 2], 2: [1, 2], 3: [2, 3]})
    topic |= small.state("t", 1, 1, [1]) | small.state("t", 2, 2, [2])
    found = _of(small.built(*BROKERS, topic), 1)
    assert _losses(found) == {("t", 0): (Fate.OFFLINE, None, ()), ("t", 1): (Fate.OFFLINE, None, ())}
    assert (found.offline, found.affected, found.is_safe) == (2, 2, False)


def test_a_replica_in_sync_that_is_not_registered_is_no_help() -> None:
    state = small.built(small.broker(1), small.broker(3), small.topic("t", {0: [1, 2, 3], 1: [1, 2]}))
    assert _losses(_of(state, 1)) == {
        ("t", 0): (Fate.LED_ANEW, 3, (3,)),
        ("t", 1): (Fate.OFFLINE, None, ()),
    }


def test_an_unclean_election_loses_messages_where_the_topic_allows_it() -> None:
    topic = small.topic("t", {0: [1, 2, 3]}) | small.state("t", 0, 1, [1])
    config = {"unclean.leader.election.enable": "true"}
    found = _of(small.built(*BROKERS, topic, small.config("t", **config)), 1)
    assert _losses(found) == {("t", 0): (Fate.UNCLEAN, 2, (2,))}
    assert (found.unclean, found.led_anew, found.offline, found.is_safe) == (1, 0, 0, False)


def test_a_topic_drops_below_its_own_min_isr() -> None:
    lists = {0: [1, 2], 1: [2, 1], 2: [2, 3], 3: [2, 1]}
    topic = small.topic("t", lists) | small.state("t", 3, 2, [2])
    found = _of(small.built(*BROKERS, topic, small.config("t", **{"min.insync.replicas": "2"})), 1)
    assert _losses(found) == {
        ("t", 0): (Fate.BELOW_MIN, 2, (2,)),
        ("t", 1): (Fate.BELOW_MIN, 2, (2,)),
    }
    assert (found.below_min, found.led_anew, found.lone, found.is_safe) == (2, 1, 0, False)
    assert (found.losses[0].min_isr, found.losses[0].is_assumed) == (2, False)


def test_a_dead_broker_in_the_isr_keeps_no_topic_above_its_min_isr() -> None:
    topic = small.topic("t", {0: [1, 2, 9]}) | small.config("t", **{"min.insync.replicas": "3"})
    found = _of(small.built(*BROKERS, topic), 1)
    assert _losses(found) == {("t", 0): (Fate.LED_ANEW, 2, (2,))}  # below it already


def test_the_default_min_isr_is_that_of_the_brokers_where_zookeeper_has_it_and_else_assumed() -> None:
    topic = small.topic("t", {0: [1, 2]})
    assumed = _of(small.built(*BROKERS, topic), 1)
    assert (assumed.default, assumed.lone, assumed.is_safe) == (Default(1, is_assumed=True), 1, True)
    settings = {"/config/brokers/<default>": small.json_(version=1, config={"min.insync.replicas": "2"})}
    known = _of(small.built(*BROKERS, topic, settings), 1)
    assert (known.default, known.below_min, known.lone) == (Default(2, is_assumed=False), 1, 0)


def test_several_brokers_stop_at_once() -> None:
    topic = small.topic("t", {0: [1, 2, 3], 1: [1, 2], 2: [3, 2]})
    state = small.built(*BROKERS, topic)
    found = _of(state, 1, 2)
    assert _losses(found) == {
        ("t", 0): (Fate.LED_ANEW, 3, (3,)),
        ("t", 1): (Fate.OFFLINE, None, ()),
        ("t", 2): (Fate.SHRINKS, 3, (3,)),
    }
    assert failure.in_rack(state, "b") == {1, 3}
    assert failure.in_rack(state, "c") == frozenset()


def test_what_is_broken_already_is_not_held_against_who_stops() -> None:
    topic = small.topic("t", {0: [1, 2], 1: [2, 1], 2: [1, 2]})
    topic |= small.state("t", 0, -1, [1]) | small.state("t", 1, 9, [9, 1])
    found = _of(
        small.built(
            *BROKERS, topic, small.topic("gone", {0: [1]}), {"/admin/delete_topics/gone": small.znode(None)}
        ),
        1,
    )
    assert _losses(found) == {("t", 2): (Fate.LED_ANEW, 2, (2,))}
    assert _of(small.built(small.broker(1), topic), 2).affected == 0
    assert _of(small.built(small.broker(1), topic), 2).absent == {2}


def test_where_a_state_cannot_be_read_nobody_can_tell() -> None:
    topic = small.topic("t", {0: [1, 2], 1: [2, 3]})
    topic["/brokers/topics/t/partitions/0/state"] = small.znode("{")
    state = small.built(*BROKERS, topic)
    assert (_of(state, 1).unknown, _of(state, 1).is_safe) == (1, None)
    assert _of(state, 3).is_safe is True


def test_once_kraft_owns_the_metadata_nobody_can_tell() -> None:
    owned = small.json_(version=2, brokerid=3000, timestamp="1", kraftControllerEpoch=1)
    found = _of(small.built(*BROKERS, small.topic("t", {0: [1]}), {"/controller": owned}), 1)
    assert (found.kraft, found.offline, found.is_safe) == (3000, 1, None)


def test_partitions_of_07_are_unreachable() -> None:
    tree_ = {"/brokers/ids/1": small.znode("h-1:h:1"), "/brokers/topics/t": small.znode(None)}
    tree_ |= {"/brokers/topics/t/1": small.znode("3"), "/brokers/topics/t/2": small.znode("4")}
    found = _of(small.built(tree_), 1)
    assert (found.unreachable_07, found.is_safe) == (3, False)


def test_groups_follow_their_partition_of_the_offsets_topic_and_the_controller_moves() -> None:
    offsets = small.topic("__consumer_offsets", {0: [1, 2], 1: [2, 1], 2: [1], 3: [3, 1]})
    names = [f"g{number}" for number in range(20)]
    found = _of(small.built(*BROKERS, offsets, small.controller(1)), 1, groups=names)
    assert found.coordinators == {0: 2, 2: None}
    assert found.groups == tuple(
        sorted(name for name in names if coordinators.partition_of(name, 4) in {0, 2})
    )
    assert 0 < len(found.groups) < len(names)
    assert found.moves_controller is True
    assert _of(small.built(*BROKERS, offsets, small.controller(1)), 3, groups=names).moves_controller is False


def test_the_worst_are_kept_and_all_are_counted() -> None:
    topic = small.topic("a", {number: [2, 1] for number in range(5)}) | small.topic("b", {0: [1], 1: [1, 2]})
    found = _of(small.built(*BROKERS, topic), 1, most=3)
    assert [(one.topic, one.partition) for one in found.losses] == [("b", 0), ("b", 1), ("a", 0)]
    assert (found.affected, found.offline, found.under_replicated) == (7, 1, 6)


def _as_the_controller_decides(state: ClusterState, stopped: int) -> dict[tuple[str, int], int | None]:
    """Leaders of the partitions whose live leader stops, straight from the definition."""
    live = set(state.brokers) - {stopped}
    led: dict[tuple[str, int], int | None] = {}
    for name, topic in state.topics.items():
        for one in () if topic.deleting else topic.partitions:
            if getattr(one.state, "leader", None) == stopped and stopped in state.brokers and one.replicas:
                able = [b for b in one.replicas if b in live and b in sure(PartitionState, one.state).isr]
                led[name, one.id] = able[0] if able else None
    return led


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_on_recorded_trees_leaders_go_where_the_definition_says(name: str) -> None:
    state = small.built(recorded.load(name))
    for stopped in state.brokers:
        found = _of(state, stopped, most=10_000)
        ours = {(o.topic, o.partition): o.leader_after for o in found.losses if o.leader == stopped}
        assert ours == _as_the_controller_decides(state, stopped)
        assert sum(then for _, then in found.leaders.values()) + found.offline == sum(
            now for now, _ in found.leaders.values()
        )


@pytest.mark.parametrize("topics", [50, 500])
def test_it_costs_the_topics_that_the_broker_holds(topics: int, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = dict(tree.tree(topics=topics, partitions=1, groups=0))
    state, _ = advance.advance(ClusterState(), Batch(nodes, len(nodes), whole=True))
    state, _ = small.step(state, small.broker(99), small.topic("own", {0: [99]}))
    looked_at: list[str] = []
    real = summary.assigned

    def counting(one: Topic) -> Sequence[Partition]:
        looked_at.append(one.name)
        return real(one)

    monkeypatch.setattr(summary, "assigned", counting)
    assert _of(state, 99).offline == 1
    assert looked_at == ["own"]
