"""Whether the database can be written, while it answers, refuses, fails and hangs."""

from __future__ import annotations

import threading

import pytest

from tests.waiting import wait_for
from zkdash.live.database_probe import DatabaseProbe


def test_what_a_probe_told_last_counts_where_the_next_one_fails() -> None:
    answers = iter(["its disk is full"])
    probe = DatabaseProbe(lambda: next(answers))
    probe.turn()
    with pytest.raises(StopIteration):
        probe.turn()
    assert probe.trouble() == "its disk is full"


def test_a_database_that_hangs_is_said_not_to_answer_until_it_does() -> None:
    now, entered, answered = [0.0], threading.Event(), threading.Event()

    def hang() -> str:
        entered.set()
        answered.wait(60)
        return ""

    probe = DatabaseProbe(hang, clock=lambda: now[0])
    probe.start()
    assert entered.wait(60)
    now[0] = 10.0
    assert probe.trouble() == ""
    now[0] = 10.1
    assert probe.trouble() == "it does not answer"
    answered.set()
    wait_for(lambda: not probe.trouble())
    probe.stop()
