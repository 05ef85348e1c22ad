"""Registrations of a group resolved against the topics that exist."""

from __future__ import annotations

from zkdash.kafka.consumers import subscriptions
from zkdash.kafka.values import Layout, Pattern, Registration

TOPICS = ["orders", "clicks", "audit.log"]


def _registration(pattern: Pattern, **subscription: int) -> Registration:
    return Registration(Layout.V08, pattern, subscription)


def _list(regex: str, threads: int = 1) -> Registration:
    return Registration(Layout.V08, Pattern.WHITE_LIST, {regex: threads})


def test_a_static_member_asks_for_what_it_names_whether_it_exists_or_not() -> None:
    found = subscriptions.resolve({"g_a": _registration(Pattern.STATIC, orders=2, gone=1)}, TOPICS)
    assert found.members == {"g_a": {"orders": 2, "gone": 1}}
    assert not found.has_wildcards


def test_a_wildcard_member_asks_for_every_topic_that_its_list_allows() -> None:
    found = subscriptions.resolve({"g_a": _list("orders|audit.*", 3)}, TOPICS)
    assert found.members == {"g_a": {"orders": 3, "audit.log": 3}}
    assert found.has_wildcards


def test_a_member_without_a_subscription_asks_for_nothing() -> None:
    assert subscriptions.resolve({"g_a": _registration(Pattern.WHITE_LIST)}, TOPICS).members == {"g_a": {}}


def test_a_wildcard_that_is_not_previewed_leaves_only_its_member_unclear() -> None:
    found = subscriptions.resolve({"g_a": _list("(?=o).*"), "g_b": _list("orders")}, TOPICS)
    assert found.unclear == {"g_a": "cannot preview: lookahead is not previewed"}
    assert found.members == {"g_b": {"orders": 1}}


def test_thousands_of_millions_of_threads_are_not_planned() -> None:
    found = subscriptions.resolve({"g_a": _registration(Pattern.STATIC, orders=2**31 - 1)}, TOPICS)
    assert found.members == {}
    assert "cannot plan" in found.unclear["g_a"]


def test_many_members_together_are_bounded_too() -> None:
    many = {f"g_{n}": _registration(Pattern.STATIC, orders=15_000) for n in range(100)}
    found = subscriptions.resolve(many, TOPICS)
    assert sum(topics["orders"] for topics in found.members.values()) <= subscriptions.MOST_CLAIMS
    assert len(found.members) + len(found.unclear) == 100


def test_the_wildcards_of_one_group_share_the_work_that_may_be_done() -> None:
    """Each alone would pass; a group of many expensive ones may not take a page's time many times over."""
    names = ["ab" * 120 for _ in range(1)] + [f"{n}{'ab' * 120}" for n in range(2_000)]
    members = {f"g_{n}": _list(f"(a|b)*a(a|b){{{100 + n}}}") for n in range(8)}
    found = subscriptions.resolve(members, names)
    assert found.members
    assert any("too large" in reason for reason in found.unclear.values())
