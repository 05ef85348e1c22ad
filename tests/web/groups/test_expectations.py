from __future__ import annotations

import pytest

from tests.web import states
from zkdash import live
from zkdash.cluster.tables.groups.partitions import Catalogue
from zkdash.web.groups import expectations
from zkdash.znode import Znode

MEMBER = "g_h-1795171327000-0000aaaa"


def _catalogue() -> Catalogue:
    snapshot = live.current("demo")
    assert snapshot is not None
    return expectations.of(snapshot, snapshot.state.groups["g"])


def _tree(pattern: str = "static", reads: str = "orders") -> states.Tree:
    group = states.group(
        "g", {MEMBER: [reads]}, owners={"orders": [0, 1, 2]}, offsets={"orders": {0: 1}}, pattern=pattern
    )
    return {**states.healthy(), **group}


@pytest.mark.parametrize(
    ("path", "znode"),
    [
        ("/consumers/g/offsets/orders/0", states.znode("2")),
        ("/brokers/topics/orders/partitions/0/state", states.state(2, [2])),
        ("/brokers/topics/another/partitions", None),
        ("/config/topics/orders", None),
    ],
)
def test_what_changes_no_plan_computes_none(path: str, znode: Znode | None) -> None:
    states.publish(_tree())
    before = _catalogue()
    states.change(path, znode, 6)
    assert _catalogue() is before


@pytest.mark.parametrize(
    ("path", "znode"),
    [
        ("/consumers/g/owners/orders/0", None),
        (f"/consumers/g/ids/{MEMBER}", None),
        ("/brokers/topics/orders", states.znode({"version": 2, "partitions": {"0": [1], "7": [1]}})),
        ("/brokers/topics/orders", None),
    ],
)
def test_what_changes_the_plan_computes_it_again(path: str, znode: Znode | None) -> None:
    states.publish(_tree())
    before = _catalogue()
    states.change(path, znode, 6)
    after = _catalogue()
    assert after is not before
    assert after.expected.parts != before.expected.parts


def test_a_new_topic_is_seen_by_a_wildcard_and_by_nothing_else() -> None:
    topic = states.topic("orders-2", {0: [1]})["/brokers/topics/orders-2"]
    for pattern, grows in (("white_list", True), ("static", False)):
        states.publish(_tree(pattern, "orders.*" if grows else "orders"))
        before = _catalogue()
        states.change("/brokers/topics/orders-2", topic, 6)
        after = _catalogue()
        assert (after is not before) is grows
        assert {part.topic for part in after.expected.parts} == (
            {"orders", "orders-2"} if grows else {"orders"}
        )


def test_no_more_is_remembered_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expectations, "MOST", 5)
    names = [f"g{number}" for number in range(4)]
    tree = states.healthy()
    for name in names:
        tree |= states.group(name, {f"{name}_h-1795171327000-0000aaaa": ["orders"]})
    snapshot = states.publish(tree)
    first = expectations.of(snapshot, snapshot.state.groups["g0"])
    assert expectations.of(snapshot, snapshot.state.groups["g0"]) is first
    for name in names:
        expectations.of(snapshot, snapshot.state.groups[name])
    assert expectations.of(snapshot, snapshot.state.groups["g0"]) is not first
