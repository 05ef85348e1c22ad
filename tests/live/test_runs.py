"""Runs of the pipeline, as open pages are told of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.waiting import wait_for
from zkdash.actions.reading.entries import UnavailableError
from zkdash.live import runs
from zkdash.live.runs import Poller, Run

RUN = Run(1, "all", "running", "ann", 5, 6, None, 0, 0, None, 10, "reading", None)


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    runs.clear()
    yield
    runs.clear()


class Reader:
    """What a database holds; it may be away. `asked` counts."""

    def __init__(self) -> None:
        self.found: tuple[Run, ...] = (RUN,)
        self.away = False
        self.asked = 0

    def __call__(self, cluster: str) -> tuple[Run, ...]:
        self.asked += 1
        if self.away:
            raise UnavailableError("Runs cannot be read.")
        return self.found


def test_nobody_is_asked_before_somebody_looks_or_after_they_went() -> None:
    reader, now = Reader(), [1e9]
    poller = Poller(reader, clock=lambda: now[0])
    poller.turn()
    assert reader.asked == 0
    runs.want("shop")
    now[0] = 0.0
    poller.turn()
    assert runs.current("shop").runs == (RUN,)
    now[0] = 1e9
    poller.turn()
    assert reader.asked == 1
    assert runs.current("shop") is runs.EMPTY


def test_a_database_that_is_away_leaves_what_was_known_and_a_sentence() -> None:
    reader = Reader()
    poller = Poller(reader)
    runs.want("shop")
    poller.turn()
    reader.away = True
    poller.turn()
    assert runs.current("shop").runs == (RUN,)
    assert runs.current("shop").trouble == "Runs cannot be read."
    reader.away = False
    poller.turn()
    assert runs.current("shop").trouble == ""


def test_what_was_just_queued_is_read_at_once() -> None:
    reader = Reader()
    poller = Poller(reader)
    runs.hold("shop", ())
    poller.start()
    try:
        wait_for(lambda: runs.current("shop").runs, limit_s=5.0)
        reader.found = ()
        runs.poke()
        wait_for(lambda: not runs.current("shop").runs, limit_s=5.0)
    finally:
        poller.stop()
    assert runs.current("shop") is runs.EMPTY
