"""What a plan changes, value by value."""

from __future__ import annotations

import json

import pytest

from tests.web import states
from zkdash.cluster.plans import planner
from zkdash.cluster.plans.goals import Written
from zkdash.cluster.plans.intents import AddPartitions, ChangeConfig, Intent, OffsetAt, ResetOffsets
from zkdash.cluster.plans.values import Edit, Ground, Plan, Step, Write
from zkdash.web.actions import changes, review
from zkdash.znode import Operation

TREE = states.healthy() | {
    "/consumers/g": states.znode(),
    "/consumers/g/ids": states.znode(),
    "/consumers/g/offsets/orders/0": states.znode("500"),
    "/config/changes": states.znode(),
}


def planned(intent: Intent) -> Plan:
    tree = {path: read for path, read in TREE.items() if read is not None}
    plan = planner.plan(intent, Ground(states.load(TREE), tree))
    assert not plan.refusals
    return plan


def told(plan: Plan) -> list[tuple[str, str, str, str]]:
    return [(one.thing, one.before, one.after, one.note) for one in changes.of(plan).shown]


def test_offsets_are_told_with_how_far_they_move() -> None:
    reset = ResetOffsets("g", (OffsetAt("orders", "0", 120), OffsetAt("orders", "1", 7)))
    assert told(planned(reset)) == [
        ("orders-0", "500", "120", "−380"),
        ("orders-1", "not set", "7", ""),
    ]


def test_options_are_told_in_units_and_only_those_that_change() -> None:
    changed = planned(ChangeConfig("orders", {"segment.bytes": "1073741824"}, ("retention.ms",)))
    assert told(changed) == [
        ("orders: retention.ms", "1000 (1 s)", "not set", ""),
        ("orders: segment.bytes", "not set", "1073741824 (1 GiB)", ""),
    ]


def test_only_partitions_that_are_new_are_told() -> None:
    found = told(planned(AddPartitions("payments", 4)))
    assert [(thing, before) for thing, before, _, _ in found] == [
        ("payments-2", "none"),
        ("payments-3", "none"),
    ]


def test_what_is_hidden_stays_hidden() -> None:
    data = json.dumps({"version": 1, "config": {"ssl.key.password": "hunter2", "a": "1"}}).encode()
    name = "leader.replication.throttled.rate"
    write = Write("/config/brokers/1", Operation.SET, 2, data, data, edit=Edit({name: "2048"}, ("a",)))
    found = told(Plan("clear-throttles", "throttles", (Step("Edit", (write,), Written()),)))
    assert found == [("1: a", "<hidden>", "not set", ""), (f"1: {name}", "not set", "2048 (2 KiB/s)", "")]


def test_many_changes_are_counted() -> None:
    writes = tuple(Write(f"/consumers/g/offsets/t/{n}", Operation.CREATE, after=b"1") for n in range(300))
    found = changes.of(Plan("reset-offsets", "g", (Step("Write", writes, Written()),)))
    assert (len(found.shown), found.total) == (changes.MOST, 300)


@pytest.mark.parametrize("ids", [True, False])
def test_why_a_step_begins_with_a_znode_that_stays_as_it_is(ids: bool) -> None:
    tree = dict(TREE)
    if not ids:
        del tree["/consumers/g/ids"]
    held = {path: read for path, read in tree.items() if read is not None}
    reset = ResetOffsets("g", (OffsetAt("orders", "0", 120),))
    (part,) = review.of(planner.plan(reset, Ground(states.load(tree), held))).parts
    assert part.guard.startswith("The first two writes leave /consumers/g/ids as it is")
    (other,) = review.of(planned(AddPartitions("payments", 4))).parts
    assert other.guard == ""
