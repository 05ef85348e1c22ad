"""Few bytes that stand for many: each is a problem where it is, costs little, and hides nothing behind it."""

from __future__ import annotations

import gzip
import itertools
import re
import struct
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cramjam
import google_crc32c
import pytest

from tests.formats import logs, messages, snapshots
from tests.formats.test_snapshot_reader import PLAIN, SHOWING
from zkdash.formats import bounds, snapshot_arrow, xerial
from zkdash.formats.kafkalog import arrow, offsets, segment, segments_07
from zkdash.formats.kafkalog.entries import Entry, Many
from zkdash.formats.problems import Problem
from zkdash.formats.txnlog import arrow as txnlog
from zkdash.formats.txnlog import plain

MIB = 1 << 20
KINDS = [("oldest", codec) for codec in ("gzip", "snappy")]
KINDS += [(kind, codec) for kind in ("v0", "v1") for codec in ("gzip", "snappy", "lz4")]
KINDS += [("v2", codec) for codec in ("none", "gzip", "snappy", "lz4", "zstd")]
COMPRESSED = [(kind, codec) for kind, codec in KINDS if codec != "none"]
KEPT_BYTES = 400  # of a record that is held, about: itself, its numbers, its row of Arrow's

SMALL = {
    "ENTRY_BYTES": 2 * MIB,
    "RECORDS": 8_000,
    "HEADERS": 300,
    "KEPT": 200,
    "SNAPSHOT_ALWAYS": 2 * MIB,
    "SNAPSHOT_RATIO": 10,
    "ELEMENTS": 5_000,
}


@pytest.fixture(autouse=True)
def _declared(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds are small here, so that it is quick to exceed them while memory is watched."""
    if "as_they_are" not in request.node.name:
        for name, value in SMALL.items():
            monkeypatch.setattr(bounds, name, value)


class Held(NamedTuple):
    """What came of some bytes, and the most that Python held meanwhile, in bytes."""

    found: list[Any]
    peak: int


def held(found: Callable[[], Iterator[Any]]) -> Held:
    list(arrow.pieces([*decoded("v2", entry("v2", "none", least("v2"), 1))]))  # what is imported at first use
    tracemalloc.start()
    try:
        made = list(found())
        return Held(made, tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def squeezed(codec: str, data: bytes) -> bytes:
    """Compressed, snappy in blocks as Java does it, so that what is large is no one block."""
    if codec != "snappy":
        return messages.compress(codec, data)
    steps = range(0, len(data), MIB // 4)
    blocks = (bytes(cramjam.snappy.compress_raw(data[at : at + MIB // 4])) for at in steps)
    framed = b"".join(struct.pack("!i", len(block)) + block for block in blocks)
    return xerial.MAGIC + struct.pack("!ii", 1, 1) + framed


def entry(kind: str, codec: str, plainly: bytes, count: int) -> bytes:
    """An entry of a kind that stands for these bytes, which are so many records."""
    number = messages.CODECS.index(codec)
    value = squeezed(codec, plainly)
    if kind == "oldest":
        return messages.oldest(value, codec=number)
    if kind in ("v0", "v1"):
        return messages.message(count - 1, value, magic=int(kind[1]), attributes=number)
    head = struct.pack("!hiqqqhii", number, count - 1, 0, 0, -1, -1, -1, count)
    covered = head + value
    tail = struct.pack("!ib", 0, 2) + struct.pack("!I", google_crc32c.value(covered)) + covered
    return struct.pack("!qi", 0, len(tail)) + tail


def least(kind: str) -> bytes:
    """The shortest record of a kind."""
    if kind == "oldest":
        return messages.oldest(b"", magic=0)
    if kind in ("v0", "v1"):
        return messages.message(0, None, magic=int(kind[1]))
    return b"\x0c\0\0\0\x01\x01\0"


def shortest(kind: str, count: int) -> bytes:
    """So many of the shortest records."""
    if kind == "v0":
        return b"".join(messages.message(number, None, magic=0) for number in range(count))
    return least(kind) * count


def following(kind: str) -> bytes:
    """An entry that says that it is behind."""
    if kind == "oldest":
        return messages.oldest(b"behind")
    return messages.message(1 << 40, b"behind", magic=1)


def decoded(kind: str, data: bytes) -> Iterator[Entry | Problem]:
    return segments_07.decode(data) if kind == "oldest" else segment.decode(data)


def judged(kind: str, bomb: bytes) -> Held:
    """What is read of an entry that is too much: a problem where it is, and what is behind it."""
    was = held(lambda: decoded(kind, bomb + following(kind)))
    problem, after = was.found
    assert isinstance(problem, Problem)
    assert (problem.offset, problem.torn) == (0, False)
    assert isinstance(after, Entry)
    assert [record.value for record in after.records] == [b"behind"]
    return was


@pytest.mark.parametrize(("kind", "codec"), COMPRESSED)
def test_bytes_that_stand_for_too_many_are_told_and_cost_little(kind: str, codec: str) -> None:
    bomb = entry(kind, codec, bytes(16 * bounds.ENTRY_BYTES), 1)
    assert judged(kind, bomb).peak < 3 * bounds.ENTRY_BYTES + 2 * len(bomb)


@pytest.mark.parametrize(("kind", "codec"), KINDS)
def test_more_records_than_an_entry_may_hold_are_told_and_cost_little(kind: str, codec: str) -> None:
    count = bounds.RECORDS + 1
    plainly = shortest(kind, count)
    told = judged(kind, entry(kind, codec, plainly, count))
    assert re.search(rf"{bounds.RECORDS}( messages| are read)", told.found[0].reason)
    assert told.peak < 4 * len(plainly) + 2 * KEPT_BYTES * bounds.KEPT


@pytest.mark.parametrize(("kind", "codec"), KINDS)
def test_as_many_records_as_an_entry_may_hold_are_read_and_not_held(kind: str, codec: str) -> None:
    count = bounds.RECORDS
    plainly = shortest(kind, count)
    whole = entry(kind, codec, plainly, count)

    def pieces() -> Iterator[int]:
        for piece in arrow.pieces(decoded(kind, whole), limit=bounds.KEPT):
            yield piece.batch.num_rows

    read = held(pieces)
    assert max(read.found) == bounds.KEPT
    assert sum(read.found) == count
    assert read.peak < 4 * len(plainly) + 3 * KEPT_BYTES * bounds.KEPT
    (found,) = decoded(kind, whole)
    assert isinstance(found, Entry)
    assert isinstance(found.records, Many)
    assert len(found.records) == count
    assert found.records[-1] == found.records[count - 1]
    assert found.records[:2] == tuple(itertools.islice(found.records, 2))
    with pytest.raises(IndexError):
        found.records[count]


def test_headers_are_bounded_by_record_and_by_entry() -> None:
    def record(headers: int, delta: int = 0) -> bytes:
        return messages._record((delta, 0, None, None, [("", None)] * headers))

    (read,) = decoded("v2", entry("v2", "zstd", record(bounds.HEADERS), 1))
    assert isinstance(read, Entry)
    assert len(read.records[0].headers) == bounds.HEADERS
    assert "headers" in judged("v2", entry("v2", "zstd", record(bounds.HEADERS + 1), 1)).found[0].reason
    many = bounds.RECORDS // bounds.HEADERS + 1
    bomb = entry("v2", "zstd", record(bounds.HEADERS) * many, many)
    assert "headers" in judged("v2", bomb).found[0].reason


@pytest.mark.parametrize(("kind", "codec"), [each for each in COMPRESSED if each[0] != "v2"])
def test_what_is_compressed_in_what_is_compressed_is_told(kind: str, codec: str) -> None:
    inner = entry(kind, codec, least(kind) * 3, 3)
    for _ in range(3):
        inner = entry(kind, codec, inner, 3)
        assert judged(kind, inner).peak < MIB


def test_large_values_make_more_pieces() -> None:
    data = b"".join(messages.message(number, bytes(arrow.BYTES // 2)) for number in range(6))
    assert [piece.batch.num_rows for piece in arrow.pieces(segment.decode(data))] == [2, 2, 2]


def test_bounds_as_they_are_let_nothing_small_become_large() -> None:
    """What 2 KiB of zstd were before there were bounds: 2.4 million records, in 335 MiB."""
    count = 2_400_000
    bomb = entry("v2", "zstd", least("v2") * count, count)
    assert len(bomb) < 2048
    assert judged("v2", bomb).peak < MIB
    zeros = entry("v2", "zstd", bytes(2 * bounds.ENTRY_BYTES), 1)
    assert judged("v2", zeros).peak < 3 * bounds.ENTRY_BYTES
    assert bounds.of_snapshot(100) == bounds.SNAPSHOT_ALWAYS == bounds.ENTRY_BYTES
    assert bounds.of_snapshot(MIB) == bounds.SNAPSHOT_RATIO * MIB
    assert bounds.of_snapshot(1 << 40) == bounds.SNAPSHOT_BYTES


SNAPSHOTS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "snappy": lambda d: squeezed("snappy", d),
}


@pytest.mark.parametrize("way", SNAPSHOTS)
def test_a_snapshot_that_stands_for_too_much_is_told(way: str) -> None:
    """It is whole but for its size: the bytes of one znode are many."""
    limit = bounds.SNAPSHOT_ALWAYS
    packed = SNAPSHOTS[way](PLAIN[:-21] + bytes(16 * limit))
    assert bounds.of_snapshot(len(packed)) < 16 * limit
    told = held(lambda: iter([snapshots.read(packed, SHOWING)]))
    (problem,) = told.found
    assert isinstance(problem, Problem)
    assert (problem.offset, problem.torn) == (0, False)
    assert told.peak < 3 * bounds.of_snapshot(len(packed))
    assert [*snapshot_arrow.batches(packed, SHOWING)] == [problem]


def snapshot_of(sessions: int, acls: int) -> bytes:
    """A whole snapshot of a root alone, with so many sessions, and an access list of so many entries."""
    data = struct.pack("!4siqi", b"ZKSN", 2, 0, sessions)
    data += b"".join(struct.pack("!qi", number, 1000) for number in range(sessions))
    data += struct.pack("!iqi", 1, 1, acls) + struct.pack("!iii", 31, 0, 0) * acls
    data += struct.pack("!ii", 0, 0) + struct.pack("!qqqqqiiiqq", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    data += struct.pack("!i", 1) + b"/"
    return data + struct.pack("!q", zlib.adler32(data)) + struct.pack("!i", 1) + b"/"


@pytest.mark.parametrize("way", ["plain", *SNAPSHOTS])
def test_more_sessions_or_access_lists_than_a_snapshot_may_hold_are_told(way: str) -> None:
    pack = SNAPSHOTS.get(way, bytes)
    for sessions, acls in ((bounds.ELEMENTS, 1), (1, bounds.ELEMENTS)):
        assert not isinstance(snapshots.read(pack(snapshot_of(sessions, acls)), SHOWING), Problem)
    for sessions, acls in ((bounds.ELEMENTS + 1, 1), (1, bounds.ELEMENTS + 1)):
        made = snapshot_of(sessions, acls)
        packed = pack(made)
        told = held(lambda packed=packed: iter([snapshots.read(packed, SHOWING)]))  # type: ignore[misc]
        (problem,) = told.found
        assert isinstance(problem, Problem)
        assert f"a list of {bounds.ELEMENTS + 1}" in problem.reason
        assert told.peak < 4 * len(made)


def test_a_transaction_of_too_many_parts_is_told_and_what_is_behind_it_is_read() -> None:
    count = bounds.ELEMENTS + 1
    head = struct.pack("!qiqqi", 1, 1, 1, 1, 14)
    bomb = head + struct.pack("!i", count) + struct.pack("!iii", -1, 4, 0) * count
    behind = struct.pack("!qiqqi", 1, 1, 2, 1, -10) + struct.pack("!i", 4000)
    data = logs.log([bomb, behind])
    fast = held(lambda: txnlog.decode(data, SHOWING))
    (piece,) = fast.found
    assert [problem.offset for problem in piece.problems] == [len(logs.HEADER)]
    assert piece.batch.column("zxid").to_pylist() == [2]
    assert fast.peak < 4 * len(data) + MIB
    first, second = plain.decode(data, SHOWING)
    assert first == piece.problems[0]
    assert not isinstance(second, Problem)
    assert second.zxid == 2


def test_a_record_of_groups_with_too_many_elements_is_told() -> None:
    def assignment(topics: int) -> bytes:
        return struct.pack("!hi", 0, topics) + struct.pack("!hi", 0, 0) * topics + struct.pack("!i", -1)

    assert not isinstance(offsets.assignment(assignment(bounds.ELEMENTS)), Problem)
    told = offsets.assignment(assignment(bounds.ELEMENTS + 1))
    assert isinstance(told, Problem)
    assert "elements" in told.reason
