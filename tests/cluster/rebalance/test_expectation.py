"""Expected owners, verdicts, idle threads and doubts of one group."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.cluster import small
from tests.cluster.rebalance.consumers import cluster, member, offsets, owners
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.rebalance import expectation
from zkdash.cluster.rebalance.values import Expectation, Verdict
from zkdash.kafka.assignment import rules
from zkdash.kafka.assignment.rules import Rule
from zkdash.znode import Unreadable

LATER = small.BORN + 1_000_000_000


def _expect(state: ClusterState, now: int = LATER, **more: Any) -> Expectation:
    return expectation.expect(state, state.groups["g"], now, **more)


def _verdicts(found: Expectation) -> dict[str, Verdict]:
    return {f"{part.topic}-{part.key}": part.verdict for part in found.parts}


def test_a_group_that_follows_range_says_so() -> None:
    state = cluster(
        member("g_a", {"t": 1}),
        member("g_b", {"t": 1}),
        owners("t", {0: "g_a-0", 1: "g_a-0", 2: "g_b-0"}),
        t=3,
    )
    found = _expect(state)
    assert (found.rule, found.against) == (Rule.RANGE, Rule.RANGE)
    assert set(_verdicts(found).values()) == {Verdict.EXPECTED}
    assert [part.member for part in found.parts] == ["g_a", "g_a", "g_b"]


def test_every_verdict_is_told_apart() -> None:
    state = cluster(
        member("g_a", {"t": 1}),
        member("g_b", {"t": 1}),
        owners("t", {0: "g_a-0", 1: "g_a-0", 2: "g_b-0", 3: "g_gone-0", 9: "g_a-0", 4: "no thread"}),
        owners("u", {0: "g_a-0"}),
        t=6,
        u=1,
    )
    found = _expect(state)
    assert found.rule is None
    assert _verdicts(found) == {
        "t-0": Verdict.EXPECTED,
        "t-1": Verdict.EXPECTED,
        "t-2": Verdict.OTHER_MEMBER,
        "t-3": Verdict.NOT_REGISTERED,
        "t-4": Verdict.NOT_REGISTERED,
        "t-5": Verdict.UNOWNED,
        "t-9": Verdict.STRAY,
        "u-0": Verdict.STRAY,
    }


def test_another_thread_of_the_right_member_is_named_as_such() -> None:
    state = cluster(member("g_a", {"t": 2}), owners("t", {0: "g_a-1", 1: "g_a-1"}), t=2)
    assert _expect(state).parts[0].reason == "another thread of the expected member"


def test_an_owner_that_may_not_be_read_is_undetermined() -> None:
    hidden = {"/consumers/g/owners/t/0": Unreadable("no rights")}
    found = _expect(cluster(member("g_a", {"t": 1}), hidden, t=1))
    assert (found.parts[0].verdict, found.parts[0].reason) == (Verdict.UNDETERMINED, "no rights")


def test_a_group_that_follows_only_a_document_says_which() -> None:
    state = cluster(
        member("g_a", {"t": 1}), member("g_b", {"t": 1}), owners("t", {0: "g_a-0", 1: "g_b-0"}), t=3
    )
    found = _expect(state)
    assert (found.rule, found.matching) == (Rule.FLOOR, (Rule.FLOOR,))
    assert _verdicts(found)["t-2"] is Verdict.UNOWNED


def test_members_of_different_strategies_are_told_by_what_each_owns() -> None:
    threads = {"orders": 1, "clicks": 1}
    state = cluster(
        member("g_a", threads),
        member("g_b", threads),
        owners("orders", {0: "g_a-0", 1: "g_a-0", 2: "g_b-0"}),
        owners("clicks", {0: "g_a-0", 1: "g_a-0"}),
        orders=3,
        clicks=3,
    )
    found = _expect(state)
    assert found.rule is None
    assert Rule.RANGE in found.followed["g_a"]
    assert Rule.RANGE not in found.followed["g_b"]


def test_threads_that_the_plan_gives_nothing_are_named() -> None:
    state = cluster(
        member("g_a", {"t": 2}), member("g_b", {"t": 2}), owners("t", {0: "g_a-0", 1: "g_a-1"}), t=2
    )
    assert _expect(state).idle == ("g_b-0", "g_b-1")


def test_a_group_settles_eight_seconds_after_its_last_change() -> None:
    state = cluster(member("g_a", {"t": 1}), owners("t", {0: "g_a-0"}), t=1)
    changed = _expect(state).changed
    assert changed is not None
    assert _expect(state, changed + 8_000).rebalancing
    assert not _expect(state, changed + 8_001).rebalancing
    assert _expect(state, changed + 60_000, changed=changed + 55_000).rebalancing


def test_one_registration_that_does_not_parse_blocks_the_whole_group() -> None:
    broken = {"/consumers/g/ids/g_x": small.znode("{")}
    found = _expect(cluster(member("g_a", {"t": 1}), broken, owners("t", {0: "g_a-0"}), t=2))
    assert "g_x" in found.inputs.blocked[0]
    assert found.plans == {}
    assert _verdicts(found) == {"t-0": Verdict.UNDETERMINED, "t-1": Verdict.UNOWNED}


def test_a_registration_that_may_not_be_read_leaves_the_plan_unclear() -> None:
    hidden = {"/consumers/g/ids/g_x": Unreadable("no rights")}
    found = _expect(cluster(member("g_a", {"t": 1}), hidden, owners("t", {0: "g_a-0"}), t=1))
    assert found.inputs.unclear == ("the registration of g_x cannot be read: no rights",)
    assert found.parts[0].verdict is Verdict.UNDETERMINED


def test_a_wildcard_that_is_not_previewed_is_never_guessed() -> None:
    state = cluster(
        member("g_a", {"(?=t).*": 1}, pattern="white_list"), owners("t", {0: "g_a-0", 1: "g_x-0"}), t=2
    )
    found = _expect(state)
    assert found.inputs.unclear == ("g_a: cannot preview: lookahead is not previewed",)
    assert _verdicts(found) == {"t-0": Verdict.UNDETERMINED, "t-1": Verdict.NOT_REGISTERED}


def test_assumptions_are_told_where_wildcards_are() -> None:
    wild = cluster(member("g_a", {"t.*": 1}, pattern="white_list"), t=1)
    assert any("exclude.internal.topics=true" in told for told in _expect(wild).inputs.assumptions)
    assert _expect(cluster(member("g_a", {"t": 1}), t=1)).inputs.assumptions == ()


def test_a_topic_that_does_not_parse_leaves_only_itself_open() -> None:
    broken = {"/brokers/topics/u": small.znode("{")}
    state = cluster(
        member("g_a", {"t": 1, "u": 1}), broken, owners("t", {0: "g_a-0"}), owners("u", {0: "g_a-0"}), t=1
    )
    found = _expect(state)
    assert (found.rule, set(found.inputs.open_topics)) == (Rule.RANGE, {"u"})
    assert _verdicts(found) == {"t-0": Verdict.EXPECTED, "u-0": Verdict.UNDETERMINED}


def test_owners_that_may_follow_round_robin_are_not_blamed_while_a_topic_is_open() -> None:
    broken = {"/brokers/topics/u": small.znode("{")}
    threads = {"t": 1, "u": 1}
    swapped = owners("t", {0: "g_b-0", 1: "g_a-0"})
    found = _expect(cluster(member("g_a", threads), member("g_b", threads), broken, swapped, t=2))
    assert {part.verdict for part in found.parts} == {Verdict.UNDETERMINED}


def test_round_robin_says_where_members_may_compute_different_plans() -> None:
    threads = {"orders": 1, "clicks": 1}
    state = cluster(
        member("g_a", threads),
        member("g_b", threads),
        owners("orders", {0: "g_a-0", 1: "g_b-0", 2: "g_a-0"}),
        owners("clicks", {0: "g_b-0", 1: "g_a-0", 2: "g_b-0"}),
        orders=3,
        clicks=3,
    )
    found = _expect(state)
    assert found.rule is not None
    assert found.rule.is_round_robin
    assert "6 of 6 partitions" in found.may_differ[0]


def test_a_group_that_follows_range_does_not_speak_of_round_robin() -> None:
    state = cluster(member("g_a", {"t": 2, "u": 1}), owners("t", {0: "g_a-0", 1: "g_a-1"}), t=2, u=0)
    assert _expect(state).may_differ == ()


def test_unequal_threads_say_that_older_round_robin_would_fail() -> None:
    found = _expect(cluster(member("g_a", {"t": 2, "u": 1}), t=2, u=2))
    assert any("needs the same threads" in told for told in found.may_differ)


def test_partial_groups_say_what_is_missing() -> None:
    only_ids = cluster(member("g_a", {"t": 1}), t=1)
    assert "rebalancing, or gave up" in str(_expect(only_ids).partial)
    nowhere = cluster(member("g_a", {"gone": 1}))
    assert "no topic that they subscribe to" in str(_expect(nowhere).partial)
    assert "only offsets" in str(_expect(cluster(offsets("t", {0: 5}), t=1)).partial)
    assert "owners without members" in str(_expect(cluster(owners("t", {0: "g_a-0"}), t=1)).partial)
    empty = cluster({"/consumers/g": small.znode(None)})
    assert "empty" in str(_expect(empty).partial)
    whole = cluster(member("g_a", {"t": 1}), owners("t", {0: "g_a-0"}), offsets("t", {0: 5}), t=1)
    assert _expect(whole).partial is None


def test_members_that_find_no_broker_own_nothing() -> None:
    state = small.built(small.topic("t", {0: [1]}), member("g_a", {"t": 1}))
    assert "no broker is registered" in str(_expect(state).partial)


def test_a_count_of_0_7_may_say_anything() -> None:
    huge = {"/brokers/topics/t": small.znode(None), "/brokers/topics/t/1": small.znode("999999999")}
    old = {"/consumers/g/ids/g_a": small.znode('{ "t": 1 }')}
    found = _expect(small.built(old, huge))
    assert "999999999 partitions" in found.inputs.open_topics["t"]
    assert found.parts == ()


def test_a_group_of_a_thousand_partitions_costs_no_more_for_each_than_one_of_a_hundred() -> None:
    """10 members of 4 threads, 10 topics: about 20 ms; a cost that is squared is 100 times as much."""

    def of(partitions: int) -> ClusterState:
        topics = {f"t{n}": partitions for n in range(10)}
        members = [member(f"g_host-{n}-1795262268924-dfc27f07", dict.fromkeys(topics, 4)) for n in range(10)]
        return cluster(*members, **topics)

    states = of(10), of(100)
    took: dict[int, list[float]] = {100: [], 1000: []}
    for state in states * 5:
        started = time.thread_time()
        found = _expect(state)
        took[len(found.parts)].append(time.thread_time() - started)
    assert min(took[1000]) < 30 * min(took[100])


def test_a_group_of_many_partitions_that_follows_the_default_is_not_tried_by_other_rules() -> None:
    count = expectation.MANY_PARTITIONS + 1
    claims = owners("t", dict.fromkeys(range(count), "g_a-0"))
    found = _expect(cluster(member("g_a", {"t": 1}), claims, t=count))
    assert (found.rule, list(found.plans)) == (Rule.RANGE, [Rule.RANGE])
    unowned = _expect(cluster(member("g_a", {"t": 1}), t=count))
    assert Rule.ROUND_ROBIN_HYPHEN in unowned.plans


@pytest.mark.parametrize("rule", rules.RULES_08)
def test_who_has_the_other_rules_left_out_hears_the_same(rule: Rule) -> None:
    """Of a group that follows the default no other rule is tried then; of any other all are."""
    members = [member("g_a", {"t": 2, "u": 1}), member("g_b", {"t": 1, "u": 2})]
    plan = _expect(cluster(*members, t=7, u=5)).plans[rule]
    claims = [
        owners(topic, {int(key): thread for key, thread in keys.items() if thread is not None})
        for topic, keys in plan.owners.items()
    ]
    state = cluster(*members, *claims, t=7, u=5)
    whole, brief = _expect(state), _expect(state, tries_all=False)
    assert set(brief.plans) == ({Rule.RANGE} if whole.rule is Rule.RANGE else set(rules.RULES_08))
    for name in ("rule", "against", "parts", "idle"):
        assert getattr(brief, name) == getattr(whole, name), name
