"""What of a table is read and written anew: days that got rows, of large ones the hours, what still lasts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.history.writing import held, put
from zkdash.history.store import derived
from zkdash.history.store.delta import DAY, Table
from zkdash.pipeline.storage import day_partitions, spark_files
from zkdash.time_units import DAY_MS, HOUR_MS

FIRST_DAY = "1970-01-02"
COLUMNS = ("topic", "partition", "from_zxid", "from_ms", "to_ms")


def interval(partition: int, from_ms: int, to_ms: int | None = None) -> dict[str, Any]:
    return {
        "topic": "orders",
        "partition": partition,
        "from_zxid": partition + 1,
        "from_ms": from_ms,
        "to_ms": to_ms,
    }


@pytest.mark.spark
def test_of_a_day_of_many_rows_the_hours_that_got_rows_are_written_anew(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(day_partitions, "MOST_ROWS_A_DAY", 3)
    table = Table(tmp_path / "partition_intervals")
    schema = derived.TABLES[table.name]
    merge = day_partitions.keyed("topic", "partition", "from_zxid")

    def brought(rows: list[dict[str, Any]], position: int) -> set[str]:
        """Put the rows into the table; the files that went."""
        filled = [dict.fromkeys(schema.names) | row for row in rows]
        kind = day_partitions.none(spark, schema).schema
        new = day_partitions.dated(
            spark.createDataFrame([tuple(row[name] for name in schema.names) for row in filled], kind),
            "from_ms",
        )
        now = table.read()
        hours = day_partitions.hours(new, "from_ms")
        touched = day_partitions.of_hours(now, hours, "from_ms")
        old = day_partitions.dated(spark_files.read(spark, table, schema, touched), "from_ms")
        day_partitions.put(
            table,
            merge(old, new),
            base=now,
            removed=touched,
            order=["from_ms"],
            position={"derived:txnlog": position},
            large=day_partitions.large(hours, day_partitions.of_days(now, hours)),
        )
        return {file.path for file in touched}

    few = [interval(0, DAY_MS), interval(1, DAY_MS + 5 * HOUR_MS), interval(2, DAY_MS + 5 * HOUR_MS)]
    assert brought(few, 1) == set()
    [whole] = table.read().files
    assert whole.partition == {DAY: FIRST_DAY}
    # one more than a file of a day holds: from now on each hour has its own
    assert brought([interval(3, DAY_MS + 9 * HOUR_MS), interval(0, DAY_MS, DAY_MS + 1)], 2) == {whole.path}
    by_hour = {file.bounds["from_ms"][0]: file for file in table.read().files}
    assert sorted((at - DAY_MS) // HOUR_MS for at in by_hour) == [0, 5, 9]
    assert {file.partition[DAY] for file in by_hour.values()} == {FIRST_DAY}
    ended = interval(3, DAY_MS + 9 * HOUR_MS, DAY_MS + 10 * HOUR_MS)
    assert brought([ended, interval(4, 2 * DAY_MS)], 3) == {by_hour[DAY_MS + 9 * HOUR_MS].path}
    assert by_hour[DAY_MS].path in {file.path for file in table.read().files}
    found = [{name: row[name] for name in COLUMNS} for row in held(tmp_path, table.name)]
    wanted = [interval(0, DAY_MS, DAY_MS + 1), *few[1:], ended, interval(4, 2 * DAY_MS)]
    assert sorted(found, key=str) == sorted(wanted, key=str)


def test_files_of_intervals_that_ended_long_ago_are_not_read(tmp_path: Path) -> None:
    put(tmp_path, "sessions", [{"session": 1, "from_ms": 10, "to_ms": 20}])
    put(tmp_path, "sessions", [{"session": 2, "from_ms": 10, "to_ms": 20}, {"session": 3, "from_ms": 11}])
    put(tmp_path, "sessions", [{"session": 4, "from_ms": 12}])
    put(tmp_path, "sessions", [{"session": 5, "from_ms": 10, "to_ms": 500}])
    table = Table(tmp_path / "sessions")
    ended, mixed, lasting, late = 1, 2, 4, 5

    def left(since_ms: float) -> set[int]:
        """The least session of each file."""
        files = day_partitions.lasting(table.read().files, since_ms)
        return {file.bounds["session"][0] for file in files}

    assert left(15) == {ended, mixed, lasting, late}
    assert left(400) == {mixed, lasting, late}
    assert left(float("inf")) == {mixed, lasting}
