"""The numbers of the charts, asked of real Parquet files by the real DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.history.writing import MINUTE, day, put, read
from zkdash.history.queries import trends
from zkdash.history.queries import window as windows
from zkdash.history.queries.trends import Chart, HotPath, Trends
from zkdash.history.queries.window import Span, Window
from zkdash.history.store.delta import DAY, Table
from zkdash.history.store.tables import Tables
from zkdash.time_units import DAY_MS, HOUR_MS

START = 1_760_000_400_000  # 09:00 UTC of some day
START -= START % HOUR_MS
FIVE = Window(START, START + 5 * MINUTE, MINUTE)


def look(directory: Path, window: Window = FIVE) -> Trends:
    with Tables(directory, trends.TABLES) as tables:
        return trends.look(tables, window)


def chart(directory: Path, name: str, window: Window = FIVE) -> Chart:
    return next(one for one in look(directory, window).charts if one.id == name)


def lines(found: Chart) -> dict[str, tuple[float | None, ...]]:
    return {line.name: line.values for line in found.lines}


def rate(group: str, minute: int, per_second: float | None, part: str = "0") -> dict[str, Any]:
    return {
        "group": group,
        "topic": "orders",
        "part": part,
        "minute": START + minute * MINUTE,
        "offset": 1,
        "committed_ms": START + minute * MINUTE,
        "per_second": per_second,
        "commits": 1,
    }


@pytest.mark.parametrize(
    ("length", "step"),
    [
        (HOUR_MS, MINUTE),
        (6 * HOUR_MS, 5 * MINUTE),
        (DAY_MS, 15 * MINUTE),
        (7 * DAY_MS, HOUR_MS),
        (30 * DAY_MS, 6 * HOUR_MS),
        (365 * DAY_MS, DAY_MS),
        (4_000 * DAY_MS, DAY_MS),
    ],
)
def test_a_longer_window_has_longer_steps(length: int, step: int) -> None:
    window = windows.window(START + 1, START + length - 1)
    assert window.step_ms == step
    assert window.from_ms <= START + 1
    assert window.to_ms >= START + length - 1
    assert window.from_ms % step == window.to_ms % step == 0


def test_an_instant_is_a_window_of_one_step() -> None:
    assert list(windows.window(START, START).steps) == [START]


def test_without_tables_nothing_is_known_and_nothing_is_zero(tmp_path: Path) -> None:
    found = look(tmp_path)
    assert found.spans == ()
    assert all(one.lines == () and one.missing for one in found.charts)
    assert (found.hot_paths, found.writes) == ((), 0)


def test_a_minute_without_a_row_is_zero_where_it_was_read_and_unknown_elsewhere(tmp_path: Path) -> None:
    read(tmp_path, START + MINUTE, START + 3 * MINUTE)
    row = {"minute": START + 2 * MINUTE, "partitions": 3, "partition_seconds": 90.0}
    put(tmp_path, "under_replicated_minutes", [{**row, "offline_partitions": 1, "offline_seconds": 30.0}])
    assert lines(chart(tmp_path, "under-replicated")) == {
        "under-replicated": (None, 0.0, 1.5, 0.0, None),
        "without leader": (None, 0.0, 0.5, 0.0, None),
    }


def test_a_gap_between_two_logs_is_a_gap_in_the_lines(tmp_path: Path) -> None:
    read(tmp_path, START, START + MINUTE)
    read(tmp_path, START + 4 * MINUTE, START + 4 * MINUTE, zxid=100)
    put(tmp_path, "leader_churn", [{"minute": START, "topic": "orders", "changes": 2}])
    assert look(tmp_path).spans == (
        Span(START, START + MINUTE),
        Span(START + 4 * MINUTE, START + 4 * MINUTE),
    )
    assert lines(chart(tmp_path, "leader-churn"))["all topics"] == (2.0, 0.0, None, None, 0.0)


def test_files_of_other_times_are_not_opened(tmp_path: Path) -> None:
    """Everything a look reads is one file less: those of the window are asked alone."""
    read(tmp_path, START, START + 4 * MINUTE)
    read(tmp_path, START - DAY_MS, START - DAY_MS, zxid=100)
    begun = [{"group": "billing", "from_ms": START + at, "from_zxid": 1} for at in (0, -DAY_MS)]
    put(tmp_path, "rebalances", begun)
    wanted = look(tmp_path)
    for name in ("hot_paths", "rebalances"):
        table = Table(tmp_path / name)
        [other] = [file for file in table.read().files if file.partition[DAY] != day(START)]
        (table.directory / other.path).unlink()
    with Tables(tmp_path, trends.TABLES, bounds=trends.bounds(FIVE)) as tables:
        found = trends.look(tables, FIVE)
    assert found == wanted
    assert found.spans == (Span(START, START + 4 * MINUTE), Span(START - DAY_MS, START - DAY_MS))
    assert found.writes == 5


def test_the_highest_lines_are_shown_with_all_of_them_together_and_how_many_there_are(tmp_path: Path) -> None:
    read(tmp_path, START, START + 4 * MINUTE)
    rows = [{"minute": START, "topic": f"t{at}", "changes": at + 1} for at in range(9)]
    put(tmp_path, "leader_churn", rows)
    found = chart(tmp_path, "leader-churn")
    assert [line.name for line in found.lines] == ["all topics", "t8", "t7", "t6", "t5"]
    assert found.lines[0].values[0] == 45.0
    assert found.names == 9


def test_rebalances_count_where_they_begin(tmp_path: Path) -> None:
    read(tmp_path, START, START + 4 * MINUTE)
    begun = [{"group": "billing", "from_ms": START + at, "from_zxid": at} for at in (0, 1, 70_000)]
    put(tmp_path, "rebalances", [*begun, {"group": "audit", "from_ms": START - 1, "from_zxid": 9}])
    assert lines(chart(tmp_path, "rebalances")) == {
        "all groups": (2.0, 1.0, 0.0, 0.0, 0.0),
        "billing": (2.0, 1.0, 0.0, 0.0, 0.0),
    }


def test_a_rate_is_the_sum_over_partitions_of_their_means_and_never_made_up(tmp_path: Path) -> None:
    read(tmp_path, START, START + 9 * MINUTE)
    rates = [rate("billing", 0, 1.0), rate("billing", 1, 3.0), rate("billing", 1, 10.0, "1")]
    put(tmp_path, "offset_rates", [*rates, rate("billing", 6, None)])
    ten = Window(START, START + 10 * MINUTE, 5 * MINUTE)
    assert lines(chart(tmp_path, "commit-rates", ten)) == {"billing": (12.0, None)}


def test_lag_is_the_last_of_a_step_over_all_partitions(tmp_path: Path) -> None:
    read(tmp_path, START, START + 9 * MINUTE)
    lags = [
        {"group": "billing", "topic": "orders", "part": part, "minute": START + at * MINUTE, "lag": lag}
        for part, at, lag in (("0", 0, 5), ("0", 4, 7), ("1", 2, 100), ("0", 5, 0))
    ]
    put(tmp_path, "lag_estimates", lags)
    ten = Window(START, START + 10 * MINUTE, 5 * MINUTE)
    assert lines(chart(tmp_path, "lag", ten)) == {"billing": (107.0, 0.0)}


def test_disks_are_added_up_by_their_last_sample_of_a_step_and_unknown_where_nobody_looked(
    tmp_path: Path,
) -> None:
    usage = [
        {"minute": START + at * MINUTE, "broker": broker, "topic": topic, "bytes": size}
        for at, broker, topic, size in (
            (0, 1, "orders", 5),
            (1, 1, "orders", 9),
            (1, 2, "orders", 30),
            (1, 1, "clicks", 100),
        )
    ]
    put(tmp_path, "disk_usage", usage)
    ten = Window(START, START + 10 * MINUTE, 5 * MINUTE)
    assert lines(chart(tmp_path, "disk", ten)) == {
        "all topics": (139.0, None),
        "clicks": (100.0, None),
        "orders": (39.0, None),
    }


def test_hot_paths_are_those_with_most_writes_and_know_all_there_were(tmp_path: Path) -> None:
    read(tmp_path, START, START)
    rows = [
        {"minute": START, "prefix": prefix, "writes": writes, "bytes": writes * 2}
        for prefix, writes in (("/", 9), ("/consumers", 8), ("/consumers/billing", 8))
    ]
    put(tmp_path, "hot_paths", rows)
    found = look(tmp_path)
    assert found.writes == 10
    assert found.hot_paths == (
        HotPath("/consumers", 8, 16),
        HotPath("/consumers/billing", 8, 16),
        HotPath("/a", 1, 10),
    )
    assert [line.name for line in chart(tmp_path, "writes").lines] == ["all paths", "/consumers", "/a"]


def test_rows_outside_of_the_window_do_not_count(tmp_path: Path) -> None:
    read(tmp_path, START - 10 * MINUTE, START + 10 * MINUTE)
    assert look(tmp_path).writes == 5
    assert lines(chart(tmp_path, "writes"))["all paths"] == (1.0,) * 5


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (MINUTE, "a minute"),
        (5 * MINUTE, "5 minutes"),
        (HOUR_MS, "an hour"),
        (6 * HOUR_MS, "6 hours"),
        (DAY_MS, "a day"),
    ],
)
def test_a_step_is_told_in_words(step: int, words: str) -> None:
    assert trends.words(step) == words
