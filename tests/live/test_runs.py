"""Runs of the pipeline, as open pages are told of them."""

from __future__ import annotations

from tests.waiting import wait_for
from zkdash.actions.reading.entries import UnavailableError
from zkdash.live.runs import EMPTY, PipelineRuns, Run

RUN = Run(1, "all", "running", "ann", 5, 6, None, 0, 0, None, 10, "reading", None)


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
    reader, now = Reader(), [0.0]
    runs = PipelineRuns(reader, clock=lambda: now[0])
    runs.turn()
    assert reader.asked == 0
    runs.want("shop")
    now[0] = 30.0
    runs.turn()
    assert runs.current("shop").runs == (RUN,)
    now[0] = 30.1
    runs.turn()
    assert reader.asked == 1
    assert runs.current("shop") is EMPTY


def test_a_database_that_is_away_leaves_what_was_known_and_a_sentence() -> None:
    reader = Reader()
    runs = PipelineRuns(reader)
    runs.want("shop")
    runs.turn()
    reader.away = True
    runs.turn()
    assert runs.current("shop").runs == (RUN,)
    assert runs.current("shop").trouble == "Runs cannot be read."
    reader.away = False
    runs.turn()
    assert runs.current("shop").trouble == ""


def test_what_was_just_queued_is_read_at_once() -> None:
    reader = Reader()
    runs = PipelineRuns(reader)
    runs.hold("shop", ())
    runs.start()
    try:
        wait_for(lambda: runs.current("shop").runs)
        reader.found = ()
        runs.poke()
        wait_for(lambda: not runs.current("shop").runs)
    finally:
        runs.stop()
    assert runs.current("shop") is EMPTY


def test_without_a_reader_nothing_is_read_and_what_a_request_read_is_shown() -> None:
    runs = PipelineRuns()
    runs.start()
    runs.want("shop")
    runs.turn()
    assert runs.current("shop") is EMPTY
    runs.hold("shop", (RUN,))
    assert runs.current("shop").runs == (RUN,)
    runs.stop()
