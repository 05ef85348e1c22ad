"""What a batch costs follows the batch, not the cluster: counted in calls, not in time."""

from __future__ import annotations

from collections import Counter
from types import ModuleType
from typing import Any

import msgspec
import pytest

from bench import tree
from tests.cluster import small
from zkdash.cluster import checks
from zkdash.cluster.checks import observations
from zkdash.cluster.checks.families import topics as family
from zkdash.cluster.evaluation import topics
from zkdash.cluster.model import differing, summary
from zkdash.cluster.model.groups import GroupSummary
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance, assembly
from zkdash.cluster.tables import topic_queries
from zkdash.cluster.tables.groups import queries as group_queries
from zkdash.cluster.tables.groups.queries import Known
from zkdash.cluster.tables.topic_queries import Query
from zkdash.kafka.layouts import partitions
from zkdash.znode import Batch


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the costly functions are called."""
    calls: Counter[str] = Counter()

    def count(module: ModuleType, name: str) -> None:
        real = getattr(module, name)

        def counting(*arguments: Any, **named: Any) -> Any:
            calls[name] += 1
            return real(*arguments, **named)

        monkeypatch.setattr(module, name, counting)

    count(partitions, "parse_state")
    count(assembly, "assemble")
    count(topics, "judge")
    count(summary, "numbers")
    count(topic_queries, "TopicRow")
    return calls


class _Counting(dict[str, GroupSummary]):
    """Groups that count how often one is looked up."""

    looked_up = 0

    def __getitem__(self, name: str) -> GroupSummary:
        self.looked_up += 1
        return super().__getitem__(name)

    def get(self, name: str, default: object = None) -> object:  # type: ignore[override]
        self.looked_up += 1
        return super().get(name, default)


def _loaded(topics: int) -> ClusterState:
    nodes = dict(tree.tree(topics=topics, partitions=4, groups=topics // 10))
    state, _ = advance.advance(ClusterState(), Batch(nodes, len(nodes), whole=True))
    return state


def _state(topic: int, partition: int) -> small.Tree:
    path = f"/brokers/topics/{tree.topic_name(topic)}/partitions/{partition}/state"
    return {path: small.znode(tree.state(tree.replicas(topic, partition)[0], []))}


@pytest.mark.parametrize("topics", [20, 400])
def test_a_changed_state_is_parsed_alone_and_its_topic_summed_up_alone(
    counted: Counter[str], topics: int
) -> None:
    state = _loaded(topics)
    counted.clear()
    after, touched = small.step(state, _state(7, 2))
    assert counted == {"parse_state": 1, "assemble": 1, "judge": 1, "numbers": 1}
    assert touched.topics == {tree.topic_name(7)}
    rebuilt = [name for name in after.topics if after.topics[name] is not state.topics[name]]
    assert rebuilt == [tree.topic_name(7)]
    assert after.groups is state.groups
    assert after.problems is state.problems


def test_checks_that_follow_a_change_look_at_nothing_but_what_changed(
    counted: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = _loaded(40)
    for topic in range(20):
        state, _ = small.step(state, _state(topic, 0))
    seen = checks.follow(checks.Observations(), state, 100)
    others = {_state(topic, part).popitem() for topic, part in ((7, 2), (30, 0))}
    after, changed = small.step(state, dict(others), small.gone(f"/config/topics/{tree.topic_name(3)}"))
    for module, name in ((differing, "names"), (family, "_numbered")):
        monkeypatch.setattr(module, name, lambda *_, name=name: pytest.fail(f"{name} looks at all"))
    real, compared = observations._seen, list[int]()

    def comparing(*told: Any) -> Any:
        compared.append(len(told[1]))
        return real(*told)

    monkeypatch.setattr(observations, "_seen", comparing)
    seen = checks.follow(checks.put_off(seen, changed), after, 200)
    assert max(compared, default=0) <= 1  # what only adds topics up
    assert tree.topic_name(30) in seen.looked["D9"].seen
    assert len(seen.looked["D9"].seen) == 21


@pytest.mark.parametrize("topics", [20, 400])
def test_a_new_epoch_of_a_leader_evaluates_nothing(counted: Counter[str], topics: int) -> None:
    state = _loaded(topics)
    counted.clear()
    ids = tree.replicas(7, 2)
    path = f"/brokers/topics/{tree.topic_name(7)}/partitions/2/state"
    after, touched = small.step(state, {path: small.znode(tree.state(ids[0], ids, leader_epoch=999))})
    assert counted == {"parse_state": 1, "assemble": 1}
    assert touched.topics == {tree.topic_name(7)}
    assert (
        after.topics[tree.topic_name(7)].partitions[2].state
        != state.topics[tree.topic_name(7)].partitions[2].state
    )
    assert after.loads is state.loads
    assert after.blames is state.blames


def test_a_first_load_parses_every_state_once_and_sums_every_topic_up_once(counted: Counter[str]) -> None:
    _loaded(50)
    assert counted == {"parse_state": 200, "assemble": 50, "judge": 50, "numbers": 50}


def test_a_broker_that_goes_re_evaluates_only_the_topics_that_it_has_a_part_in(
    counted: Counter[str],
) -> None:
    state = _loaded(400)
    held = sum(3 in numbers.brokers for numbers in state.summaries.values())
    assert held < 400
    counted.clear()
    small.step(state, small.gone("/brokers/ids/3"))
    assert counted == {"judge": held, "numbers": held}


def test_a_commit_of_offsets_touches_no_topic_and_no_number(counted: Counter[str]) -> None:
    state = _loaded(20)
    counted.clear()
    path = f"/consumers/group-0001/offsets/{tree.topic_name(1)}/0"
    after, touched = small.step(state, {path: small.znode("99")})
    assert not counted
    assert after.topics is state.topics
    assert after.group_summaries is state.group_summaries
    assert touched.areas == {"groups"}
    assert touched.groups == {"group-0001"}


@pytest.mark.parametrize("topics", [60, 600])
def test_the_default_page_makes_no_row_that_it_does_not_show(counted: Counter[str], topics: int) -> None:
    state = _loaded(topics)
    counted.clear()
    assert len(topic_queries.select_topics(state, Query()).rows) == 50
    assert counted == {"TopicRow": 50}


@pytest.mark.parametrize("topics", [600, 6000])
def test_the_default_page_of_groups_looks_at_no_group_that_it_does_not_show(topics: int) -> None:
    state = _loaded(topics)
    summaries = _Counting(state.group_summaries)
    state = msgspec.structs.replace(state, group_summaries=summaries)
    assert len(group_queries.select_groups(Known(state), Query()).rows) == 50
    assert summaries.looked_up == 50


def test_a_change_of_status_copies_no_more_of_the_ranking_than_a_chunk() -> None:
    state = _loaded(2000)
    after, _ = small.step(state, _state(7, 2))
    shared = {id(chunk) for chunk in state.ranking.chunks} & {id(chunk) for chunk in after.ranking.chunks}
    assert len(shared) >= len(state.ranking.chunks) - 2


def test_equal_states_are_one_object() -> None:
    state = _loaded(50)
    held = [partition.state for topic in state.topics.values() for partition in topic.partitions]
    assert len({id(value) for value in held}) == len(set(held))
