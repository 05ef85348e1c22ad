"""The trees of real clusters: their counts are those of the raw files, their problems those of the lists."""

from __future__ import annotations

import pytest

from tests import recorded
from tests.cluster import agreement, small
from tests.fixtures import hostile, problems
from zkdash.cluster.tables import topic_queries
from zkdash.cluster.tables.topic_queries import Query
from zkdash.kafka.values import Layout


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_a_recorded_cluster_counts_as_its_file_does(name: str) -> None:
    state = small.built(recorded.load(name))
    counts = recorded.count(name)
    assert len(state.brokers) == counts.brokers
    assert state.counts.topics == len(state.topics) == counts.topics
    assert state.counts.partitions == counts.partitions
    assert state.counts.groups == len(state.groups) == counts.groups
    assert sum(len(group.members) for group in state.groups.values()) == counts.members
    assert state.counts.owned == counts.owners
    offsets = sum(len(parts) for group in state.groups.values() for parts in group.offsets.values())
    assert offsets == counts.offsets


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_the_problems_of_a_recorded_cluster_are_the_reviewed_ones(name: str) -> None:
    state = small.built(recorded.load(name))
    found = {path: problem.reason for path, problem in state.problems.items()}
    assert found == problems.PROBLEMS.get(name, {})


def test_the_problems_of_the_hostile_tree_are_those_listed_beside_it() -> None:
    state = small.built(hostile.admitted())
    assert {path: problem.reason for path, problem in state.problems.items()} == hostile.problems()
    healthy = state.summaries["healthy"]
    assert (healthy.partitions, healthy.unparsable, healthy.under_replicated, healthy.overrides) == (
        2,
        0,
        0,
        1,
    )


def test_no_problem_shows_a_secret() -> None:
    state = small.built(hostile.admitted())
    assert not [path for path, problem in state.problems.items() if hostile.CANARY.encode() in problem.head]


@pytest.mark.parametrize("name", recorded.TREES)
def test_status_agrees_with_itself_in_every_tree(name: str) -> None:
    agreement.check(small.built(recorded.load(name)))


@pytest.mark.parametrize("name", recorded.TREES)
def test_every_topic_of_every_tree_has_its_rows(name: str) -> None:
    state = small.built(recorded.load(name))
    shown = topic_queries.select_topics(state, Query(size=1000)).rows
    assert {row.summary.name for row in shown} == set(state.topics)
    for topic in state.topics.values():
        assert topic_queries.select_partitions(state, topic, Query()).total == len(topic.partitions)
        assert topic_queries.select_counts(state, topic, Query()).total == len(topic.counts)


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_the_layout_is_that_of_the_release(name: str) -> None:
    expected = Layout.V07 if name.startswith("0.7") else Layout.V08
    assert small.built(recorded.load(name)).layout is expected


def test_a_broker_killed_on_a_real_cluster_shows_in_its_topics() -> None:
    state = small.built(recorded.load("3.9.1-broker3-killed"))
    assert sorted(state.brokers) == [1, 2]
    assert state.counts.offline == 3
    assert state.summaries["clicks"].words == "2 offline, 5 with one replica"


def test_a_dead_controllers_partitions_keep_a_dead_leader() -> None:
    state = small.built(recorded.load("0.8.2.2-brokers2and3-killed"))
    assert state.counts.leader_dead > 0
    rows = topic_queries.select_partitions(state, state.topics["audit.log"], Query()).rows
    assert [row.leader_live for row in rows if row.leader == 2] == [False]


def test_a_reassignment_of_3x_tools_is_told_from_the_assignment() -> None:
    state = small.built(recorded.load("3.9.1-reassign-inprogress"))
    assert state.reassignment is None
    assert state.summaries["orders"].words == "2 moving"
