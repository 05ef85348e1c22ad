"""Round robin in both text forms."""

from __future__ import annotations

from zkdash.kafka.assignment import round_robin
from zkdash.kafka.assignment.demand import Demand, Plan


def _demand(members: dict[str, dict[str, int]], **partitions: int) -> Demand:
    return Demand(members, {topic: tuple(map(str, range(count))) for topic, count in partitions.items()})


def _flat(plan: Plan) -> dict[str, str | None]:
    return {f"{topic}-{key}": owner for topic, keys in plan.owners.items() for key, owner in keys.items()}


def test_partitions_go_round_in_the_order_of_their_hashes() -> None:
    """Hashes of [t1,0], [t1,1], ... follow each other; one thread is passed by for t2."""
    demand = _demand({"g_a": {"t1": 1}, "g_b": {"t1": 1, "t2": 1}}, t1=3, t2=2)
    for form in (round_robin.BRACKETS, round_robin.HYPHEN):
        assert _flat(round_robin.assign(demand, form)) == {
            "t1-0": "g_a-0",
            "t1-1": "g_b-0",
            "t1-2": "g_a-0",
            "t2-0": "g_b-0",
            "t2-1": "g_b-0",
        }


def test_consumers_of_0_11_and_of_1_0_compute_different_plans() -> None:
    demand = _demand({m: {"orders": 1, "clicks": 1} for m in ("g_a", "g_b")}, orders=3, clicks=3)
    brackets = round_robin.assign(demand, round_robin.BRACKETS)
    hyphen = round_robin.assign(demand, round_robin.HYPHEN)
    assert _flat(brackets).keys() == _flat(hyphen).keys()
    assert _flat(brackets) != _flat(hyphen)


def test_consumers_before_0_10_2_need_the_same_threads_for_every_topic() -> None:
    demand = _demand({"g_a": {"t1": 2, "t2": 1}}, t1=2, t2=2)
    plan = round_robin.assign_alike(demand)
    assert plan.owners == {}
    assert "t1 and t2" in str(plan.refused)


def test_where_threads_are_the_same_the_plans_before_and_after_0_10_2_are() -> None:
    demand = _demand({"g_a": {"t1": 2, "t2": 2}, "g_b": {"t1": 1, "t2": 1}}, t1=7, t2=5)
    assert round_robin.assign_alike(demand) == round_robin.assign(demand)


def test_a_topic_that_does_not_exist_still_counts_for_the_same_threads() -> None:
    assert round_robin.assign_alike(_demand({"g_a": {"t1": 1, "gone": 2}}, t1=2)).refused


def test_owners_of_tied_partitions_are_undetermined_and_the_next_ones_are_not() -> None:
    """Aa and BB have the same hash, so that each of their partitions ties with its like."""
    demand = _demand({"g_a": {"Aa": 1, "BB": 1, "x": 1}, "g_b": {"Aa": 1, "BB": 1, "x": 1}}, Aa=1, BB=1, x=2)
    plan = round_robin.assign(demand, round_robin.HYPHEN)
    assert _flat(plan) == {"Aa-0": None, "BB-0": None, "x-0": "g_a-0", "x-1": "g_b-0"}
    assert "same hash" in str(plan.undetermined)


def test_a_tie_between_topics_of_different_threads_leaves_open_what_follows() -> None:
    demand = _demand({"g_a": {"Aa": 1, "zz": 1}, "g_b": {"BB": 1, "Aa": 1, "zz": 1}}, Aa=1, BB=1, zz=2)
    plan = _flat(round_robin.assign(demand, round_robin.HYPHEN))
    assert plan == {"Aa-0": None, "BB-0": "g_b-0", "zz-0": None, "zz-1": None}


def test_a_partition_that_only_one_thread_may_own_says_again_where_the_circle_stands() -> None:
    demand = _demand(
        {"g_a": {"Aa": 1, "zz": 1}, "g_b": {"BB": 1, "Aa": 1, "yy": 1, "zz": 1}}, Aa=1, BB=1, yy=1, zz=1
    )
    plan = _flat(round_robin.assign(demand, round_robin.HYPHEN))
    assert (plan["Aa-0"], plan["yy-0"], plan["zz-0"]) == (None, "g_b-0", "g_a-0")


def test_a_tie_of_a_group_with_one_thread_is_no_question() -> None:
    plan = round_robin.assign(_demand({"g_a": {"Aa": 1, "BB": 1}}, Aa=2, BB=2))
    assert set(_flat(plan).values()) == {"g_a-0"}
    assert plan.undetermined is None


def test_nobody_owns_anything_in_a_group_without_members() -> None:
    assert round_robin.assign(_demand({}, t=3)) == round_robin.assign_alike(_demand({}, t=3)) == Plan({})
