"""Java's regular expressions for RE2. The answers below are those of java.util.regex (Java 17)."""

from __future__ import annotations

import re

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import full
from zkdash.kafka.consumers.wildcards import dialect
from zkdash.kafka.consumers.wildcards.dialect import CannotPreviewError

NAMES = ("orders", "clicks", "audit.log", "auditXlog", "wide_topic", "a-b", "ORDERS", "t1")
JAVA = [
    ("orders|clicks", "orders clicks"),
    (".*", "orders clicks audit.log auditXlog wide_topic a-b ORDERS t1"),
    ("audit.*", "audit.log auditXlog"),
    ("audit\\.log", "audit.log"),
    ("audit\\\\.log", ""),
    ("[^a]*", "orders clicks wide_topic ORDERS t1"),
    ("(?i)orders", "orders ORDERS"),
    ("(?i:O)rders", "orders"),
    ("o(?i)R(?-i)ders", "orders"),
    ("(or|cl)[a-z]{4}", "orders clicks"),
    ("[a-z._-]+", "orders clicks audit.log wide_topic a-b"),
    ("[\\w.-]+", "orders clicks audit.log auditXlog wide_topic a-b ORDERS t1"),
    ("\\w+", "orders clicks auditXlog wide_topic ORDERS t1"),
    ("\\W*\\w", ""),
    ("\\Qaudit.log\\E", "audit.log"),
    ("\\Qa-b\\E|t\\d", "a-b t1"),
    ("^orders$", "orders"),
    ("\\borders\\b", "orders"),
    ("\\Aorders\\Z", "orders"),
    ("audit\\Blog", ""),
    ("audit.?log", "audit.log auditXlog"),
    (".{2}", "t1"),
    ("(|t)1*t?1", "t1"),
    ("(a*)*-b", "a-b"),
    ("[-a]+b", "a-b"),
    ("[a-]+b", "a-b"),
    ("", ""),
    ("t1|", "t1"),
    ("(?s).*s", "orders clicks"),
    ("orders(?m)$", "orders"),
    ("[A-Z]{6}", "ORDERS"),
    ("(t1)+?", "t1"),
    ("o??rders", "orders"),
]
REFUSED = [
    ("(a)\\1", "backreference"),
    ("\\k<n>", "backreference"),
    ("(?=a)b", "lookahead"),
    ("(?!a)b", "lookahead"),
    ("(?<=a)b", "lookbehind"),
    ("(?<!a)b", "lookbehind"),
    ("(?>a)b", "atomic"),
    ("(?<n>a)", "named group"),
    ("a*+", "possessive"),
    ("a{2}+", "possessive"),
    ("\\p{Lower}", "\\p"),
    ("\\P{L}", "\\P"),
    ("\\h", "\\h"),
    ("\\R", "\\R"),
    ("\\G", "\\G"),
    ("[a-z&&[^b]]", "intersection"),
    ("[a[b]]", "class within a class"),
    ("[]a]", "begins with ]"),
    ("[\\w-.]", "range"),
    ("(?x)a b", "flag x"),
    ("(?U)\\w", "flag U"),
    ("a{", "{"),
    ("a**", "repeat"),
    ("^*", "repeat"),
    ("(a", "not closed"),
    ("a)", "not opened"),
    ("[a", "not closed"),
    ("a\\", "backslash"),
    ("ü.*", "ASCII"),
]


def _matches(regex: str, name: str) -> bool:
    return re2.fullmatch(dialect.translate(regex), name) is not None


@pytest.mark.parametrize(("regex", "matched"), JAVA)
def test_what_is_translated_matches_as_in_java(regex: str, matched: str) -> None:
    assert [name for name in NAMES if _matches(regex, name)] == matched.split()


@pytest.mark.parametrize(("regex", "word"), REFUSED)
def test_what_the_dialects_do_not_share_is_refused_with_the_reason(regex: str, word: str) -> None:
    with pytest.raises(CannotPreviewError, match=re.escape(word)):
        dialect.translate(regex)


def test_a_list_of_plain_names_is_known_as_such() -> None:
    assert dialect.literals("orders|clicks") == frozenset({"orders", "clicks"})
    assert dialect.literals("orders|audit.*") is None


@settings(max_examples=full.pick(200, 1000))
@given(regex=st.text(alphabet="ab()[]{}*+?|^$.\\-&0129,QE:=!<>i", max_size=30))
def test_any_text_is_translated_to_what_the_engine_reads_or_refused(regex: str) -> None:
    assert _outcome(regex) in {"read", "refused", "a repetition over the engine's limit"}


def _outcome(regex: str) -> str:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(dialect.translate(regex), options)
    except CannotPreviewError:
        return "refused"
    except re2.error as error:
        return "a repetition over the engine's limit" if "repetition" in str(error) else str(error)
    return "read"


def test_very_long_and_very_deep_expressions_end() -> None:
    assert len(dialect.translate("(" * 1000 + "a" + ")" * 1000)) > 2000
    with pytest.raises(CannotPreviewError, match="characters"):
        dialect.translate("a" * (dialect.LONGEST + 1))
