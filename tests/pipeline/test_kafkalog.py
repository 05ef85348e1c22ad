"""Kafka's segments as a Spark source, and what __consumer_offsets tells, held against DumpLogSegments."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.formats import messages
from tests.history.writing import held, put
from zkdash.configuration.log_dirs import LogDirs
from zkdash.formats.kafkalog import segment, segments_07
from zkdash.formats.kafkalog.entries import Entry
from zkdash.history.store.delta import Table
from zkdash.history.store.tables import Tables
from zkdash.pipeline import jobs, segments
from zkdash.pipeline.disks.directories import Disk
from zkdash.pipeline.sources.kafkalog import KafkaLogSource, SegmentPart, parse
from zkdash.pipeline.sources.segments import LogDirectory
from zkdash.pipeline.storage import reading, retention
from zkdash.zk.config import ClusterConfig

pytestmark = pytest.mark.spark

SEGMENTS = Path(__file__).parents[1] / "fixtures" / "segments"
RECORD = re.compile(r"^(?:\| )?offset: (\d+) ", re.MULTILINE)


def rows_of(batches: Iterable[Any]) -> list[dict[str, Any]]:
    """The rows of Arrow's batches, which is what our sources yield of all that Spark allows."""
    return [row for batch in batches for row in batch.to_pylist()]


def told(path: Path, topic: str = "") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What the source reads without Spark: rows, and problems."""
    reader = KafkaLogSource({"path": str(path), "topic": topic}).reader(None)  # type: ignore[arg-type]
    found = [row for part in reader.partitions() for row in rows_of(reader.read(part))]
    return [r for r in found if r["problem"] is None], [r["problem"] for r in found if r["problem"]]


@pytest.mark.parametrize(
    "broker", sorted(SEGMENTS.glob("*/broker-*")), ids=lambda p: f"{p.parent.name}-{p.name}"
)
def test_a_log_directory_has_a_row_a_record_and_its_indexes_fit(broker: Path) -> None:
    rows, problems = told(broker)
    assert problems == []
    wanted = set()
    for path in broker.glob("*/*"):
        topic, _, number = path.parent.name.rpartition("-")
        if path.suffix in (".log", ".kafka") and number.isdigit():
            decode = segments_07.decode if path.suffix == ".kafka" else segment.decode
            for entry in decode(path.read_bytes()):
                assert isinstance(entry, Entry)
                wanted |= {(topic, int(number), record.offset, record.value) for record in entry.records}
    assert {(row["topic"], row["partition"], row["offset"], row["value"]) for row in rows} == wanted


def test_spark_reads_a_log_directory_a_log_or_a_segment(spark: Any) -> None:
    broker = SEGMENTS / "1.1.1" / "broker-1"
    whole = reading.kafkalog(spark, str(broker)).persist()
    dump = (SEGMENTS / "1.1.1" / "DumpLogSegments.txt").read_text()
    counts = {
        part.split("\n", 1)[0].split("/", 1)[1]: len(RECORD.findall(part))
        for part in dump.split("Dumping 1.1.1/")[1:]
        if part.startswith("broker-1/")
    }
    found = {row["file"]: row["count"] for row in whole.groupBy("file").count().collect()}
    assert {file: n for file, n in found.items() if "__consumer" not in file} == {
        name: n for name, n in counts.items() if n and "-delete" not in name and "__consumer" not in name
    }
    orders = reading.messages(whole).where("topic = 'orders'").count()
    assert reading.messages(reading.kafkalog(spark, str(broker), topic="orders")).count() == orders
    one = broker / "orders-0"
    (path,) = one.glob("*.log")
    for each in (one, path):
        rows = reading.kafkalog(spark, str(each)).select("topic", "partition").distinct().collect()
        assert [tuple(row) for row in rows] == [("orders", 0)]
    whole.unpersist()


@pytest.mark.parametrize("release", ["1.1.1", "3.9.1"])
def test_commits_and_groups_are_those_that_dump_log_segments_printed(
    spark: Any, release: str, tmp_path: Path
) -> None:
    dump = (SEGMENTS / release / "DumpLogSegments-offsets.txt").read_text()
    parts = [part for part in dump.split("Dumping ")[1:] if "-delete" not in part.split("\n", 1)[0]]
    printed = [line for part in parts for line in part.split("\n") if RECORD.match(line)]
    brokers = sorted((SEGMENTS / release).glob("broker-*"))
    sums = [segments.load_segments(spark, [Disk(None, str(broker))], tmp_path) for broker in brokers]
    assert sum(each.commits + each.groups for each in sums) == len(printed)
    assert sum(each.problems for each in sums) == 0
    with Tables(tmp_path, ("kafka_commits", "kafka_groups")) as tables:
        commits = tables.rows("SELECT * FROM kafka_commits ORDER BY log_partition, log_offset")
        groups = tables.rows("SELECT * FROM kafka_groups ORDER BY log_partition, log_offset")
    assert commits
    if release == "1.1.1":
        shown = {f"offset::{c['group']}:{c['topic']}:{c['part']} payload: {c['offset']}" for c in commits}
        assert shown == {line.split(" key: ")[1] for line in printed if " key: offset::" in line}
    for group in groups:
        assert group["deleted"] or group["protocol_type"] == "consumer"
    again = segments.load_segments(spark, [Disk(None, str(broker)) for broker in brokers], tmp_path)
    assert (again.commits, again.groups) == (0, 0)
    stored = Table(tmp_path / "kafka_commits")
    rates = segments.samples(spark.read.parquet(*map(str, stored.paths()))).collect()
    assert sum(row["commits"] for row in rates) == sum(not commit["deleted"] for commit in commits)


def test_of_a_segment_that_was_read_amid_a_write_nothing_is_told_once_it_is_whole(
    spark: Any, tmp_path: Path
) -> None:
    disks = []
    for number in (1, 2):
        shutil.copytree(SEGMENTS / "1.1.1" / f"broker-{number}", tmp_path / f"broker-{number}")
        disks.append(Disk(number, str(tmp_path / f"broker-{number}")))
    path = next(
        path for path in sorted(tmp_path.glob("broker-1/__consumer_offsets-*/*.log")) if path.stat().st_size
    )
    whole = path.read_bytes()
    tables = tmp_path / "tables"
    put(tables, "problems", [{"file": "/zk1/log.1", "offset": 7, "reason": "torn", "torn": True}])

    def loaded() -> tuple[int, set[tuple[str, int]]]:
        found = segments.load_segments(spark, disks, tables)
        return found.problems, {(row["file"], row["offset"]) for row in held(tables, "problems")}

    path.write_bytes(whole + whole[:30])
    torn = {("/zk1/log.1", 7), (str(path), len(whole))}
    assert loaded() == (1, torn)
    assert loaded() == (0, torn)
    path.write_bytes(whole)
    assert loaded() == (0, {("/zk1/log.1", 7)})


def test_what_retention_deleted_is_not_read_again(spark: Any, tmp_path: Path) -> None:
    (broker, *_) = sorted((SEGMENTS / "3.9.1").glob("broker-*"))
    whole = segments.load_segments(spark, [Disk(None, str(broker))], tmp_path)

    def left() -> int:
        return sum(Table(tmp_path / name).read().rows for name in ("kafka_commits", "kafka_groups"))

    in_a_year = time.time_ns() // 1_000_000 + 365 * 86_400_000
    retention.retain(tmp_path, 1, now_ms=in_a_year)
    kept = left()
    assert 0 < kept < whole.commits + whole.groups
    again = segments.load_segments(spark, [Disk(None, str(broker))], tmp_path)
    assert (again.commits, again.groups, left()) == (0, 0, kept)


# Logs made by hand: recovery, names, transactions.


def log_dirs(directory: Path) -> tuple[LogDirs, ...]:
    return (LogDirs(directories=(str(directory),)),)


def log(directory: Path, name: str, base: int, data: bytes, suffix: str = "log") -> Path:
    path = directory / name / f"{base:020}.{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def batch(base: int, count: int = 2, **arguments: Any) -> bytes:
    return messages.batch(base, [(n, 0, None, b"%d" % (base + n), ()) for n in range(count)], **arguments)


def offsets_of(rows: list[dict[str, Any]]) -> list[int]:
    return [row["offset"] for row in rows]


def test_what_a_broker_would_cut_off_is_left_out_and_what_follows_it_too(tmp_path: Path) -> None:
    bad = bytearray(batch(12))
    bad[-1] ^= 1
    log(tmp_path, "t-0", 0, batch(0) + batch(2))
    log(tmp_path, "t-0", 10, batch(10) + bytes(bad) + batch(14))
    log(tmp_path, "t-0", 20, batch(20))
    (tmp_path / "recovery-point-offset-checkpoint").write_text("0\n1\nt 0 11\n")
    rows, problems = told(tmp_path)
    assert offsets_of(rows) == [0, 1, 2, 3, 10, 11]
    assert [(p["file"], p["torn"]) for p in problems] == [
        ("t-0/00000000000000000010.log", True),
        ("t-0/00000000000000000020.log", False),
    ]
    (tmp_path / ".kafka_cleanshutdown").touch()
    rows, problems = told(tmp_path)
    assert offsets_of(rows) == [0, 1, 2, 3, 10, 11, 14, 15, 20, 21]
    assert ["checksum" in p["reason"] for p in problems] == [True]


def test_only_the_newest_segment_of_0_7_is_recovered(tmp_path: Path) -> None:
    whole = messages.oldest(b"a") + messages.oldest(b"b")
    log(tmp_path, "t-0", 0, whole[:-1] + b"x", "kafka")
    log(tmp_path, "t-0", len(whole), whole[:-1] + b"x" + messages.oldest(b"c"), "kafka")
    rows, problems = told(tmp_path)
    assert [row["value"] for row in rows] == [b"a", b"a"]
    assert [row["position"] for row in rows] == [0, 0]
    assert offsets_of(rows) == [0, len(whole)]
    assert ["cut off" in problem["reason"] for problem in problems] == [False, True]


def test_offsets_that_the_names_of_segments_or_an_index_contradict_are_told(tmp_path: Path) -> None:
    (tmp_path / ".kafka_cleanshutdown").touch()
    log(tmp_path, "t-0", 10, batch(9))
    log(tmp_path, "t-0", 12, batch(12) + batch(19))
    log(tmp_path, "t-0", 20, batch(20))
    log(tmp_path, "t-0", 20, (1).to_bytes(4, "big") + (7).to_bytes(4, "big"), "index")
    _, problems = told(tmp_path)
    assert [(p["file"].rpartition("/")[2], p["reason"]) for p in problems] == [
        ("00000000000000000010.log", "offset 9 in a segment that begins with 10"),
        ("00000000000000000012.log", "offset 20 before a segment that begins with 20"),
        ("00000000000000000020.index", "no entry of the segment begins at byte 7"),
    ]


def test_a_damaged_segment_hides_no_other_file(tmp_path: Path) -> None:
    (tmp_path / ".kafka_cleanshutdown").touch()
    log(tmp_path, "t-0", 0, b"\xff" * 100)
    log(tmp_path, "t-0", 10, batch(10))
    log(tmp_path, "u-0", 0, batch(0))
    rows, problems = told(tmp_path)
    assert offsets_of(rows) == [10, 11, 0, 1]
    assert [problem["file"] for problem in problems] == ["t-0/00000000000000000000.log"]


def test_commits_of_a_transaction_that_was_aborted_do_not_count(spark: Any, tmp_path: Path) -> None:
    def commit(offset: int) -> tuple[bytes, bytes]:
        key = b"\0\1" + b"\0\1g" + b"\0\1t" + bytes(4)
        return key, b"\0\1" + offset.to_bytes(8, "big") + bytes(2) + (1000).to_bytes(8, "big") + bytes(8)

    def written(base: int, offset: int, producer: int, attributes: int = 0x10) -> bytes:
        record = (0, 0, *commit(offset), ())
        return messages.batch(base, [record], attributes=attributes, producer=(producer, 0, 0))

    def marker(base: int, producer: int, kind: int) -> bytes:
        record = (0, 0, b"\0\0" + kind.to_bytes(2, "big"), bytes(6), ())
        return messages.batch(base, [record], attributes=0x30, producer=(producer, 0, -1))

    data = written(0, 100, 1) + written(1, 200, 2) + marker(2, 1, 0) + marker(3, 2, 1) + written(4, 300, 1)
    data += written(5, 400, -1, attributes=0)
    data += messages.batch(6, [(0, 0, b"\0\x09", b"", ()), (1, 0, None, b"", ())])
    log(tmp_path / "logs", "__consumer_offsets-7", 0, data)
    cluster = ClusterConfig("tables", (("127.0.0.1", 2181),), segments=log_dirs(tmp_path / "logs"))
    loaded = jobs.load(spark, cluster, tmp_path, lambda _what, _done: None)
    assert (loaded.rows, loaded.problems) == (2, 2)
    assert "; 2 commits and 0 groups of Kafka's own are new; 1 segment lies on" in loaded.sentence
    nowhere = ClusterConfig("tables", (("127.0.0.1", 2181),), segments=log_dirs(tmp_path / "none"))
    with pytest.raises(jobs.JobError, match=r"name one of Kafka's log\.dirs"):
        jobs.load(spark, nowhere, tmp_path, lambda _what, _done: None)
    with Tables(tmp_path / "tables", ("kafka_commits",)) as tables:
        rows = tables.rows('SELECT "offset", log_partition FROM kafka_commits ORDER BY "offset"')
    assert rows == [{"offset": 200, "log_partition": 7}, {"offset": 400, "log_partition": 7}]


def test_a_stream_goes_on_behind_whole_entries_and_loses_none(tmp_path: Path) -> None:
    live = log(tmp_path, "t-0", 0, batch(0))
    gone = log(tmp_path, "u-0", 0, batch(0))
    stream = KafkaLogSource({"path": str(tmp_path)}).streamReader(None)  # type: ignore[arg-type]
    seen: list[tuple[str, int]] = []
    start = stream.initialOffset()

    def advance() -> list[str]:
        nonlocal start
        end = stream.latestOffset(start, None)  # type: ignore[arg-type]
        parts = stream.partitions(start, end)
        assert all(isinstance(part, SegmentPart) for part in parts)
        found = [row for part in parts for row in rows_of(stream.read(part))]
        seen.extend((row["topic"], row["offset"]) for row in found if row["problem"] is None)
        start = end
        return [row["problem"]["reason"] for row in found if row["problem"]]

    more = batch(2) + batch(4)
    assert advance() == []
    with live.open("ab") as file:
        file.write(more[:-5])
    assert advance() == []
    with live.open("ab") as file:
        file.write(more[-5:])
    log(tmp_path, "t-0", 6, batch(6))
    assert advance() == []
    assert seen == [
        ("t", 0),
        ("t", 1),
        ("u", 0),
        ("u", 1),
        ("t", 2),
        ("t", 3),
        ("t", 4),
        ("t", 5),
        ("t", 6),
        ("t", 7),
    ]
    with gone.open("ab") as file:
        file.write(batch(2))
    end = stream.latestOffset(start, None)  # type: ignore[arg-type]
    shutil.rmtree(gone.parent)
    (part,) = stream.partitions(start, end)
    (row,) = rows_of(stream.read(part))
    assert "is gone" in row["problem"]["reason"]


def test_what_is_not_there_or_not_known_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"name one of Kafka's log\.dirs"):
        LogDirectory(str(tmp_path / "none")).logs()
    with pytest.raises(ValueError, match="'path' is missing"):
        parse({})
    with pytest.raises(ValueError, match="no option 'since'"):
        parse({"path": "/", "since": "3"})
