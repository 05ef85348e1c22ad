"""The sources by themselves, as Spark calls them: files that are whole, torn, foreign or gone."""

from __future__ import annotations

import gzip
import json
import pickle
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cramjam
import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable
from pyspark.sql.types import StructType

from tests.formats import logs
from tests.lab import snapshot
from zkdash.cluster.changes import row
from zkdash.formats.txnlog import rows
from zkdash.formats.txnlog.rows import Row
from zkdash.pipeline.sources.snapshot import SnapshotSource
from zkdash.pipeline.sources.txnlog import TxnLogSource
from zkdash.znode import Stat, Znode

OPEN = "world:anyone:31"
SESSION = 0x1234


def a_set(zxid: int, path: str = "/a", data: bytes = b"x", **fields: Any) -> Row:
    return Row(SESSION, 1, zxid, 1000 + zxid, 0, rows.SET_DATA, path=path, data=data, version=1, **fields)


def a_create(zxid: int, path: str, kind: int = rows.CREATE, **fields: Any) -> Row:
    given = {"data": b"c", "acl": OPEN, "parent_cversion": 1, **fields}
    return Row(SESSION, 1, zxid, 1000 + zxid, 0, kind, path=path, **given)


def write(directory: Path, *made: list[Row], fill: int = 0) -> Path:
    """A log of transactions, named by its first one."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"log.{made[0][0].zxid:x}"
    path.write_bytes(logs.log(map(logs.transaction, made), fill=fill))
    return path


class Found:
    """What a source tells: data rows, problems as (file, reason), and covered ranges."""

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        told = [each for batch in batches for each in batch.to_pylist()]
        self.problems = [each["problem"] for each in told if each["problem"]]
        self.covered = [tuple(each["covered"].values()) for each in told if each["covered"]]
        self.rows = [each for each in told if not (each["problem"] or each["covered"])]

    @property
    def zxids(self) -> list[int]:
        return [each["zxid"] for each in self.rows]


def batch(kind: type[Any], path: Path, **options: str) -> Found:
    """A batch, each partition sent to its worker as Spark does."""
    source = kind({"path": str(path), **options})
    reader = pickle.loads(pickle.dumps(source.reader(StructType())))  # noqa: S301 - our own
    parts = [pickle.loads(pickle.dumps(part)) for part in reader.partitions()]  # noqa: S301 - our own
    batches = [each for part in parts for each in reader.read(part)]
    assert all(each.schema.names == to_arrow_schema(source.schema()).names for each in batches)
    return Found(batches)


class Stream:
    """A stream, asked for what is new."""

    def __init__(self, path: Path) -> None:
        self._reader: Any = TxnLogSource({"path": str(path)}).streamReader(StructType())
        self.offset: dict[str, int] = self._reader.initialOffset()

    def new(self) -> Found:
        start, self.offset = self.offset, self._reader.latestOffset(self.offset, ReadAllAvailable())
        parts = self._reader.partitions(start, self.offset)
        return Found(each for part in parts for each in self._reader.read(part))


def test_a_change_is_a_row_with_all_its_words(tmp_path: Path) -> None:
    write(tmp_path, [a_create(7, "/a", ephemeral=True)], [a_set(8, data=b"d")])
    found = batch(TxnLogSource, tmp_path)
    created, changed = found.rows
    data = {name: created[name] for name in [field.name for field in row.FIELDS]}
    assert data == {
        "zxid": 7,
        "zxid_after": 6,
        "zxid_upto": 7,
        "op_index": 0,
        "source": "txnlog",
        "time": 1007,
        "session": SESSION,
        "type": "create",
        "path": "/a",
        "data": b"c",
        "version": 0,
        "ephemeral": True,
        "ephemeral_owner": SESSION,
        "removed": None,
        "acl": OPEN,
    }
    assert (changed["type"], changed["data"], changed["version"]) == ("setData", b"d", 1)
    assert (changed["ephemeral"], changed["ephemeral_owner"]) == (None, None)
    assert found.covered == [(7, 8)]
    assert {each["type"] for each in found.rows} <= row.TYPES
    assert all(data[field.name] is not None for field in row.FIELDS if field.always)


def test_a_failed_multi_is_no_row_and_a_check_is_none_and_both_are_covered(tmp_path: Path) -> None:
    good = [
        Row(SESSION, 1, 1, 1, 0, rows.CHECK, multi=True, path="/a", version=1),
        a_set(1)._replace(op=1, multi=True),
        Row(SESSION, 1, 1, 1, 2, rows.DELETE, multi=True, path="/b"),
    ]
    bad = [a_set(2)._replace(multi=True), Row(SESSION, 1, 2, 1, 1, rows.ERROR, multi=True, error=-101)]
    error = [Row(SESSION, 1, 3, 1, 0, rows.ERROR, error=-101)]
    write(tmp_path, good, bad, error, [a_set(4)])
    found = batch(TxnLogSource, tmp_path)
    assert [(each["zxid"], each["op_index"], each["type"]) for each in found.rows] == [
        (1, 1, "setData"),
        (1, 2, "delete"),
        (4, 0, "setData"),
    ]
    assert found.covered == [(1, 4)]


def test_ephemerals_of_a_closed_session_are_rows_and_containers_and_ttls_have_their_owner(
    tmp_path: Path,
) -> None:
    closed = [
        Row(SESSION, 1, 1, 1, 0, rows.CLOSE_SESSION, paths=2),
        Row(SESSION, 1, 1, 1, 1, rows.CLOSE_SESSION, path="/e1"),
        Row(SESSION, 1, 1, 1, 2, rows.CLOSE_SESSION, path="/e2"),
    ]
    write(
        tmp_path,
        closed,
        [a_create(2, "/c", rows.CREATE_CONTAINER)],
        [a_create(3, "/t", rows.CREATE_TTL, ttl_ms=1000)],
        [a_create(4, "/p", rows.CREATE2, ephemeral=False)],
        [Row(0, 1, 5, 1, 0, rows.DELETE_CONTAINER, path="/c")],
    )
    found = batch(TxnLogSource, tmp_path).rows
    assert [(each["type"], each["path"], each["removed"]) for each in found[:3]] == [
        ("closeSession", None, 2),
        ("closeSession", "/e1", None),
        ("closeSession", "/e2", None),
    ]
    assert [each["ephemeral_owner"] for each in found[3:]] == [-(1 << 63), -(1 << 56) + 1000, 0, None]
    assert found[-1]["type"] == "deleteContainer"


def test_only_what_is_below_the_chroot_is_read_and_sessions_are(tmp_path: Path) -> None:
    write(
        tmp_path,
        [Row(SESSION, 1, 1, 1, 0, rows.CREATE_SESSION, timeout_ms=1000)],
        [a_set(2, "/kafka")],
        [a_set(3, "/kafka/brokers/ids")],
        [a_set(4, "/kafka-other")],
        [a_set(5, "/")],
    )
    found = batch(TxnLogSource, tmp_path, chroot="/kafka/")
    assert [each["path"] for each in found.rows] == [None, "/", "/brokers/ids"]
    assert found.covered == [(1, 5)]


def test_secrets_are_replaced_below_any_chroot_and_no_option_shows_them(tmp_path: Path) -> None:
    write(
        tmp_path, [a_set(1, "/kafka/config/users/alice", b'{"version":1,"config":{"SCRAM-SHA-256":"salt"}}')]
    )
    (found,) = batch(TxnLogSource, tmp_path, chroot="/kafka").rows
    assert found["data"] == b'{"version":1,"config":{"SCRAM-SHA-256":"<hidden>"}}'
    with pytest.raises(ValueError, match="there is no option 'redact'; there are path, chroot, since, dbid"):
        batch(TxnLogSource, tmp_path, redact="false")


def test_transactions_up_to_since_are_left_out_and_logs_before_it_are_not_opened(tmp_path: Path) -> None:
    write(tmp_path, [a_set(1)], [a_set(2)]).write_bytes(b"no log any more")
    write(tmp_path, [a_set(3)], [a_set(4)])
    write(tmp_path, [a_set(5)])
    found = batch(TxnLogSource, tmp_path, since="0x3")
    assert found.zxids == [4, 5]
    assert found.covered == [(4, 4), (5, 5)]
    assert found.problems == []


def test_a_gap_between_transactions_is_known_as_one(tmp_path: Path) -> None:
    write(tmp_path, [a_set(1)], [a_set(2)], [a_set(5)], [a_set(6)], [a_set((1 << 32) + 1)])
    assert batch(TxnLogSource, tmp_path).covered == [(1, 2), (5, 6), ((1 << 32) + 1, (1 << 32) + 1)]


def test_a_directory_is_version_2_or_the_one_that_holds_it_also_as_an_address(tmp_path: Path) -> None:
    write(tmp_path / "version-2", [a_set(1)])
    (tmp_path / "version-2" / "log.tmp").write_bytes(b"not ours")
    for path in (tmp_path, tmp_path / "version-2"):
        assert batch(TxnLogSource, path).zxids == [1]
    for address in (f"file://{tmp_path}", f"file:{tmp_path}"):
        assert batch(TxnLogSource, address).zxids == [1]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"path": "/not/there"}, "/not/there is no directory: name ZooKeeper's dataDir"),
        ({"path": "nowhere://x/y"}, "nowhere://x/y cannot be opened"),
        ({"path": ""}, "the option 'path' is missing"),
        ({"path": "/x", "chroot": "kafka"}, "chroot='kafka' must begin with /"),
        ({"path": "[]"}, "the option 'path' is missing"),
        ({"path": "[1]"}, r"path='\[1\]' is no list in JSON"),
        ({"path": "/x", "loaded": "all"}, "loaded='all' is no list in JSON"),
        ({"path": "/x", "since": "yesterday"}, "since='yesterday' is not a number"),
    ],
)
def test_options_that_cannot_be_are_told_in_one_sentence(options: dict[str, str], told: str) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=told):
        TxnLogSource(options).reader(StructType()).partitions()


def test_a_directory_without_any_file_is_nothing_yet(tmp_path: Path) -> None:
    for kind in (TxnLogSource, SnapshotSource):
        found = batch(kind, tmp_path)
        assert (found.rows, found.problems, found.covered) == ([], [], [])
    stream = Stream(tmp_path)
    assert stream.new().rows == []
    write(tmp_path, [a_set(1)])
    assert stream.new().zxids == [1]


def test_a_log_of_another_ensemble_is_left_out_and_told(tmp_path: Path) -> None:
    write(tmp_path, [a_set(1)])
    other = write(tmp_path, [a_set(2)])
    other.write_bytes(struct.pack("!4siq", b"ZKLG", 2, 77) + other.read_bytes()[16:])
    found = batch(TxnLogSource, tmp_path)
    assert found.zxids == [1]
    assert [(each["file"], each["offset"]) for each in found.problems] == [("log.2", 8)]
    assert "another ensemble: its dbid is 77, not 0" in found.problems[0]["reason"]
    assert batch(TxnLogSource, tmp_path, dbid="77").zxids == [2]


def test_bad_bytes_a_foreign_file_and_an_unreadable_one_are_told_and_the_rest_is_read(tmp_path: Path) -> None:
    damaged = write(tmp_path, [a_set(1)], [a_set(2)], [a_set(3)])
    data = bytearray(damaged.read_bytes())
    size = (len(data) - 16) // 3
    data[16 + size + 30] ^= 1
    damaged.write_bytes(data)
    (tmp_path / "log.4").write_bytes(b"this is the log of something else")
    (tmp_path / "log.5").mkdir()
    write(tmp_path, [a_set(6)])
    found = batch(TxnLogSource, tmp_path)
    assert found.zxids == [1, 3, 6]
    assert found.covered == [(1, 1), (3, 3), (6, 6)]
    assert [(each["file"], each["offset"], each["torn"]) for each in found.problems] == [
        ("log.1", 16 + size, False),
        ("log.4", 0, False),
        ("log.5", 0, False),
    ]
    assert "does not begin with ZKLG" in found.problems[1]["reason"]
    assert "the file cannot be read" in found.problems[2]["reason"]


def test_a_half_record_is_a_problem_in_an_older_log_and_none_in_the_newest(tmp_path: Path) -> None:
    torn = (
        logs.log([logs.transaction([a_set(1)])]) + logs.frame(logs.transaction([a_set(2)]))[:20] + bytes(500)
    )
    (tmp_path / "log.1").write_bytes(torn)
    alone = batch(TxnLogSource, tmp_path)
    assert (alone.zxids, alone.problems) == ([1], [])
    write(tmp_path, [a_set(3)], fill=65536)
    found = batch(TxnLogSource, tmp_path)
    assert found.zxids == [1, 3]
    assert [(each["file"], each["torn"]) for each in found.problems] == [("log.1", True)]


def test_a_stream_reads_whole_records_only_and_each_once(tmp_path: Path) -> None:
    first = logs.frame(logs.transaction([a_set(1)]))
    second = logs.frame(logs.transaction([a_set(2)]))
    log, fill = tmp_path / "log.1", bytes(3000)
    log.write_bytes(b"")
    stream = Stream(tmp_path)
    assert stream.new().zxids == []
    for written, wanted in (
        (b"", []),
        (first[:-1], []),
        (first, [1]),
        (first + second[:5], []),
        (first + second[:40], []),
        (first + second, [2]),
        (first + second, []),
    ):
        log.write_bytes(logs.HEADER + written + fill)
        found = stream.new()
        assert (found.zxids, found.problems) == (wanted, [])
    assert stream.offset == {"log.1": len(logs.HEADER + first + second)}


def test_a_stream_goes_on_to_the_next_log_and_tells_how_the_last_one_ended(tmp_path: Path) -> None:
    write(tmp_path, [a_set(1)], fill=100)
    stream = Stream(tmp_path)
    assert stream.new().zxids == [1]
    whole = logs.log(logs.transaction([a_set(zxid)]) for zxid in (1, 2))
    (tmp_path / "log.1").write_bytes(whole + logs.frame(logs.transaction([a_set(3)]))[:30] + bytes(70))
    write(tmp_path, [a_set(4)])
    found = stream.new()
    assert found.zxids == [2, 4]
    assert [(each["file"], each["offset"]) for each in found.problems] == [("log.1", len(whole))]
    assert stream.new().problems == []
    assert stream.offset["log.1"] == (tmp_path / "log.1").stat().st_size


def test_a_stream_waits_for_a_last_record_whose_checksum_does_not_hold_yet(tmp_path: Path) -> None:
    frame = bytearray(logs.frame(logs.transaction([a_set(2)])))
    frame[30] ^= 1
    start = logs.log([logs.transaction([a_set(1)])])
    (tmp_path / "log.1").write_bytes(start + frame + bytes(10))
    stream = Stream(tmp_path)
    found = stream.new()
    assert (found.zxids, found.problems) == ([1], [])
    frame[30] ^= 1
    (tmp_path / "log.1").write_bytes(start + frame + bytes(10))
    assert stream.new().zxids == [2]


def test_a_stream_reads_a_log_that_came_late_and_one_that_was_half_anew(tmp_path: Path) -> None:
    whole = logs.log(logs.transaction([a_set(zxid)]) for zxid in (3, 4))
    (tmp_path / "log.3").write_bytes(whole[:-9])
    write(tmp_path, [a_set(5)])
    stream = Stream(tmp_path)
    found = stream.new()
    assert (found.zxids, [each["torn"] for each in found.problems]) == ([3, 5], [True])
    (tmp_path / "log.3").write_bytes(whole)
    write(tmp_path, [a_set(1)], [a_set(2)])
    found = stream.new()
    assert (found.zxids, found.problems) == (
        [1, 2, 3, 4],
        [],
    )  # what was read twice is taken once: writing.logs
    assert stream.new().rows == []


def test_logs_of_several_servers_are_told_apart_and_one_that_is_away_leaves_the_others_be(
    tmp_path: Path,
) -> None:
    write(tmp_path / "zk1", [a_set(1)], [a_set(2)])
    write(tmp_path / "zk2", [a_set(2)], [a_set(3)])
    (tmp_path / "zk2" / "log.4").write_bytes(b"not a log, whatever its name says")
    places = json.dumps([str(tmp_path / name) for name in ("zk1", "away", "zk2/")])
    reader: Any = TxnLogSource({"path": places}).reader(StructType())
    told = [each for part in reader.partitions() for batch in reader.read(part) for each in batch.to_pylist()]
    assert [(each["log"], each["zxid"]) for each in told if each["zxid"]] == [(0, 1), (0, 2), (1, 2), (1, 3)]
    assert [each["problem"]["file"] for each in told if each["problem"]] == [f"{tmp_path}/zk2/log.4"]
    loaded = {"path": places, "loaded": "[[1, 2]]", "files": json.dumps([f"{tmp_path}/zk2/log.2"])}
    reader = TxnLogSource(loaded).reader(StructType())
    told = [each for part in reader.partitions() for batch in reader.read(part) for each in batch.to_pylist()]
    assert [each["zxid"] for each in told if each["zxid"]] == [3]
    assert [tuple(each["covered"].values()) for each in told if each["covered"]] == [(3, 3)]
    with pytest.raises(FileNotFoundError, match="nowhere is no directory"):
        TxnLogSource({"path": json.dumps([f"{tmp_path}/nowhere"])}).reader(StructType()).partitions()


def test_of_two_servers_snapshots_of_one_transaction_the_first_is_read(tmp_path: Path) -> None:
    for name in ("zk1", "zk2"):
        (tmp_path / name).mkdir()
        tree(tmp_path / name)
    (tmp_path / "zk2" / "snapshot.9").write_bytes((tmp_path / "zk2" / "snapshot.5").read_bytes())
    places = json.dumps([str(tmp_path / name) for name in ("zk1", "zk2")])
    reader = SnapshotSource({"path": places}).reader(StructType())
    parts: Any = reader.partitions()
    assert [part.snapshot.place for part in parts] == [
        f"{tmp_path}/zk1/snapshot.5",
        f"{tmp_path}/zk2/snapshot.9",
    ]
    reader = SnapshotSource({"path": places, "files": f'["{tmp_path}/zk2/snapshot.5"]'}).reader(StructType())
    parts = reader.partitions()
    assert [(part.snapshot.place, part.next_zxid) for part in parts] == [(f"{tmp_path}/zk2/snapshot.5", 9)]


def test_a_log_that_was_purged_before_it_was_read_is_told(tmp_path: Path) -> None:
    write(tmp_path, [a_set(1)])
    write(tmp_path, [a_set(2)])
    source: Any = TxnLogSource({"path": str(tmp_path)}).streamReader(StructType())
    end = source.latestOffset({}, ReadAllAvailable())
    (tmp_path / "log.1").unlink()
    found = Found(each for part in source.partitions({}, end) for each in source.read(part))
    assert found.zxids == [2]
    assert [(each["file"], each["reason"]) for each in found.problems] == [
        ("log.1", "the log is gone: ZooKeeper purged it before it was read to its end")
    ]


def znode(data: bytes, zxid: int) -> Znode:
    return Znode.of(data, Stat(zxid, zxid, 1, 1, 0, 0, 0, 0, len(data), 0, zxid))


def tree(directory: Path) -> bytes:
    secret = b'{"version":1,"config":{"SCRAM-SHA-256":"salt"}}'
    znodes = [("/", znode(b"", 1)), ("/kafka", znode(b"k", 2)), ("/kafka/config", znode(b"", 3))]
    znodes += [("/kafka/config/users", znode(b"", 4)), ("/kafka/config/users/a", znode(secret, 5))]
    path = snapshot.write(directory, znodes, {})
    assert path.name == "snapshot.5"
    return path.read_bytes()


@pytest.mark.parametrize("suffix", ["", ".gz", ".snappy"])
def test_a_snapshot_is_rows_of_its_znodes_however_it_was_packed(tmp_path: Path, suffix: str) -> None:
    plain = tree(tmp_path)
    (tmp_path / "snapshot.5").unlink()
    block = bytes(cramjam.snappy.compress_raw(plain))
    packed = {
        "": plain,
        ".gz": gzip.compress(plain),
        ".snappy": b"\x82SNAPPY\0" + struct.pack("!iii", 1, 1, len(block)) + block,
    }
    (tmp_path / f"snapshot.5{suffix}").write_bytes(packed[suffix])
    found = batch(SnapshotSource, tmp_path, chroot="/kafka")
    assert found.problems == []
    assert [(each["path"], each["zxid"], each["zxid_upto"]) for each in found.rows] == [
        ("/", 5, None),
        ("/config", 5, None),
        ("/config/users", 5, None),
        ("/config/users/a", 5, None),
    ]
    assert found.rows[-1]["data"] == b'{"version":1,"config":{"SCRAM-SHA-256":"<hidden>"}}'


def test_a_torn_snapshot_is_rejected_with_the_reason_and_the_others_are_read(tmp_path: Path) -> None:
    plain = tree(tmp_path)
    (tmp_path / "snapshot.9").write_bytes(plain[:-20])
    (tmp_path / "snapshot.a.gz").write_bytes(gzip.compress(plain)[:-9])
    found = batch(SnapshotSource, tmp_path)
    assert {(each["zxid"], each["zxid_upto"]) for each in found.rows} == {(5, 9)}
    assert [each["file"] for each in found.problems] == ["snapshot.9", "snapshot.a.gz"]
    assert "the snapshot is torn" in found.problems[0]["reason"]
    assert "cannot be uncompressed" in found.problems[1]["reason"]
