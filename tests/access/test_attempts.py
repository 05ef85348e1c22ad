"""Attempts are counted before they are judged: on both databases, however many come at the same time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec
import pytest

from tests.databases import Database, in_threads
from zkdash.access import attempts
from zkdash.access.attempts import OF_ADDRESS, OF_NAME, TooManyError
from zkdash.access.models import Attempts
from zkdash.configuration.limits import Limits

LIMITS = msgspec.structs.replace(Limits(), name_attempts=5, address_attempts=12, attempts_s=60.0)
NOW = 1_700_000_000.0
AT_ONCE = 30

pytestmark = pytest.mark.usefixtures("database")


def take(name: str = "alice", address: str | None = "10.0.0.1", now: float = NOW) -> str:
    """The limit that refuses it, "" where it may be judged."""
    try:
        attempts.take(name, address, LIMITS, now)
    except TooManyError as error:
        return f"{error.limit}, first" if error.is_first else error.limit
    return ""


def taking(*of: tuple[str, str]) -> list[Callable[[], str]]:
    return [lambda name=name, address=address: take(name, address) for name, address in of]  # type: ignore[misc]


def test_of_those_that_come_at_once_only_so_many_are_judged(database: Database) -> None:
    found = Counter(in_threads(*taking(*[("alice", "10.0.0.1")] * AT_ONCE)))
    assert found == {"": 5, f"{OF_NAME}, first": 1, OF_NAME: AT_ONCE - 6}


def test_names_that_are_invented_at_once_are_one_address(database: Database) -> None:
    found = Counter(in_threads(*taking(*[(f"name {number}", "10.0.0.1") for number in range(AT_ONCE)])))
    assert found == {"": 12, f"{OF_ADDRESS}, first": 1, OF_ADDRESS: AT_ONCE - 13}
    # Nothing is kept of those that were refused: whoever invents names fills no table.
    assert Attempts.objects.count() == 13


def test_those_that_take_and_give_back_at_once_wait_for_nobody_for_ever(database: Database) -> None:
    def turn(number: int) -> str:
        found = take(f"name {number % 3}", "10.0.0.1")
        if not found:
            attempts.give_back(f"name {number % 3}", "10.0.0.1", LIMITS)
        return found

    in_threads(*[lambda number=number: turn(number) for number in range(AT_ONCE)])
    assert Attempts.objects.get().counted == 0


def test_each_address_has_its_own_and_each_name_there() -> None:
    assert [take() for _ in range(6)] == [""] * 5 + [f"{OF_NAME}, first"]
    assert take("alice", "10.0.0.2") == take("bob") == ""
    # Of the address that was refused a name nothing was counted.
    assert [take(f"name {number}") for number in range(7)] == [""] * 6 + [f"{OF_ADDRESS}, first"]
    assert take("alice", "10.0.0.2") == ""


def test_of_a_proxys_own_address_only_names_are_limited() -> None:
    assert {take(f"name {number}", None) for number in range(20)} == {""}
    assert [take("alice", None) for _ in range(6)] == [""] * 5 + [f"{OF_NAME}, first"]


def test_a_count_ends_with_its_time_and_tells_how_long_that_is() -> None:
    for second in range(5):
        assert take(now=NOW + second) == ""
    with pytest.raises(TooManyError) as raised:
        attempts.take("alice", "10.0.0.1", LIMITS, NOW + 59.5)
    assert raised.value.wait_s == 1
    assert take(now=NOW + 60) == ""
    assert [take(now=NOW + 61) for _ in range(5)] == [""] * 4 + [f"{OF_NAME}, first"]


def test_a_clock_that_was_ahead_locks_nobody_out_for_ever() -> None:
    assert [take(now=NOW + 1_000_000) for _ in range(5)] == [""] * 5
    assert take(now=NOW) == ""


def test_who_succeeds_ends_the_count_of_the_name_and_gives_the_address_one_back() -> None:
    for _ in range(4):
        take()
    take()
    attempts.give_back("alice", "10.0.0.1", LIMITS)
    assert [take() for _ in range(6)] == [""] * 5 + [f"{OF_NAME}, first"]
    assert [take(f"name {number}") for number in range(4)] == [""] * 3 + [f"{OF_ADDRESS}, first"]


def test_what_is_over_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "_forgotten", -attempts._FORGET_EVERY_S)
    take("alice")
    take("bob", now=NOW + 59)
    monkeypatch.setattr(attempts, "_forgotten", -attempts._FORGET_EVERY_S)
    take("carol", "10.0.0.2", now=NOW + 61)
    assert Attempts.objects.count() == 3  # bob's, and carol's two
