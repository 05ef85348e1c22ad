import pytest

from tests.waiting import wait_for


def test_it_returns_the_first_true_value() -> None:
    values = iter([0, None, "", "found", "later"])
    assert wait_for(lambda: next(values)) == "found"


def test_it_fails_at_the_limit_with_the_message_of_that_moment() -> None:
    seen = []
    with pytest.raises(AssertionError, match=r"not within 0\.02 s: looked \d+ times"):
        wait_for(lambda: seen.append(1), 0.02, lambda: f"looked {len(seen)} times")
