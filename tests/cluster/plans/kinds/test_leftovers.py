"""Clearing what controllers get stuck on: what has to be said about it beforehand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cluster.plans import worlds
from tests.cluster.plans.cells import ELECT, REASSIGN
from zkdash.cluster.plans import intents

UNKNOWN = {"version": 1, "partitions": [{"topic": "x", "partition": 0}]}


@pytest.mark.parametrize("era", ["0.8.2.2", "0.10.2.2", "1.1.1"])
def test_an_old_controller_that_remembers_an_election_of_an_unknown_topic_must_be_restarted(era: str) -> None:
    tree = worlds.world(era)
    tree.put(ELECT, UNKNOWN)
    (warning,) = tree.plan(intents.ClearStuck(ELECT)).warnings
    assert warning.startswith("Before Kafka 1.0, broker 1 (the controller) remembers the request")


@pytest.mark.parametrize(("era", "data"), [("3.9.1", UNKNOWN), ("3.9.1", b"{"), ("0.8.2.2", b"{")])
def test_nothing_is_said_of_newer_controllers_or_of_0_8_with_what_is_no_json(era: str, data: bytes) -> None:
    tree = worlds.world(era)
    tree.put(ELECT, data)
    assert tree.plan(intents.ClearStuck(ELECT)).warnings == ()


def test_a_controller_of_0_10_that_resigns_over_an_election_that_is_no_json_is_warned_of() -> None:
    tree = worlds.world("0.10.2.2")
    tree.put(ELECT, b"{")
    plan = tree.plan(intents.ClearStuck(ELECT))
    assert plan.refusals == ()
    (warning,) = plan.warnings
    assert warning.startswith(
        "A controller of Kafka 0.10 that takes office while this znode lies there resigns"
    )
    assert f"delete {ELECT} by hand" in warning


@pytest.mark.parametrize("change", [None, lambda tree: tree.put(REASSIGN, b'{"version":1,"partitions":[]}')])
def test_throttles_that_are_not_there_are_nothing_to_do_unless_more_is_in_the_way(
    change: Callable[[worlds.Tree], None] | None,
) -> None:
    tree = worlds.world("1.1.1")
    if change:
        change(tree)
    plan = tree.plan(intents.ClearThrottles())
    assert "No throttle is set." in plan.refusals
    assert plan.is_idle == (change is None)


def test_an_election_is_nothing_to_do_where_all_are_led_well_and_impossible_where_none_can_be() -> None:
    tree = worlds.world("1.1.1")
    assert not tree.plan(intents.ElectPreferred()).is_idle
    led = {"controller_epoch": 1, "leader": 2, "version": 1, "leader_epoch": 1, "isr": [2, 3]}
    tree.put("/brokers/topics/t/partitions/0/state", led)
    tree.put("/brokers/topics/t/partitions/1/state", led)
    late = tree.plan(intents.ElectPreferred())
    assert late.refusals == ("No election would succeed now.", "t-0 is left out: broker 1 is not in sync.")
    assert not late.is_idle
    tree.put("/brokers/topics/t/partitions/0/state", led | {"leader": 1, "isr": [1, 2]})
    idle = tree.plan(intents.ElectPreferred())
    assert idle.refusals == (
        "No election would change anything: each partition is led by its preferred replica.",
    )
    assert idle.is_idle
