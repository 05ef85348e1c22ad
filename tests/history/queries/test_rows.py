"""Rows of derived tables, by time and by name, page by page, from real files."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.history.writing import put
from zkdash.history.queries import rows
from zkdash.history.queries.rows import Question, Rows
from zkdash.history.store import derived, derived_columns
from zkdash.history.store.tables import Tables

# from, to: one that ended before, two across an edge, one within, one that lasts, one that begins later.
TERMS = {1: (0, 90), 2: (50, 100), 3: (50, 101), 4: (120, 130), 5: (10, None), 6: (199, 300), 7: (200, None)}


def ask(directory: Path, question: Question) -> Rows:
    with Tables(directory, (question.table,)) as tables:
        return rows.look(tables, question)


def test_a_stretch_is_of_every_time_that_it_touches(tmp_path: Path) -> None:
    put(
        tmp_path,
        "broker_sessions",
        [{"broker": broker, "from_ms": first, "to_ms": last} for broker, (first, last) in TERMS.items()],
    )
    found = ask(tmp_path, Question("broker_sessions", 100, 200))
    assert [row["broker"] for row in found.rows] == [6, 4, 2, 3, 5]
    assert (found.matched, found.page, found.pages) == (5, 1, 1)
    assert found.rows[-1]["to_ms"] is None
    assert list(found.rows[0]) == derived.TABLES["broker_sessions"].names


def test_names_are_all_to_hold_and_nothing_in_them_is_sql(tmp_path: Path) -> None:
    hostile = "x' OR '1'='1"
    lags = [
        {"group": group, "topic": topic, "part": "0", "minute": 60_000, "lag": 1}
        for group in ("a", "b", hostile)
        for topic in ("t", "u")
    ]
    put(tmp_path, "lag_estimates", lags)

    def chosen(*names: tuple[str, str | int]) -> list[tuple[str, str]]:
        found = ask(tmp_path, Question("lag_estimates", 0, 100_000, names))
        return [(row["group"], row["topic"]) for row in found.rows]

    assert chosen(("group", "a")) == [("a", "t"), ("a", "u")]
    assert chosen(("topic", "u"), ("group", "b")) == [("b", "u")]
    assert chosen(("group", hostile)) == [(hostile, "t"), (hostile, "u")]
    assert chosen(("group", "none")) == []


def test_pages_neither_repeat_nor_miss_a_row_of_one_instant(tmp_path: Path) -> None:
    samples = [{"topic": f"t{n}", "part": "0", "time": n // 50, "log_end": n} for n in range(230)]
    random.Random(7).shuffle(samples)  # noqa: S311 - any order will do
    put(tmp_path, "log_ends", samples[:100])
    put(tmp_path, "log_ends", samples[100:])
    pages = [ask(tmp_path, Question("log_ends", 0, 10, page=page, size=50)) for page in range(1, 6)]
    assert [len(page.rows) for page in pages] == [50, 50, 50, 50, 30]
    assert sorted(row["log_end"] for page in pages for row in page.rows) == list(range(230))
    times = [row["time"] for page in pages for row in page.rows]
    assert times == sorted(times, reverse=True)
    beyond = ask(tmp_path, Question("log_ends", 0, 10, page=99, size=50))
    assert (beyond.rows, beyond.page, beyond.pages) == (pages[-1].rows, 5, 5)


def test_how_far_back_pages_go_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MOST_BEFORE", 100)
    put(tmp_path, "idle_groups", [{"group": f"g{n:03}"} for n in range(230)])
    found = ask(tmp_path, Question("idle_groups", 0, 1, page=4, size=50))
    assert (found.matched, found.page, found.pages) == (230, 2, 2)
    assert [row["group"] for row in found.rows] == [f"g{n:03}" for n in range(50, 100)]


@pytest.mark.parametrize("table", derived.TABLES)
def test_every_derived_table_can_be_asked_by_each_of_its_names(tmp_path: Path, table: str) -> None:
    names = tuple((name, 1 if name in {"broker", "session"} else "x") for name in rows.names(table))
    assert ask(tmp_path, Question(table, 0, 1, names)) == Rows()
    assert rows.has_time(table) == (table not in {"idle_groups", "log_segments", "replica_logs"})
    assert derived_columns.MEANINGS[table].endswith(".")
