"""What moves when a group or a topic changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from zkdash.cluster.rebalance import whatif
from zkdash.kafka.assignment import demand
from zkdash.kafka.assignment.demand import Demand
from zkdash.kafka.assignment.rules import Rule

BEFORE = Demand({"g_a": {"t": 1}, "g_b": {"t": 1}}, {"t": ("0", "1", "2", "3")})


def test_a_member_that_joins_takes_its_share() -> None:
    found = whatif.ask(BEFORE, demand.add_member(BEFORE, "g_c", {"t": 1}), Rule.RANGE)
    assert {(shift.key, shift.before, shift.after) for shift in found.shifts} == {("3", "g_b-0", "g_c-0")}
    assert (found.moved, found.moved_between_members) == (1, 1)


def test_a_member_that_leaves_gives_all_away() -> None:
    found = whatif.ask(BEFORE, demand.remove_member(BEFORE, "g_a"), Rule.RANGE)
    assert [shift.after for shift in found.shifts] == ["g_b-0", "g_b-0"]


def test_more_threads_of_the_same_member_are_no_move_between_members() -> None:
    found = whatif.ask(BEFORE, demand.set_threads(BEFORE, "g_b", 2), Rule.RANGE)
    assert (found.moved, found.moved_between_members) == (1, 0)


def test_new_partitions_are_no_moves() -> None:
    found = whatif.ask(BEFORE, demand.grow(BEFORE, "t", 6), Rule.RANGE)
    assert [(shift.key, shift.is_new) for shift in found.shifts] == [("2", False), ("4", True), ("5", True)]
    assert found.moved == 1


def test_round_robin_may_refuse_what_comes_after() -> None:
    two = Demand({"g_a": {"t": 1, "u": 1}}, {"t": ("0",), "u": ("0",)})
    found = whatif.ask(two, demand.set_threads(two, "g_a", 2, "t"), Rule.ROUND_ROBIN_ALIKE)
    assert found.before.refused is None
    assert found.after.refused
    assert all(shift.after is None for shift in found.shifts)


@given(members=st.dictionaries(st.sampled_from("abcd"), st.integers(1, 4)), count=st.integers(0, 20))
def test_nothing_moves_where_nothing_changes(members: dict[str, int], count: int) -> None:
    same = Demand({m: {"t": n} for m, n in members.items()}, {"t": tuple(map(str, range(count)))})
    assert all(whatif.ask(same, same, rule).shifts == () for rule in Rule)
