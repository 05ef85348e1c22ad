"""The owners that real consumers wrote, against those computed from their registrations."""

from __future__ import annotations

import pytest

from tests import recorded
from tests.cluster import small
from tests.narrowing import known
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.rebalance import expectation
from zkdash.cluster.rebalance.values import Expectation, Verdict
from zkdash.kafka.assignment.rules import Rule

LATER = 1_795_300_000_000
LIVE = [name for name in recorded.RECORDED if recorded.count(name).owners]
# The strategy that each release's consumers were started with; g-rr with round robin.
RULES = {"0.7.2": (Rule.RANGE_07, None), "0.8.2.2": (Rule.RANGE, Rule.ROUND_ROBIN_ALIKE)}
RULES["1.1.1"] = (Rule.RANGE, Rule.ROUND_ROBIN_HYPHEN)
# Recorded while its member claimed its partitions one by one.
CLAIMING = ("0.8.2.2-reassign-done", "g-black")


def _owners(group: Group) -> dict[tuple[str, str], object]:
    return {(topic, key): owner.thread for topic, keys in group.owners.items() for key, owner in keys.items()}


def _planned(found: Expectation) -> dict[tuple[str, str], object]:
    return {(topic, key): to for topic, keys in found.plan.owners.items() for key, to in keys.items()}


def _live(state: ClusterState, name: str = "") -> list[Group]:
    return [group for group in state.groups.values() if group.owners and (name, group.name) != CLAIMING]


def test_trees_of_three_releases_have_live_consumers() -> None:
    assert {name.partition("-")[0] for name in LIVE} == set(RULES)


@pytest.mark.parametrize("name", LIVE)
def test_the_owners_are_those_that_the_registrations_lead_to(name: str) -> None:
    state = small.built(recorded.load(name))
    runs, circle = RULES[name.partition("-")[0]]
    for group in _live(state, name):
        found = expectation.expect(state, group, LATER)
        assert _planned(found) == _owners(group), group.name
        assert (circle if group.name == "g-rr" else runs) in found.matching, group.name
        assert {part.verdict for part in found.parts} == {Verdict.EXPECTED}
        assert not found.rebalancing


def test_a_group_recorded_in_the_middle_of_a_rebalance_is_known_as_such() -> None:
    """The member's first claim is 405 ms old."""
    name, group = CLAIMING
    state = small.built(recorded.load(name))
    claims = state.groups[group].owners["wide_topic"].values()
    taken = max(known(owner.znode).ctime for owner in claims) + 405
    found = expectation.expect(state, state.groups[group], taken)
    assert found.rebalancing
    assert _owners(state.groups[group]).items() < _planned(found).items()
    assert {part.verdict for part in found.parts} == {Verdict.EXPECTED, Verdict.UNOWNED}


@pytest.mark.parametrize("release", RULES)
def test_the_recorded_groups_tell_the_rules_apart(release: str) -> None:
    """Some group of each release follows Kafka's rule and neither reading of the documents."""
    state = small.built(recorded.load(f"{release}-consumers"))
    matching = [expectation.expect(state, group, LATER).matching for group in _live(state)]
    assert any(rules and not {Rule.FLOOR, Rule.CEIL} & set(rules) for rules in matching)


def test_a_dead_group_is_partial_and_asks_for_nothing() -> None:
    state = small.built(recorded.load("1.1.1-consumers-gone"))
    found = expectation.expect(state, state.groups["g-static"], LATER)
    assert found.partial == "only offsets: no member is registered now"
    assert (found.parts, found.rule, found.idle) == ((), None, ())


def test_a_group_that_commits_to_kafka_only_says_so() -> None:
    state = small.built(recorded.load("1.1.1-consumers"))
    found = expectation.expect(state, state.groups["g-kafka-only"], LATER)
    assert "offsets.storage=kafka" in str(found.partial)


def test_the_groups_of_the_hostile_tree_are_judged_too() -> None:
    state = small.built(recorded.load(recorded.HOSTILE))
    assert state.groups
    for group in state.groups.values():
        found = expectation.expect(state, group, LATER)
        assert found.inputs.is_clear or {part.verdict for part in found.parts} <= {
            Verdict.UNDETERMINED,
            Verdict.NOT_REGISTERED,
            Verdict.UNOWNED,
        }
