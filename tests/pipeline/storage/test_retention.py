"""What is too old really goes; what a kept moment needs, or what still lasts, stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.history.writing import day, put
from tests.lab.s3 import Bucket
from zkdash.history.places import remote
from zkdash.history.places.location import Location
from zkdash.history.store import coverage, files, watching
from zkdash.history.store.delta import Table
from zkdash.pipeline.storage import arrivals, retention
from zkdash.time_units import DAY_MS

NOW = 1_795_000_000_000 - 1_795_000_000_000 % DAY_MS


def change(zxid: int, age: int) -> dict[str, Any]:
    return {
        "zxid": zxid,
        "zxid_after": zxid - 1,
        "zxid_upto": zxid,
        "op_index": 0,
        "source": "txnlog",
        "time": NOW - age * DAY_MS,
        "type": "setData",
    }


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    write(tmp_path)
    return tmp_path


def write(directory: Location) -> None:
    """Ten days of one change a day: a file each; a checkpoint on every third."""
    for age in range(10, 0, -1):
        zxid = 11 - age
        put(directory, "changes", [change(zxid, age)])
        if zxid % 3 == 0:
            znode = {"path": "/", "zxid": zxid, "zxid_upto": zxid}
            put(directory, "znodes_checkpoint", [znode])
    put(directory, "coverage", [{"zxid_from": 1, "zxid_upto": 10}])
    held = Table(directory / "held")
    held.replace(held.read(), (), (), positions={"derived:txnlog": 10})


def on_disk(directory: Path, name: str) -> set[Path]:
    return set((directory / name).glob("**/part-*.parquet"))


def left(directory: Location, name: str, column: str) -> list[Any]:
    parts = files.each(Table(directory / name), columns=(column,))
    return sorted(value for part in parts for value in part[column].to_pylist())


def test_changes_go_up_to_the_checkpoint_that_the_kept_days_begin_with(tables: Path) -> None:
    done = retention.retain(tables, 4, now_ms=NOW, grace_ms=0)
    assert left(tables, "znodes_checkpoint", "zxid") == [6, 9]
    assert left(tables, "changes", "zxid") == [7, 8, 9, 10]
    assert coverage.stretches(Table(tables / "coverage")) == [(7, 10)]
    assert Table(tables / "coverage").read().position(coverage.FLOOR) == 6
    assert coverage.holds(arrivals.loaded(tables), 1, 10)
    assert arrivals.loaded_snapshots(tables, {3, 6, 9, 12}) == {3, 6, 9}
    assert done.has_checkpoint
    assert done.deleted
    for name in ("changes", "znodes_checkpoint", "coverage"):
        assert on_disk(tables, name) == set(Table(tables / name).paths()), name


def test_of_tables_in_an_object_store_the_same_goes(bucket: Bucket) -> None:
    shop = bucket.fresh() / "shop"
    write(shop)
    done = retention.retain(shop, 4, now_ms=NOW, grace_ms=0)
    assert left(shop, "znodes_checkpoint", "zxid") == [6, 9]
    assert left(shop, "changes", "zxid") == [7, 8, 9, 10]
    assert coverage.stretches(Table(shop / "coverage")) == [(7, 10)]
    assert (done.has_checkpoint, done.retired) == (True, 7)
    for name in ("changes", "znodes_checkpoint", "coverage"):
        there = {entry.path for entry in remote.parquet(shop / name, "")}
        listed = {file.path for file in Table(shop / name).read().files}
        assert {path for path in there if "_delta_log" not in path} == listed, name


def test_what_left_the_list_stays_for_readers_until_the_grace_is_over(tables: Path) -> None:
    before = on_disk(tables, "changes")
    assert retention.retain(tables, 4, now_ms=NOW).deleted == 0
    assert on_disk(tables, "changes") >= before
    assert retention.retain(tables, 4, now_ms=NOW, grace_ms=0).deleted > 0
    assert on_disk(tables, "changes") < before


def test_without_a_checkpoint_or_before_it_was_derived_from_all_changes_stay(tables: Path) -> None:
    held = Table(tables / "held")
    held.replace(held.read(), (), (), positions={"derived:txnlog": 2})
    assert not retention.retain(tables, 4, now_ms=NOW, grace_ms=0).has_checkpoint
    assert len(left(tables, "changes", "zxid")) == 10
    held.replace(held.read(), (), (), positions={"derived:txnlog": 10})
    assert not retention.retain(tables, 30, now_ms=NOW, grace_ms=0).has_checkpoint


def test_old_days_of_derived_tables_go_but_not_what_still_lasts(tables: Path) -> None:
    spans = Table(tables / "partition_intervals")
    for age in (10, 5, 4, 1):
        begun = NOW - age * DAY_MS
        row = {"minute": begun, "prefix": "/", "writes": 1, "bytes": 1}
        put(tables, "hot_paths", [row])
    begun = NOW - 10 * DAY_MS
    ends = {"short": begun + 1, "long": NOW - DAY_MS, "open": None}
    rows = [{"topic": name, "partition": 0, "from_ms": begun, "to_ms": end} for name, end in ends.items()]
    put(tables, "partition_intervals", rows)
    retention.retain(tables, 4, now_ms=NOW, grace_ms=0)
    assert left(tables, "hot_paths", "minute") == [NOW - 4 * DAY_MS, NOW - DAY_MS]
    assert left(tables, "partition_intervals", "topic") == ["long", "open"]
    assert {file.partition["date"] for file in spans.read().files} == {day(begun)}
    again = spans.read()
    retention.retain(tables, 4, now_ms=NOW, grace_ms=0)
    assert spans.read().files == again.files


def test_of_times_that_are_too_old_nothing_is_known_any_more(tables: Path) -> None:
    """Also where all changes stay, since what was derived of them does not."""
    ages = ((10, 6), (5, 1))
    spans = [(NOW - first * DAY_MS, NOW - last * DAY_MS) for first, last in ages]
    rows = [{"from_ms": first, "to_ms": last, "from_zxid": first, "to_zxid": last} for first, last in spans]
    put(tables, "covered_times", rows)
    table = Table(tables / "covered_times")
    table.replace(table.read(), (), (), positions={"derived:txnlog": 10})
    retention.retain(tables, 4, now_ms=NOW, grace_ms=0)
    assert left(tables, "covered_times", "from_ms") == [NOW - 4 * DAY_MS]
    assert left(tables, "covered_times", "to_ms") == [NOW - DAY_MS]
    again = table.read()
    assert again.position("derived:txnlog") == 10
    retention.retain(tables, 4, now_ms=NOW, grace_ms=0)
    assert table.read().files == again.files
    retention.retain(tables, 1, now_ms=NOW + DAY_MS, grace_ms=0)
    assert table.read().files == ()


def test_what_was_watched_goes_with_its_changes(tables: Path) -> None:
    watched = Table(tables / "watched")
    for first, last, why in ((1, 4, "begun"), (5, 8, None), (10, 10, "cut")):
        row = {"zxid_from": first, "zxid_upto": last, "from_ms": first, "to_ms": last}
        put(tables, "watched", [{**row, "why": why, "is_caught_up": why == "cut"}])
    retention.retain(tables, 4, now_ms=NOW, grace_ms=0)
    assert left(tables, "watched", "zxid_from") == [7, 10]
    assert watching.stretches(watched) == [(7, 10)]
    assert [gap.zxid_after for gap in watching.gaps(watched)] == [8]
    assert on_disk(tables, "watched") == set(watched.paths())
    again = watched.read()
    retention.retain(tables, 4, now_ms=NOW, grace_ms=0)
    assert watched.read().files == again.files


def test_a_gap_at_the_checkpoint_that_was_caught_up_stays_one(tables: Path) -> None:
    watched = Table(tables / "watched")
    rows = [
        {"zxid_from": 1, "zxid_upto": 4, "from_ms": 1, "to_ms": 2, "why": "begun", "is_caught_up": False},
        {"zxid_from": 9, "zxid_upto": 10, "from_ms": 3, "to_ms": 4, "why": "cut", "is_caught_up": True},
    ]
    put(tables, "watched", rows)
    retention.retain(tables, 4, now_ms=NOW, grace_ms=0)
    assert watching.stretches(watched) == [(7, 10)]
    assert [(gap.zxid_after, gap.zxid_upto) for gap in watching.gaps(watched)] == [(6, 8)]


def test_of_offsets_in_kafka_the_last_one_stays_however_old_it_is(tables: Path) -> None:
    commits = Table(tables / "kafka_commits")
    ages: tuple[tuple[str, int | None], ...]
    ages = (("a", 9), ("a", 8), ("b", 9), ("b", 1), ("a", None), ("a", 7), ("c", 1), ("c", 2))
    times = [None if age is None else NOW - age * DAY_MS for _, age in ages]
    for at, ((name, _), ms) in enumerate(zip(ages, times, strict=True)):
        record = {"group": name, "log_partition": 3, "log_offset": at, "deleted": False}
        of = {"topic": "orders", "part": "0", "commit_ms": ms}
        put(tables, "kafka_commits", [record | of])
        put(tables, "kafka_groups", [record | {"time": ms, "members": []}])
    retention.retain(tables, 4, now_ms=NOW, grace_ms=0)
    # Of "a" what nobody knows the age of, and the last one; of "b" and "c" what is young.
    assert left(tables, "kafka_commits", "log_offset") == [3, 4, 5, 6, 7]
    assert left(tables, "kafka_groups", "log_offset") == [3, 4, 5, 6, 7]
    assert on_disk(tables, "kafka_commits") == set(commits.paths())
    again = commits.read()
    retention.retain(tables, 4, now_ms=NOW, grace_ms=0)
    assert commits.read().files == again.files
