"""Changes of a group for what-if."""

from __future__ import annotations

from zkdash.kafka.assignment import demand
from zkdash.kafka.assignment.demand import Demand

BEFORE = Demand({"g_a": {"t": 2, "u": 1}, "g_b": {"t": 1}}, {"t": ("0", "1"), "u": ("0",)})


def test_threads_are_numbered_by_topic() -> None:
    assert BEFORE.threads == {"t": ["g_a-0", "g_a-1", "g_b-0"], "u": ["g_a-0"]}


def test_a_member_comes_and_goes() -> None:
    more = demand.add_member(BEFORE, "g_c", {"u": 3})
    assert more.threads["u"] == ["g_a-0", "g_c-0", "g_c-1", "g_c-2"]
    assert demand.remove_member(more, "g_c") == BEFORE


def test_threads_change_for_one_topic_or_for_all() -> None:
    assert demand.set_threads(BEFORE, "g_a", 4, "t").members["g_a"] == {"t": 4, "u": 1}
    assert demand.set_threads(BEFORE, "g_a", 4).members["g_a"] == {"t": 4, "u": 4}
    assert demand.set_threads(BEFORE, "g_a", 0, "t").members["g_a"] == {"u": 1}
    assert demand.set_threads(BEFORE, "g_x", 4) == BEFORE
    assert demand.set_threads(BEFORE, "g_b", 4, "u") == BEFORE


def test_a_topic_grows_and_never_shrinks() -> None:
    assert demand.grow(BEFORE, "t", 4).partitions["t"] == ("0", "1", "2", "3")
    assert demand.grow(BEFORE, "t", 1) == BEFORE
    assert demand.grow(BEFORE, "new", 2).partitions["new"] == ("0", "1")


def test_a_topic_of_0_7_grows_on_each_of_its_brokers() -> None:
    old = Demand({}, {"t": ("1-0", "2-0")})
    assert set(demand.grow(old, "t", 2).partitions["t"]) == {"1-0", "1-1", "2-0", "2-1"}
