"""How evenly a topic lies on its brokers: each number counted by hand."""

from __future__ import annotations

import pytest

from tests import recorded
from tests.cluster import small
from tests.narrowing import known
from zkdash.cluster.analysis import skew
from zkdash.cluster.analysis.skew import TopicSkew
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables.brokers import rows as broker_rows
from zkdash.kafka.values import Assignment


def _skew(state: ClusterState, name: str) -> TopicSkew | None:
    return skew.of_topic(state.topics[name], state.brokers)


def test_an_even_topic_is_spread_and_not_skewed() -> None:
    brokers = [small.broker(number) for number in (1, 2, 3)]
    state = small.built(*brokers, small.topic("t", {0: [1, 2], 1: [2, 3], 2: [3, 1]}))
    found = known(_skew(state, "t"))
    assert (found.spread_percent, found.skew_percent) == (100, 0)
    assert (found.leader_skew_percent, found.preferred_percent) == (0, 100)
    assert (found.even_replicas, found.even_leaders) == (2, 1)


def test_a_broker_with_more_than_the_even_share_skews_the_topic() -> None:
    brokers = [small.broker(number) for number in (1, 2, 3, 4)]
    lists = {0: [1, 2], 1: [1, 2], 2: [1, 3], 3: [1, 3]}
    state = small.built(*brokers, small.topic("t", lists) | small.state("t", 3, 3, [1, 3]))
    found = known(_skew(state, "t"))
    # 8 replicas on 3 brokers: at most 3, broker 1 holds 4. 4 partitions: at most 2 leaders, it leads 3.
    assert (found.even_replicas, found.skewed, found.skew_percent) == (3, (1,), 33.3)
    assert (found.even_leaders, found.leader_skewed, found.leader_skew_percent) == (2, (1,), 33.3)
    assert (found.spread_percent, found.preferred_percent) == (75, 75)


def test_a_replica_on_a_broker_that_is_gone_is_the_topics_and_not_the_clusters() -> None:
    state = small.built(small.broker(1), small.topic("t", {0: [1, 9], 1: [9, 1]}))
    found = known(_skew(state, "t"))
    assert (found.live, found.holding, found.spread_percent) == (1, 1, 100)
    assert dict(found.replicas) == {1: 2, 9: 2}


def test_a_partition_that_moves_or_has_no_leader_is_not_asked_for_its_preferred_one() -> None:
    state = small.built(
        small.broker(1),
        small.broker(2),
        small.topic("t", {0: [1, 2], 1: [1, 2], 2: [2, 1]}) | small.state("t", 2, -1, []),
        small.reassignment(("t", 0, [2, 1])),
    )
    found = known(_skew(state, "t"))
    assert (found.partitions, found.preferred, found.preferable) == (3, 1, 1)


def test_what_nobody_is_assigned_to_has_no_skew() -> None:
    state = small.built(
        {
            "/brokers/topics/t": small.znode("{"),
            "/brokers/topics/u": small.znode(None),
            "/brokers/topics/u/1": small.znode("2"),
        }
    )
    assert _skew(state, "t") is None
    assert _skew(state, "u") is None


def test_a_broker_is_compared_with_the_registered_ones() -> None:
    brokers = [small.broker(number) for number in (1, 2, 3)]
    state = small.built(*brokers, small.topic("t", {0: [1, 2], 1: [1, 2], 2: [1, 9], 3: [9, 1]}))
    means = skew.means(state)
    assert (means.brokers, means.replicas, means.leaders) == (3, 6, 3)
    rows = {number: broker_rows.broker(state, number) for number in (1, 2, 3, 9)}
    told = {n: (row.replicas_over_mean_percent, row.leaders_over_mean_percent) for n, row in rows.items()}
    assert told == {1: (100, 200), 2: (0, -100), 3: (-100, -100), 9: (None, None)}
    assert [row.preferred_led for row in rows.values()] == [3, 0, 0, 1]
    nothing = broker_rows.broker(small.built(small.broker(1)), 1)
    assert (nothing.replicas_over_mean_percent, nothing.leaders_over_mean_percent) == (None, None)


@pytest.mark.parametrize("name", recorded.TREES)
def test_on_recorded_trees_no_number_is_out_of_bounds(name: str) -> None:
    state = small.built(recorded.load(name))
    for topic in state.topics.values():
        found = skew.of_topic(topic, state.brokers)
        if found is None:
            assert not isinstance(topic.assignment, Assignment) or not any(
                topic.assignment.partitions.values()
            )
            continue
        percents = (
            found.skew_percent,
            found.leader_skew_percent,
            found.spread_percent,
            found.preferred_percent,
        )
        assert all(0 <= percent <= 100 for percent in percents if percent is not None)
        summary = state.summaries[topic.name]
        assert (found.preferred, found.preferable) == (summary.preferred, summary.preferable)
        assert len(found.skewed) < len(found.replicas)
