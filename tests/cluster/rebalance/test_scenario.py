from __future__ import annotations

import pytest

from zkdash.cluster.rebalance import scenario, whatif
from zkdash.cluster.rebalance.scenario import Scenario
from zkdash.kafka.assignment.demand import Demand
from zkdash.kafka.assignment.rules import Rule

GROUP = "g"
ONE, TWO = "g_a-1-0000aaaa", "g_b-1-0000bbbb"
DEMAND = Demand({ONE: {"t": 1}, TWO: {"t": 1}}, {"t": ("0", "1", "2", "3")})


def _after(asked: Scenario) -> dict[str, int]:
    after = scenario.apply(asked, GROUP, DEMAND)
    assert isinstance(after, Demand)
    return dict(scenario.loads(whatif.ask(DEMAND, after, Rule.RANGE).after))


@pytest.mark.parametrize(
    ("asked", "loads"),
    [
        (Scenario(), {ONE: 2, TWO: 2}),
        (Scenario(remove=(TWO,)), {ONE: 4}),
        (Scenario(remove=("nobody",)), {ONE: 2, TWO: 2}),
        (Scenario(threads=4), {ONE: 4}),
        (Scenario(topic="t", partitions=7), {ONE: 4, TWO: 3}),
        (Scenario(topic="t", partitions=2), {ONE: 2, TWO: 2}),
        (Scenario(topic="other", partitions=9), {ONE: 2, TWO: 2}),
        (
            Scenario(add=2, host="aa"),
            {ONE: 1, scenario.new_member(GROUP, "aa", 0): 1, scenario.new_member(GROUP, "aa", 1): 1, TWO: 1},
        ),
    ],
    ids=repr,
)
def test_each_change_is_made_on_what_the_group_asks_for(asked: Scenario, loads: dict[str, int]) -> None:
    assert _after(asked) == loads


def test_a_group_without_members_has_none_to_copy() -> None:
    assert scenario.apply(Scenario(add=1), GROUP, Demand({}, {})) == (
        "The group has no member that a new one could be like."
    )


def test_what_is_too_much_to_compute_is_refused() -> None:
    wide = Demand({ONE: {f"t{number}": 1 for number in range(600)}}, {})
    refused = scenario.apply(Scenario(threads=200), GROUP, wide)
    assert refused == "That is more than 100000 threads by topic, which is not computed here."
