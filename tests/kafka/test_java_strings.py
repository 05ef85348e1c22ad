"""Java's hash and order of text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.kafka import java_strings


@pytest.mark.parametrize(
    ("text", "code"),
    [("", 0), ("hello", 99162322), ("[t1,0]", -1581082495), ("t1-0", 3504288), ("\U0001f600", 1772899)],
)
def test_text_hashes_as_in_java(text: str, code: int) -> None:
    assert java_strings.java_hash(text) == code


@given(one=st.text(), other=st.text())
def test_a_hash_goes_on_from_the_hash_of_what_comes_before(one: str, other: str) -> None:
    assert java_strings.java_hash(other, java_strings.java_hash(one)) == java_strings.java_hash(one + other)


def test_text_sorts_by_utf_16_units() -> None:
    assert java_strings.java_sorted(["\uffe6", "\U0001f600", "z-2", "z-10"]) == [
        "z-10",
        "z-2",
        "\U0001f600",
        "\uffe6",
    ]
