"""White and black lists, and other people's regexes."""

from __future__ import annotations

import contextlib
import random
import time

import pytest

from zkdash.kafka.consumers.wildcards import topic_filter
from zkdash.kafka.consumers.wildcards.dialect import CannotPreviewError
from zkdash.kafka.values import Pattern

TOPICS = ["orders", "clicks", "audit.log", "auditXlog", "__consumer_offsets", "__transaction_state", "__mine"]

HOSTILE = [
    "(a+)+$",
    "(a|a)*b",
    "(a|aa)+$",
    "([ab]+)*c",
    "(.*)*x",
    "(x+x+)+y",
    "(a?){25}a{25}",
    "(a{0}){999}",
    "(a|b)*a(a|b){110}",
    "(a|b)*a(a|b){900}",
    "(.*a.{50})|(.*b.{40})",
    "((((a{10}){10}){10}){10}){10}",
    ".*(a.{1}b|b.{100}a)(.*.*.*.*a){9}b",
    "(" * 10_000 + "a" + ")" * 10_000,
    "|".join(f"t{n}.*" for n in range(7_000)),
    "[" * 60_000,
    "a" * 1_000_000,
    "\\Q" * 30_000,
]


def _white(regex: str) -> set[str]:
    return set(topic_filter.select(Pattern.WHITE_LIST, regex, TOPICS).topics)


def test_a_white_list_allows_what_matches_as_a_whole() -> None:
    assert _white("audit.*|ord") == {"audit.log", "auditXlog"}


def test_a_black_list_allows_the_rest() -> None:
    found = topic_filter.select(Pattern.BLACK_LIST, "audit.*", TOPICS)
    assert found.topics == {"orders", "clicks", "__mine"}


def test_internal_topics_are_left_out_of_both_as_the_assumption_says() -> None:
    assert _white(".*") == {"orders", "clicks", "audit.log", "auditXlog", "__mine"}
    assert "exclude.internal.topics=true" in topic_filter.ASSUMPTION


def test_a_list_is_normalised_as_kafka_does() -> None:
    assert topic_filter.normalise("""  "'orders, clicks,audit.*'" """) == "orders|clicks|audit.*"
    assert _white("'orders, clicks'") == {"orders", "clicks"}


def test_backslashes_doubled_by_1_0_and_1_1_mean_what_those_consumers_take_them_for() -> None:
    """The client reads `audit\\\\.log` back and looks for a backslash: it allows nothing, and so do we."""
    assert _white(r"audit\.log") == {"audit.log"}
    assert _white(r"audit\\.log") == set()


def test_a_name_that_the_dialects_may_differ_about_is_undetermined() -> None:
    found = topic_filter.select(Pattern.WHITE_LIST, "o.*", ["orders", "öl", "o\n"])
    assert (found.topics, found.undetermined) == (frozenset({"orders"}), frozenset({"öl", "o\n"}))
    named = topic_filter.select(Pattern.BLACK_LIST, "orders", ["orders", "öl"])
    assert (named.topics, named.undetermined) == (frozenset({"öl"}), frozenset())


@pytest.mark.parametrize("pattern", [Pattern.WHITE_LIST, Pattern.BLACK_LIST])
@pytest.mark.parametrize("regex", HOSTILE, ids=range(len(HOSTILE)))
def test_no_regex_hangs(regex: str, pattern: Pattern) -> None:
    """On 2 000 names of the greatest length; the limit leaves room for a busy machine."""
    dice = random.Random(7)  # noqa: S311 - a seed, not a secret
    names = ["".join(dice.choices("ab", k=249)) for _ in range(2_000)]
    started = time.process_time()
    with contextlib.suppress(CannotPreviewError):
        topic_filter.select(pattern, regex, names)
    assert time.process_time() - started < 2


def test_a_regex_that_is_too_much_work_is_refused() -> None:
    with pytest.raises(CannotPreviewError, match="too large to be tried on 7 topics"):
        topic_filter.select(Pattern.WHITE_LIST, "a.*", TOPICS, work=100)
