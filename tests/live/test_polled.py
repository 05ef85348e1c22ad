"""What is polled of a database, whatever it is: what holds of the thread that asks."""

from __future__ import annotations

import logging

import msgspec
import pytest

from tests.waiting import wait_for
from zkdash.live import engine, pollers
from zkdash.live.polled import Polled, Wanted


class Counted(msgspec.Struct, frozen=True):
    turns: int = 0
    trouble: str = ""


class Counter(Polled[Counted]):
    """Counts its turns, of which the first fails."""

    def __init__(self) -> None:
        super().__init__("Counting", Counted())
        self.turns = 0

    def turn(self) -> None:
        self.turns += 1
        if self.turns == 1:
            raise RuntimeError("a mistake of ours")
        self._publish("c", Counted(self.turns))

    def tell(self, trouble: str) -> None:
        self._fail(("c",), trouble)


def test_a_turn_that_fails_is_logged_and_the_next_one_comes(caplog: pytest.LogCaptureFixture) -> None:
    counter = Counter()
    counter.start()
    try:
        counter.poke()
        wait_for(lambda: counter.current("c").turns)
    finally:
        counter.stop()
    assert "Counting failed" in caplog.text
    assert counter.current("c") == Counted()


def test_trouble_keeps_what_was_known_and_the_log_hears_of_it_once(caplog: pytest.LogCaptureFixture) -> None:
    counter = Counter()
    counter.turns = 1
    counter.turn()
    with caplog.at_level(logging.WARNING):
        counter.tell("It is away.")
        counter.tell("It is away.")
    assert counter.current("c") == Counted(2, "It is away.")
    assert caplog.text.count("It is away.") == 1


def test_what_is_wanted_is_wanted_for_half_a_minute() -> None:
    now, gone = [0.0], list[str]()
    wanted = Wanted[str](lambda: now[0])
    wanted.want("a")
    now[0] = 20.0
    wanted.want("b")
    now[0] = 30.0
    assert wanted.standing(gone.append) == ("a", "b")
    now[0] = 31.0
    assert wanted.standing(gone.append) == ("b",)
    assert gone == ["a"]


def test_without_an_engine_nothing_is_polled() -> None:
    assert engine.configured() is None
    assert engine.polled() is pollers.NONE
    assert not engine.polled().queue.current("c").read
