"""What the database told last of somebody counts for a while; while it is away, not everybody asks it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest
from django.db import OperationalError, ProgrammingError

from zkdash.access import holders, remembered
from zkdash.access.remembered import AGAIN_S, Memory
from zkdash.access.rights import Rights
from zkdash.access.roles import Role

ALICE = Rights(1, "alice", (("*", Role.OPERATOR),))
KEPT_S = 60.0


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Database:
    """What `holders.read` asks here: it counts, and tells what it is told to tell."""

    def __init__(self) -> None:
        self.rights: dict[str, Rights] = {}
        self.asked = 0
        self.error: Exception | None = None

    def read(self, asked: Collection[str], **_: Any) -> Mapping[str, Rights]:
        self.asked += 1
        if self.error:
            raise self.error
        return {one: self.rights.get(one, Rights()) for one in asked}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Database:
    made = Database()
    monkeypatch.setattr(holders, "read", made.read)
    monkeypatch.setattr(holders, "MEMORY", Memory(lambda: KEPT_S, clock=clock, most=3))
    return made


def known(*asked: str, anonymous_reads: bool = False) -> Mapping[str, Rights | None]:
    return holders.known(asked, anonymous_reads=anonymous_reads)


def test_what_was_told_last_counts_for_so_long_and_then_nothing_is_known(
    database: Database, clock: Clock
) -> None:
    database.rights["a"] = ALICE
    assert known("a") == {"a": ALICE}
    database.error = OperationalError("away")
    clock.now = KEPT_S
    assert known("a", "b") == {"a": ALICE, "b": None}
    clock.now += 0.1
    assert known("a") == {"a": None}
    database.error = None
    assert known("a", "b") == {"a": ALICE, "b": Rights()}


def test_a_right_that_was_lost_is_not_remembered(database: Database) -> None:
    database.rights["a"] = ALICE
    known("a")
    del database.rights["a"]
    assert known("a") == {"a": Rights()}
    database.error = OperationalError("away")
    assert known("a") == {"a": None}


def test_while_it_is_away_only_one_asks_from_time_to_time(database: Database, clock: Clock) -> None:
    database.rights["a"] = ALICE
    known("a")
    database.error = OperationalError("away")
    database.asked = 0
    for _ in range(50):
        known("a")
    assert database.asked == 1
    clock.now += AGAIN_S
    for _ in range(50):
        known("a")
    assert database.asked == 2
    known("somebody else")  # of whom nothing is known: only the database can tell
    assert database.asked == 3
    database.error = None
    clock.now += AGAIN_S
    for _ in range(5):
        known("a")
    assert database.asked == 8


def test_what_anybody_may_is_known_without_a_database(database: Database) -> None:
    database.error = OperationalError("away")
    anybody = Rights(grants=(("*", Role.VIEWER),))
    assert known("", "a", "token:b", anonymous_reads=True) == {"": anybody, "a": anybody, "token:b": None}
    assert known("") == {"": Rights()}


def test_a_failure_of_ours_is_none_of_the_database(database: Database) -> None:
    database.error = ProgrammingError("no such column")
    with pytest.raises(ProgrammingError):
        known("a")


def test_only_so_many_are_remembered(database: Database) -> None:
    for name in "abcd":
        database.rights[name] = ALICE
        known(name)
    database.error = OperationalError("away")
    assert known("a", "b", "c", "d") == {"a": None, "b": ALICE, "c": ALICE, "d": ALICE}


def test_it_is_told_once_that_it_is_away_and_once_that_it_is_back(
    database: Database, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger=remembered.__name__)
    for error in (OperationalError("away"), OperationalError("away"), None, None):
        database.error = error
        clock.now += AGAIN_S
        known("a")
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
