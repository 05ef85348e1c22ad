"""Records as Arrow batches: the same as the values that were held against DumpLogSegments."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tests.formats import messages
from zkdash.formats.kafkalog import arrow, segment, segments_07
from zkdash.formats.kafkalog.entries import Entry
from zkdash.formats.problems import Problem

SEGMENTS = Path(__file__).parents[1] / "fixtures" / "segments"
FILES = sorted(path for path in SEGMENTS.glob("*/*/*/*.*") if path.suffix in (".log", ".kafka"))


@pytest.mark.parametrize("limit", [1, 7, 20_000])
def test_every_recorded_segment_has_a_row_for_each_record(limit: int) -> None:
    for path in FILES:
        found = list((segments_07 if path.suffix == ".kafka" else segment).decode(path.read_bytes()))
        pieces = list(arrow.pieces(found, limit=limit))
        rows = [row for piece in pieces for row in piece.batch.to_pylist()]
        pairs = [(entry, record) for entry in found if isinstance(entry, Entry) for record in entry.records]
        assert [(r["offset"], r["timestamp"], r["key"], r["value"], r["sequence"]) for r in rows] == [
            (record.offset, record.timestamp, record.key, record.value, record.sequence)
            for _, record in pairs
        ]
        assert [(r["position"], r["size"], r["magic"], r["codec"], r["crc"]) for r in rows] == [
            (entry.position, entry.size, entry.magic, entry.codec, entry.crc) for entry, _ in pairs
        ]
        assert max((piece.end for piece in pieces), default=-1) == (path.stat().st_size or -1)


def test_problems_come_with_the_piece_and_headers_with_their_record() -> None:
    bad = bytearray(messages.message(0, b"x"))
    bad[-1] ^= 1
    good = messages.batch(1, [(0, 0, None, b"c", (("h", b"1"), ("n", None)))], attributes=0x10)
    (piece,) = arrow.pieces(segment.decode(bytes(bad) + good))
    assert [problem.offset for problem in piece.problems] == [0]
    (row,) = piece.batch.to_pylist()
    assert row["headers"] == [{"name": "h", "value": b"1"}, {"name": "n", "value": None}]
    assert (row["transactional"], row["control"], row["leader_epoch"]) == (True, False, 5)


def test_nothing_found_is_one_empty_batch() -> None:
    (piece,) = arrow.pieces([Problem(0, "nothing")])
    assert piece == arrow.Piece(
        pa.RecordBatch.from_pylist([], schema=arrow.SCHEMA), [Problem(0, "nothing")], -1
    )
