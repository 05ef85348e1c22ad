"""What each broker carries: by hand, and on recorded trees against a count of the raw file."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bench import tree
from tests import recorded
from tests.cluster import small
from zkdash.cluster.evaluation import partitions as judging
from zkdash.cluster.evaluation.context import Context, Part, Shape
from zkdash.cluster.model.brokers.load import Load
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.topics import Partition, Topic

STATE = small.built(
    small.broker(1),
    small.broker(2),
    small.topic("t", {0: [1, 2], 1: [2, 1], 2: [2, 9], 3: [1, 2]})
    | small.state("t", 1, 1, [1])
    | small.state("t", 3, -1, []),
    small.topic("going", {0: [1, 9]}) | {"/admin/delete_topics/going": small.znode(None)},
    small.topic("torn", {0: [2, 1]}) | {"/brokers/topics/torn/partitions/0/state": small.znode("{")},
)


def _severities(**counts: int) -> tuple[int, ...]:
    return tuple(counts.get(severity.value, 0) for severity in Severity)


def test_a_broker_carries_what_it_leads_and_holds() -> None:
    assert STATE.loads[1] == Load(
        leaders=3,
        replicas=5,
        preferred=2,
        unled=1,
        under_replicated=1,
        severities=_severities(critical=1, warning=1, unknown=1, info=1, ok=1),
    )
    assert STATE.loads[2].preferred == 2
    assert (STATE.loads[2].unled, STATE.loads[2].under_replicated) == (1, 2)


def test_a_broker_that_is_not_registered_carries_on() -> None:
    assert 9 not in STATE.brokers
    assert STATE.loads[9] == Load(replicas=2, severities=_severities(warning=1, info=1))


def test_who_carries_nothing_any_more_is_not_there() -> None:
    after, _ = small.step(STATE, small.topic("t", {0: [1, 2], 1: [2, 1], 2: [2, 1], 3: [1, 2]}))
    assert after.loads[9] == Load(replicas=1, severities=_severities(info=1))
    gone = list(small.topic("going", {0: [1, 9]}))
    assert 9 not in small.step(after, small.gone(*gone))[0].loads


def test_a_leader_outside_the_assignment_leads_without_holding() -> None:
    state = small.built(small.broker(5), small.topic("t", {0: [1]}) | small.state("t", 0, 5, [5]))
    assert state.loads[5] == Load(leaders=1, severities=_severities(critical=1))
    assert state.loads[1] == Load(replicas=1, preferred=1, unled=1, severities=_severities(critical=1))


def test_nobody_is_asked_to_lead_what_moves() -> None:
    moving = small.topic("t", {0: [1, 2], 1: [1, 2], 2: [3, 1, 2]}, adding_replicas={"2": [3]})
    moving |= small.state("t", 0, 2, [1, 2]) | small.state("t", 1, 2, [1, 2]) | small.state("t", 2, 1, [1, 2])
    asked = small.reassignment(("t", 0, [2, 3]))
    brokers = [small.broker(number) for number in (1, 2, 3)]
    state = small.built(*brokers, moving, asked)
    assert (state.loads[1].preferred, state.loads[1].unled) == (1, 1)
    assert (state.loads[3].preferred, state.loads[3].unled) == (0, 0)
    done, _ = small.step(state, small.gone(*asked))
    assert (done.loads[1].preferred, done.loads[1].unled) == (2, 2)


def test_a_broker_that_goes_makes_what_it_leads_critical() -> None:
    before = small.built(small.broker(1), small.broker(2), small.topic("t", {0: [1, 2], 1: [2, 1]}))
    after, _ = small.step(before, small.gone("/brokers/ids/1"))
    assert after.loads[2].severities == _severities(critical=1, warning=1)
    back, _ = small.step(after, small.broker(1))
    assert back.loads == before.loads


def test_a_replica_that_is_assigned_twice_is_one() -> None:
    state = small.built(small.broker(1), small.assignment("t", {0: [1, 1]}), small.state("t", 0, 1, [1]))
    assert state.loads[1].replicas == 1


def test_07_brokers_carry_what_they_say() -> None:
    root = "/brokers/topics/old"
    state = small.built(
        {root: small.znode(None), f"{root}/1": small.znode("2"), f"{root}/0": small.znode("x")},
        {"/brokers/topics/older/1": small.znode("3"), "/brokers/topics/older": small.znode(None)},
    )
    assert state.loads[1] == Load(topics_07=2, partitions_07=5)
    assert state.loads[0] == Load(topics_07=1, partitions_07=0)


def test_a_changed_state_looks_at_one_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    real = judging.parts

    def counting(topic: Topic, partitions: Sequence[Partition], ground: Context) -> list[Part | Shape]:
        looked_at.append(len(partitions))
        return real(topic, partitions, ground)

    state = small.built(dict(tree.tree(topics=40, partitions=30, groups=0)))
    monkeypatch.setattr(judging, "parts", counting)
    leader, *others = tree.replicas(3, 7)
    small.step(state, small.state(tree.topic_name(3), 7, leader, others))
    # What it was and is, to see whether it differs; the topic, as it does; what it gave, to take that out.
    assert looked_at == [1, 1, 30, 1]


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_every_recorded_tree_is_carried_as_its_file_says(name: str) -> None:
    """Counted from the raw file; severities are held to the rows in test_broker_queries."""
    expected = recorded.loads(name)
    found = small.built(recorded.load(name)).loads
    fields = ("leaders", "replicas", "preferred", "unled", "partitions_07")
    assert {n: tuple(getattr(load, field) for field in fields) for n, load in found.items()} == expected


def test_nobody_but_the_right_one_is_asked_to_lead() -> None:
    assert sum(load.preferred for load in STATE.loads.values()) == 4
    assert sum(load.leaders for load in STATE.loads.values()) == 4
