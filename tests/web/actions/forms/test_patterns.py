"""Names and patterns in a form: how many are looked for, and what is said where there are more."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from tests.web import states
from zkdash.web.actions.forms import patterns
from zkdash.web.actions.forms.fields import NewGroupsField, TopicsField

KNOWN = dict.fromkeys(("orders", "payments", "a*b"))


def test_names_and_patterns_are_found_and_what_matches_nothing_is_told() -> None:
    found = patterns.chosen("orders, pay*\na*b gone x?", KNOWN)
    assert found == patterns.Chosen(("a*b", "orders", "payments"), ("gone", "x?"))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "\n".join(f"a{number}*" for number in range(51)),
            "These are 51 patterns; 50 at a time are the most.",
        ),
        ("*" + "a" * 300, "A pattern has 301 characters; 300 are the most."),
        (" ".join(map(str, range(50_001))), "These are 50,001 names; 50,000 at a time are the most."),
    ],
)
def test_more_than_can_be_looked_for_is_refused_in_a_sentence(text: str, fault: str) -> None:
    assert patterns.chosen(text, KNOWN) == patterns.Chosen((), (), fault)
    field = TopicsField()
    field.state = states.load(states.healthy())
    with pytest.raises(ValidationError, match=fault):
        field.clean(text)


def test_the_same_word_again_and_again_is_one() -> None:
    assert patterns.chosen("orders* " * 1_000, KNOWN).names == ("orders",)


def test_new_groups_among_patterns_that_match_nothing_are_told_at_once() -> None:
    field = NewGroupsField()
    with pytest.raises(ValidationError, match='No group matches "x\\*"'):
        field.clean("x* " + " ".join(f"g{number}" for number in range(40_000)))
