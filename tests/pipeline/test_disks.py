"""What lies on brokers' disks as tables: of real brokers' directories, and of some made to differ."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.formats import messages
from zkdash.configuration.log_dirs import LogDirs
from zkdash.formats.kafkalog import segment
from zkdash.formats.kafkalog.entries import Entry
from zkdash.history.store import derived
from zkdash.history.store.delta import Table
from zkdash.pipeline.disks import directories, tables
from zkdash.pipeline.disks.directories import Disk
from zkdash.time_units import HOUR_MS

pytestmark = pytest.mark.spark

SEGMENTS = Path(__file__).parents[1] / "fixtures" / "segments"
NOON = 1_795_348_800_000


def rows(directory: Path, name: str) -> list[dict[str, Any]]:
    table = Table(directory / name)
    read = [row for path in table.paths() for row in pq.read_table(path, partitioning=None).to_pylist()]
    assert all(list(row) == derived.TABLES[name].names for row in read)
    return read


def batch(base: int, value: bytes = b"v", newest: int = 2000) -> bytes:
    return messages.batch(base, [(0, 0, None, value, ()), (1, 0, None, b"", ())], newest=newest)


def write(directory: Path, log: str, base: int, data: bytes) -> Path:
    path = directory / log / f"{base:020}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def of(*paths: Path) -> tuple[LogDirs, ...]:
    return tuple(LogDirs(broker=at, directories=(str(path),)) for at, path in enumerate(paths, 1))


def test_segments_of_real_brokers_have_the_numbers_of_their_records(spark: Any, tmp_path: Path) -> None:
    brokers = sorted((SEGMENTS / "3.9.1").glob("broker-*"))
    unnamed = tuple(LogDirs(directories=(str(path),)) for path in brokers)
    taken = tables.take(spark, unnamed, tmp_path, now_ms=NOON)
    files = [path for path in (SEGMENTS / "3.9.1").glob("*/*/*.log") if "-delete" not in path.parent.name]
    listed = {
        (row["directory"], row["topic"], row["partition"]): row for row in rows(tmp_path, "log_segments")
    }
    assert (taken.directories, taken.segments, taken.read, taken.differing) == (3, len(files), len(files), 0)
    assert len(listed) == len(files)
    for path in files:
        topic, _, partition = path.parent.name.rpartition("-")
        row = listed[str(path.parents[1]), topic, int(partition)]
        entries = [each for each in segment.decode(path.read_bytes()) if isinstance(each, Entry)]
        # meta.properties says whose they are
        assert row["broker"] == int(path.parents[1].name.removeprefix("broker-"))
        assert row["bytes"] == row["whole_bytes"] == path.stat().st_size
        assert row["records"] == sum(len(each.records) for each in entries)
        assert row["next_offset"] == (entries[-1].last_offset + 1 if entries else 0)
    replicas = rows(tmp_path, "replica_logs")
    compared = [row for row in replicas if row["compared_upto"] is not None]
    assert compared
    assert {row["differing"] for row in compared} == {0}
    usage = rows(tmp_path, "disk_usage")
    assert sum(row["bytes"] for row in usage) == sum(path.stat().st_size for path in files)
    assert sum(row["partitions"] for row in usage) == len(files)


def test_a_directory_that_is_another_brokers_is_refused(tmp_path: Path) -> None:
    broker = SEGMENTS / "3.9.1" / "broker-2"
    with pytest.raises(ValueError, match=r"named as broker 7's, and its meta\.properties says 2"):
        directories.disks([LogDirs(broker=7, directories=(str(broker),))])
    assert directories.disks([LogDirs(directories=(str(broker),))]) == [Disk(2, str(broker))]
    assert directories.disks([LogDirs(directories=(str(tmp_path),))]) == [Disk(None, str(tmp_path))]


def test_replicas_that_differ_are_told_until_they_are_the_same_again(spark: Any, tmp_path: Path) -> None:
    first, second, kept = tmp_path / "a", tmp_path / "b", tmp_path / "tables"
    whole = [batch(base) for base in range(0, 12, 2)]
    for directory in (first, second):
        write(directory, "t-0", 0, b"".join(whole[:3]))
    write(first, "t-0", 6, b"".join(whole[3:]))
    changed = write(second, "t-0", 6, whole[3] + batch(8, b"else"))
    assert tables.take(spark, of(first, second), kept, now_ms=NOON).differing == 1
    (reference, replica) = rows(kept, "replica_logs")
    assert (reference["reference"], reference["log_end"], reference["compared_upto"]) == (None, 12, None)
    assert (replica["reference"], replica["log_end"], replica["compared_upto"]) == (1, 10, 10)
    assert (replica["differs_at"], replica["differing"]) == (8, 1)
    assert replica["difference"].startswith("broker 1 has checksum 0x")

    # as it is, nothing is read again and the same is told
    again = tables.take(spark, of(first, second), kept, now_ms=NOON)
    assert (again.read, again.differing) == (0, 1)
    assert rows(kept, "replica_logs")[1] == replica

    changed.write_bytes(b"".join(whole[3:]))
    mended = tables.take(spark, of(first, second), kept, now_ms=NOON)
    assert (mended.read, mended.differing) == (1, 0)
    assert rows(kept, "replica_logs")[1]["compared_upto"] == 12


def test_what_was_cleaned_is_not_compared_and_logs_of_0_7_are_no_replicas(spark: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    write(first, "t-0", 0, batch(0) + batch(2) + batch(4))
    write(second, "t-0", 0, batch(2) + batch(4))
    (second / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 2\n")
    for directory, payload in ((first, b"a"), (second, b"b")):
        path = directory / "old-0" / f"{0:020}.kafka"
        path.parent.mkdir()
        path.write_bytes(messages.oldest(payload))
    taken = tables.take(spark, of(first, second), tmp_path / "tables")
    assert taken.differing == 0
    replicas = {(row["broker"], row["topic"]): row for row in rows(tmp_path / "tables", "replica_logs")}
    assert replicas[2, "t"]["compared_from"] == 2
    assert replicas[2, "old"]["reference"] is None


def test_a_torn_tail_and_what_is_too_much_for_one_run_are_told(spark: Any, tmp_path: Path) -> None:
    disk, kept = tmp_path / "a", tmp_path / "tables"
    write(disk, "t-0", 0, batch(0))
    newest = write(disk, "t-0", 2, batch(2) + batch(4)[:-1])
    later = newest.stat().st_mtime + 60
    os.utime(newest, (later, later))
    taken = tables.take(spark, of(disk), kept, read_bytes=1, now_ms=NOON)
    assert (taken.segments, taken.read, taken.unread) == (2, 1, 1)
    unread, torn = sorted(rows(kept, "log_segments"), key=lambda row: int(row["base_offset"]))
    assert (unread["next_offset"], unread["records"], unread["bytes"]) == (None, None, len(batch(0)))
    assert (torn["next_offset"], torn["records"], torn["whole_bytes"]) == (4, 2, len(batch(2)))
    assert torn["tail"] == f"at byte {len(batch(2))} the segment ends within an entry"
    taken = tables.take(spark, of(disk), kept, read_bytes=1, now_ms=NOON)
    assert (taken.read, taken.unread) == (1, 0)
    limited = directories.listing(directories.disks(of(disk)), most=1)
    assert (limited.replicas, limited.beyond) == ((), 2)


def test_usage_has_one_sample_an_hour_and_keeps_the_days_before(spark: Any, tmp_path: Path) -> None:
    disk, kept = tmp_path / "a", tmp_path / "tables"
    for log in ("t-0", "t-1", "u-0"):
        write(disk, log, 0, batch(0))
    for now_ms in (NOON - 24 * HOUR_MS, NOON, NOON + 60_000, NOON + HOUR_MS):
        tables.take(spark, of(disk), kept, now_ms=now_ms)
        shutil.rmtree(disk / "t-1", ignore_errors=True)
    usage = sorted((row["minute"], row["topic"], row["partitions"]) for row in rows(kept, "disk_usage"))
    assert usage == [
        (NOON - 24 * HOUR_MS, "t", 2),
        (NOON - 24 * HOUR_MS, "u", 1),
        *((minute, topic, 1) for minute in (NOON + 60_000, NOON + HOUR_MS) for topic in ("t", "u")),
    ]
