"""The circuit breaker: whoever fails twice is left alone, longer each time."""

from __future__ import annotations

from zkdash.broker.breaker import FIRST_S, MOST_S, Breaker


def exact() -> Breaker:
    """One whose pauses are not shortened by chance."""
    return Breaker(chance=lambda: 0.0)


def test_one_failure_leaves_it_closed() -> None:
    breaker = exact()
    breaker.failed("no answer", now=100.0)
    assert not breaker.is_open(100.0)
    assert breaker.reason == "no answer"


def test_two_failures_in_a_row_open_it_for_a_while() -> None:
    breaker = exact()
    breaker.failed("first", now=100.0)
    breaker.failed("second", now=101.0)
    assert breaker.is_open(101.0 + FIRST_S - 0.1)
    assert not breaker.is_open(101.0 + FIRST_S)
    assert breaker.reason == "second"


def test_a_probe_that_fails_opens_it_for_twice_as_long_up_to_a_bound() -> None:
    breaker, now, pauses = exact(), 0.0, []
    breaker.failed("down", now)
    for _ in range(7):
        breaker.failed("down", now)
        pause = next(s for s in range(1, 200) if not breaker.is_open(now + s))
        pauses.append(pause)
        now += pause
    assert pauses == [5, 10, 20, 40, 60, 60, 60]
    assert pauses[-1] == MOST_S


def test_a_success_forgets_all_failures() -> None:
    breaker = exact()
    for _ in range(9):
        breaker.failed("down", now=0.0)
    breaker.succeeded()
    assert breaker.reason is None
    breaker.failed("down", now=1.0)
    assert not breaker.is_open(1.0)
    breaker.failed("down", now=1.0)
    assert not breaker.is_open(1.0 + FIRST_S)


def test_chance_shortens_a_pause_by_a_quarter_at_most() -> None:
    breaker = Breaker(chance=lambda: 1.0)
    breaker.failed("down", now=0.0)
    breaker.failed("down", now=0.0)
    assert breaker.is_open(0.75 * FIRST_S - 0.01)
    assert not breaker.is_open(0.75 * FIRST_S)
