"""Every rule on any demand: 1 500 of them in every run, 10 000 in full."""

from __future__ import annotations

import itertools
from collections.abc import Collection

from hypothesis import given, settings
from hypothesis import strategies as st

from tests import full
from zkdash.kafka.assignment import rules
from zkdash.kafka.assignment.demand import Demand, Plan
from zkdash.kafka.assignment.rules import Rule

_TOPICS = ("orders", "Aa", "BB", "wide_topic", "ü")
_SUBSCRIPTION = st.dictionaries(st.sampled_from(_TOPICS), st.integers(1, 12), max_size=4)
_MEMBERS = st.dictionaries(
    st.sampled_from([f"g_{host}-{n}" for host in ("a", "b-1", "c_2", "\U0001f600") for n in (1, 10)]),
    _SUBSCRIPTION,
    max_size=5,
)
_COUNTS = st.dictionaries(st.sampled_from(_TOPICS), st.integers(0, 25), max_size=5)
_DEMANDS = st.builds(
    lambda members, counts: Demand(members, {t: tuple(map(str, range(n))) for t, n in counts.items()}),
    _MEMBERS,
    _COUNTS,
)
_DEMANDS_07 = st.builds(
    lambda members, counts: Demand(
        members, {t: tuple(f"{n % 11}-{n // 11}" for n in range(count)) for t, count in counts.items()}
    ),
    _MEMBERS,
    _COUNTS,
)


def _owed(demand: Demand) -> dict[str, set[str]]:
    """What must have an owner: every partition of a topic that somebody subscribes to."""
    return {t: set(keys) for t in demand.threads if (keys := demand.partitions.get(t, ()))}


def _check_whole(plan: Plan, demand: Demand) -> None:
    """Every partition has exactly one owner, a thread that subscribes, or is undetermined."""
    threads = demand.threads
    assert {topic: set(keys) for topic, keys in plan.owners.items() if keys} == _owed(demand)
    for topic, keys in plan.owners.items():
        assert all(owner is None or owner in threads[topic] for owner in keys.values())


def _spread(owners: Collection[str | None], threads: Collection[str]) -> int:
    """How many partitions more the busiest thread has than the idlest."""
    shares = [list(owners).count(thread) for thread in threads]
    return max(shares) - min(shares)


@settings(max_examples=full.pick(300, 2000))
@given(demand=_DEMANDS)
def test_every_rule_gives_every_partition_exactly_one_owner(demand: Demand) -> None:
    threads = demand.threads
    for rule in (Rule.RANGE, Rule.ROUND_ROBIN_BRACKETS, Rule.ROUND_ROBIN_HYPHEN, Rule.CEIL):
        plan = rules.plan(rule, demand)
        _check_whole(plan, demand)
        assert (plan.undetermined is None) == all(None not in keys.values() for keys in plan.owners.values())
    for topic, keys in rules.plan(Rule.RANGE, demand).owners.items():
        assert _spread(keys.values(), threads[topic]) <= 1
    for topic, keys in rules.plan(Rule.FLOOR, demand).owners.items():
        size = len(demand.partitions.get(topic, ()))
        assert len(keys) == size - size % len(threads[topic])


@settings(max_examples=full.pick(100, 500))
@given(demand=_DEMANDS_07)
def test_range_of_0_7_gives_every_partition_one_owner_in_runs(demand: Demand) -> None:
    plan = rules.plan(Rule.RANGE_07, demand)
    _check_whole(plan, demand)
    for keys in plan.owners.values():
        in_order = [keys[key] for key in sorted(keys)]
        assert len(list(itertools.groupby(in_order))) == len(set(in_order))


@settings(max_examples=full.pick(100, 500))
@given(members=st.sets(st.sampled_from("abcde")), threads=st.integers(1, 9), counts=_COUNTS)
def test_round_robin_before_0_10_2_shares_fairly_over_all_topics(
    members: set[str], threads: int, counts: dict[str, int]
) -> None:
    demand = Demand(
        {f"g_{member}": dict.fromkeys(counts, threads) for member in members},
        {topic: tuple(map(str, range(count))) for topic, count in counts.items()},
    )
    plan = rules.plan(Rule.ROUND_ROBIN_ALIKE, demand)
    assert plan.refused is None
    _check_whole(plan, demand)
    if plan.undetermined is None and plan.owners:
        everything = [owner for keys in plan.owners.values() for owner in keys.values()]
        assert _spread(everything, next(iter(demand.threads.values()))) <= 1


def test_every_rule_names_its_releases_and_its_source() -> None:
    for rule in Rule:
        assert rule.title
        assert rule.source
        assert rule.is_code == ("no release" not in rule.releases)
