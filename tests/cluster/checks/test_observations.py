"""When a check raises a finding, what it says, and when it is over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.cluster import small
from tests.narrowing import known
from zkdash.cluster import checks
from zkdash.cluster.checks import Observations, Silence, Thresholds
from zkdash.cluster.model.changed_areas import ChangedAreas
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables.topic_queries import Query, select_topics


def group(name: str, members: Mapping[str, list[str]], owners: Mapping[str, Iterable[object]]) -> small.Tree:
    """A group whose owners are threads of its member c."""
    tree = small.group(name, members, owners)
    thread = small.znode("c-0", owner=small.SESSION)
    return {path: thread if "/owners/" in path else node for path, node in tree.items()}


CLUSTER_ID = {"/cluster/id": small.json_(version="1", id="iAZYM0SaQ-elhe1rT4ifIg")}
BROKERS = small.broker(1) | small.broker(2) | CLUSTER_ID
HEALTHY = BROKERS | small.controller(1) | small.topic("t", {0: [1, 2], 1: [2, 1]})
OFFLINE = HEALTHY | small.state("t", 0, -1, [])
UNOWNED = HEALTHY | group("g", {"c": ["t"]}, {"t": [0]})

ALL = ChangedAreas(everything=True)
BUILT = {id(tree): small.built(tree) for tree in (HEALTHY, OFFLINE, UNOWNED, BROKERS)}

# id, a tree that fails it, severity, sentence, seconds that it must hold
CASES = [
    ("D1", OFFLINE, Severity.CRITICAL, "1 partition has no leader", 2),
    (
        "D2",
        HEALTHY | small.state("t", 0, 9, [9, 1]) | small.state("t", 1, 9, [9, 1]),
        Severity.CRITICAL,
        "2 partitions have a leader that is not registered",
        2,
    ),
    ("D8", HEALTHY | small.state("t", 0, 1, [1]), Severity.WARNING, "1 partition is under-replicated", 2),
    ("D18", BROKERS, Severity.CRITICAL, "No broker is the controller: /controller is missing", 18),
    ("D30", HEALTHY | {"/config/topics/t": small.znode("{")}, Severity.WARNING, "1 znode does not parse", 2),
    ("D30", HEALTHY | {"/brokers/ids/x": small.znode("{}")}, Severity.CRITICAL, "1 znode does not parse", 2),
    ("D40", UNOWNED, Severity.CRITICAL, "1 partition has no owner in 1 group with consumers", 8),
]


def _watched(state: ClusterState, *times: float, thresholds: Thresholds | None = None) -> Observations:
    seen = Observations(thresholds=thresholds or Thresholds())
    for time in times:
        seen = checks.observe(seen, state, time)
    return seen


@pytest.mark.parametrize(("check", "tree", "severity", "sentence", "hold"), CASES)
def test_a_finding_is_raised_once_it_held_for_its_time(
    check: str, tree: small.Tree, severity: Severity, sentence: str, hold: float
) -> None:
    state = small.built(tree)
    early = _watched(state, 100, 100 + hold - 0.1)
    assert check not in [finding.check for finding in early.findings]
    assert check not in early.passing
    assert checks.due(_watched(state, 100)) is not None
    late = _watched(state, 100, 100 + hold)
    (finding,) = [finding for finding in late.findings if finding.check == check]
    assert (finding.severity, finding.sentence, finding.since) == (severity, sentence, 100)
    assert finding.remedy


@pytest.mark.parametrize("check", [check.id for check in checks.CHECKS])
def test_a_healthy_cluster_passes(check: str) -> None:
    seen = _watched(small.built(HEALTHY, group("g", {"c": ["t"]}, {"t": [0, 1]})), 0, 100)
    assert seen.findings == ()
    assert check in seen.passing or seen.looked[check].silence is not None
    assert checks.TITLES[check]
    assert checks.due(seen) is None


def test_before_the_first_load_nothing_is_held_for_or_against_a_cluster() -> None:
    seen = _watched(ClusterState(), 0, 100)
    assert (seen.findings, seen.passing) == ((), ())


def test_one_look_is_never_enough() -> None:
    for _, tree, *_rest in CASES:
        assert _watched(small.built(tree), 0).findings == ()


def test_how_long_it_must_hold_can_be_set() -> None:
    thresholds = Thresholds(confirm=1.0, no_controller=3.0, unowned=2.0)
    seen = _watched(small.built(UNOWNED, small.gone("/controller")), 0, 2, thresholds=thresholds)
    assert [finding.check for finding in seen.findings] == ["D40"]
    assert checks.due(seen) == 3


def test_it_stays_the_same_finding_while_its_number_changes() -> None:
    seen = _watched(small.built(OFFLINE), 0, 2)
    seen = checks.observe(seen, small.built(OFFLINE | small.state("t", 1, -1, [])), 5)
    (finding,) = [finding for finding in seen.findings if finding.check == "D1"]
    assert (finding.count, finding.since) == (2, 0)


def test_what_was_over_begins_anew() -> None:
    seen = _watched(small.built(OFFLINE), 0, 2)
    seen = checks.observe(seen, small.built(HEALTHY), 3)
    assert seen.findings == ()
    assert "D1" in seen.passing
    seen = checks.observe(seen, small.built(OFFLINE), 4)
    assert seen.findings == ()
    seen = checks.observe(seen, small.built(OFFLINE), 6)
    assert {finding.since for finding in seen.findings} == {4}


@given(
    st.lists(st.tuples(st.sampled_from([HEALTHY, OFFLINE, UNOWNED, BROKERS]), st.integers(1, 40)), min_size=1)
)
@example([(OFFLINE, 1), (HEALTHY, 1), (OFFLINE, 1), (OFFLINE, 2)])
def test_who_follows_until_somebody_asks_finds_what_who_looked_all_the_time_finds(
    story: list[tuple[small.Tree, int]],
) -> None:
    looking, following, now = Observations(), Observations(), 0
    for tree, seconds in story:
        now += seconds
        state = BUILT[id(tree)]
        looking = checks.observe(looking, state, now)
        following = checks.follow(checks.put_off(following, ALL), state, now)
    asked = checks.observe(following, state, now)
    assert (asked.findings, asked.standing) == (looking.findings, looking.standing)
    assert asked.elections == looking.elections
    # but for those that are looked at seldom, which one of the two looked at later
    for check in (check for check in checks.CHECKS if not check.every):
        was, is_now = looking.looked[check.id], asked.looked[check.id]
        assert (is_now.causes, is_now.seen, is_now.held) == (was.causes, was.seen, was.held), check.id


def test_when_causes_were_seen_is_one_object_while_none_comes_or_goes() -> None:
    """Of a large cluster it would be a copy of thousands for each transaction."""
    state = small.built(OFFLINE)
    first = checks.follow(Observations(), state, 1)
    after, changed = small.step(state, small.state("t", 1, -1, []))
    worse = checks.follow(checks.put_off(first, changed), after, 2)
    assert worse.looked["D1"].causes != first.looked["D1"].causes
    assert worse.looked["D1"].seen is first.looked["D1"].seen


def test_who_follows_sees_one_come_where_another_goes() -> None:
    alone, both = (small.state("t", 0, 1, [1]), small.state("u", 0, 1, [1])), [1, 2]
    state = small.built(HEALTHY, small.topic("u", {0: both}), alone[0])
    first = checks.follow(Observations(), state, 1)
    assert first.looked["D9"].seen == {"t": 1}
    after, changed = small.step(state, small.state("t", 0, 1, both), alone[1])
    second = checks.follow(checks.put_off(first, changed), after, 2)
    assert second.looked["D9"].seen == {"u": 2}


def test_who_follows_looks_at_all_assignments_once_some_are_others_and_it_is_time_again() -> None:
    id_ = "mjwYBhvDQhmjUVKrM4LyCg"
    ids = [small.topic(name, {0: [1]}, topic_id=id_) for name in "tu"]
    state = small.built(HEALTHY)
    seen = checks.follow(Observations(), state, 1)
    state, changed = small.step(state, *ids)
    seen = checks.put_off(seen, changed)
    for now in (5, 11, 15):
        seen = checks.follow(seen, state, now)
        assert bool(seen.looked["D57"].causes) == (now >= 11)
    assert set(seen.looked["D57"].seen.values()) == {11}
    assert seen.looked["D57"].at == 11
    after, changed = small.step(state, small.gone("/brokers/topics/u"))
    seen = checks.follow(checks.put_off(seen, changed), after, 21)
    assert not seen.looked["D57"].causes


def test_the_worst_comes_first() -> None:
    tree = {"/config/topics/t": small.znode("{")} | small.state("t", 1, 2, [2]) | small.state("t", 0, -1, [])
    seen = _watched(small.built(HEALTHY, tree), 0, 2)
    assert [finding.check for finding in seen.findings] == ["D1", "D8", "D9", "D12", "D30"]


def test_each_group_must_lack_an_owner_for_its_own_time() -> None:
    one = small.built(HEALTHY, group("g", {"c": ["t"]}, {"t": [0]}))
    other = small.built(HEALTHY, group("h", {"c": ["t"]}, {"t": [0]}))
    seen = Observations()
    for time in range(0, 60, 5):
        seen = checks.observe(seen, one if time % 10 else other, time)
        assert seen.findings == ()


def test_it_says_when_a_finding_may_come_due() -> None:
    seen = _watched(small.built(UNOWNED), 50)
    assert checks.due(seen) == 58
    assert checks.due(checks.observe(seen, small.built(UNOWNED), 58)) is None


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({"/brokers/ids/1": small.znode("h-1:h:9092", owner=small.SESSION)}, None),
        ({}, None),
        (small.broker(1), 1),
        (small.topic("t", {0: [1]}), 1),
        (small.broker(1) | {"/controller": small.znode("{")}, 0),
    ],
)
def test_a_controller_is_missed_only_where_something_newer_than_07_is(
    tree: small.Tree, expected: int | None
) -> None:
    (check,) = [check for check in checks.CHECKS if check.id == "D18"]
    causes = check.causes(checks.CheckContext(small.built(tree)))
    assert (None if isinstance(causes, Silence) else len(causes)) == expected


def test_a_topic_marked_for_deletion_is_not_held_against_the_cluster() -> None:
    marked = {"/admin/delete_topics/t": small.znode(None)}
    state = small.built(OFFLINE, marked, group("g", {"c": ["t"]}, {}))
    assert _watched(state, 0, 100).findings == ()


@pytest.mark.parametrize(("check", "tree"), [(case[0], case[1]) for case in CASES[:3]])
def test_the_table_lists_what_was_counted(check: str, tree: small.Tree) -> None:
    (found,) = [check_ for check_ in checks.CHECKS if check_.id == check]
    state = small.built(tree, small.topic("fine", {0: [1]}))
    assert found.page == "topics"
    text = found.query.removeprefix("q=").replace("%3A", ":")
    assert [row.summary.name for row in select_topics(state, Query(q=text)).rows] == ["t"]


# D40: what a group's members subscribe to by name, against what is owned.
OWNERSHIP = [
    (group("g", {"c": ["t"]}, {"t": [0, 1]}), 0),
    (group("g", {"c": ["t"]}, {"t": [1]}), 1),
    (group("g", {"c": ["t"]}, {}), 2),
    (group("g", {"c": ["t", "nowhere"]}, {"t": [0, 1]}), 0),
    (group("g", {"c": ["nowhere"]}, {}), 0),
    (group("g", {}, {"t": [0]}), 0),
    (group("g", {"c": ["t"]}, {"t": [0, 1, 7, "x", "0-0"]}), 0),
    (group("g", {"c": ["old"]}, {"old": ["1-0"]}), 1),
    (group("g", {"c": ["old"]}, {"old": ["1-0", "1-1", "1-2", "2-0"]}), 0),
    ({"/consumers/g/ids/c": small.json_(version=1, subscription={".*": 1}, pattern="white_list")}, 0),
    ({"/consumers/g/ids/c": small.znode("{")}, 0),
]


@pytest.mark.parametrize(("tree", "unowned"), OWNERSHIP)
def test_partitions_without_owner_are_counted_for_static_subscriptions(
    tree: small.Tree, unowned: int
) -> None:
    old = {"/brokers/topics/old": small.znode(None), "/brokers/topics/old/1": small.znode("2")}
    state = small.built(HEALTHY, old, tree)
    assert state.counts.unowned == unowned
    assert dict(state.unowned) == ({"g": unowned} if unowned else {})


def test_a_count_without_bounds_costs_nothing() -> None:
    old = {"/brokers/topics/old": small.znode(None), "/brokers/topics/old/1": small.znode("2147483647")}
    state = small.built(old, group("g", {"c": ["old"]}, {"old": ["1-0"]}))
    assert state.counts.unowned == 2147483646


def test_a_group_is_judged_again_where_only_an_offset_came_or_changed() -> None:
    """D43 asks of each partition, D44 when the last commit of a group without members was."""
    path = "/consumers/g/offsets/t/"
    state = small.built(HEALTHY, {path + "0": small.znode("1")})
    began = known(state.blames["D44"]["g"].since)
    later, _ = small.step(state, {path + "0": small.znode("2")})
    assert known(later.blames["D44"]["g"].since) > began
    assert "D43" not in later.blames
    stray, _ = small.step(later, {path + "7": small.znode("2")})
    assert stray.blames["D43"]["g"].why == "t: 7"
