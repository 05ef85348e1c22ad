"""What stands beside the segments: indexes, checkpoints, properties; and what a commit says."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats import messages
from zkdash.formats.kafkalog import checkpoints, indexes, offsets, segment
from zkdash.formats.kafkalog.entries import Entry
from zkdash.formats.kafkalog.indexes import AbortedTxn, OffsetPosition, TimestampOffset
from zkdash.formats.problems import Problem

SEGMENTS = Path(__file__).parents[1] / "fixtures" / "segments"
# a broker of 3.9 deletes the indexes first
LOGS = sorted(path for path in SEGMENTS.glob("[13]*/*/*/*.log") if path.with_suffix(".index").exists())


def entries(data: bytes) -> list[Entry]:
    return [each for each in segment.decode(data) if isinstance(each, Entry)]


def test_every_recorded_index_fits_its_segment() -> None:
    counted = 0
    for log in LOGS:
        found = entries(log.read_bytes())
        base = int(log.stem)
        places, wrong = indexes.offset_positions(log.with_suffix(".index").read_bytes(), base)
        moments, late = indexes.timestamp_offsets(log.with_suffix(".timeindex").read_bytes(), base)
        assert [*wrong, *late] == []
        assert list(indexes.misplaced(places, found)) == []
        assert list(indexes.mistimed(moments, found)) == []
        counted += len(places) + len(moments)
    assert counted > len(LOGS) / 2


def test_an_index_that_its_segment_contradicts_is_told() -> None:
    one, two = messages.message(10, b"a", timestamp=5), messages.message(11, b"b", timestamp=7)
    found = entries(one + two)
    right = [OffsetPosition(10, 0), OffsetPosition(11, len(one))]
    assert list(indexes.misplaced(right, found)) == []
    wrong = [OffsetPosition(10, 3), OffsetPosition(10, len(one)), OffsetPosition(12, 0)]
    assert [problem.offset for problem in indexes.misplaced(wrong, found)] == [0, 8, 16]
    assert list(indexes.mistimed([TimestampOffset(7, 11)], found)) == []
    late = [TimestampOffset(5, 11), TimestampOffset(7, 11), TimestampOffset(7, 12), TimestampOffset(5, 9)]
    assert [problem.offset for problem in indexes.mistimed(late, found)] == [0, 24, 36]


def test_the_zeros_behind_an_index_are_none_of_its_entries() -> None:
    data = struct.pack("!iiii", 3, 4096, 9, 8192) + bytes(80)
    assert indexes.offset_positions(data, 100) == ([OffsetPosition(103, 4096), OffsetPosition(109, 8192)], [])
    assert indexes.timestamp_offsets(struct.pack("!qi", 1000, 4) + bytes(120), 100) == (
        [TimestampOffset(1000, 104)],
        [],
    )


def test_entries_that_fall_and_half_ones_are_told() -> None:
    places, problems = indexes.offset_positions(struct.pack("!iiii", 9, 8192, 3, 4096) + b"abc", 0)
    assert len(places) == 2
    assert [(problem.offset, problem.torn) for problem in problems] == [(16, True), (8, False)]


def test_aborted_transactions_are_read() -> None:
    data = struct.pack("!hqqqq", 0, 7, 10, 20, 9) + struct.pack("!hqqqq", 1, 7, 10, 20, 9) + b"x"
    found, problems = indexes.aborted(data)
    assert found == [AbortedTxn(7, 10, 20, 9)]
    assert sorted(problem.offset for problem in problems) == [34, 68]


def test_an_aborted_transaction_without_its_marker_is_told() -> None:
    marker = (0, 0, struct.pack("!hh", 0, 0), bytes(6), ())
    data = messages.batch(10, [(0, 0, None, b"x", ())], attributes=0x10, producer=(7, 0, 0))
    found = entries(data + messages.batch(11, [marker], attributes=0x30, producer=(7, 0, -1)))
    told = [AbortedTxn(7, 10, 11, 10), AbortedTxn(7, 10, 10, 10), AbortedTxn(8, 10, 11, 10)]
    assert [problem.offset for problem in indexes.unmarked(told, found)] == [34, 68]


def test_every_recorded_checkpoint_and_property_is_read() -> None:
    for path in SEGMENTS.glob("[13]*/*/*-checkpoint"):
        found = checkpoints.offsets(path.read_bytes())
        assert isinstance(found, list)
        assert len(found) == max(0, len(path.read_text().splitlines()) - 2)
    told = checkpoints.properties((SEGMENTS / "3.9.1/broker-1/meta.properties").read_bytes())
    assert told["broker.id"] == "1"
    assert told["version"] == "0"
    assert told["cluster.id"]


def test_a_checkpoint_is_wholly_right_or_a_problem() -> None:
    right = b"0\n2\norders 0 21\nwide.topic 11 -1\n"
    assert checkpoints.offsets(right) == [("orders", 0, 21), ("wide.topic", 11, -1)]
    assert checkpoints.epochs(b"0\n1\n3 120\n") == [(3, 120)]
    for wrong, line in (
        (b"1\n0\n", 1),
        (b"0\nx\n", 2),
        (b"0\n1\norders 0\n", 3),
        (b"0\n1\norders 0 1_0\n", 3),
    ):
        found = checkpoints.offsets(wrong)
        assert isinstance(found, Problem)
        assert found.reason.startswith(f"line {line}:")
    assert checkpoints.offsets(b"") == []
    for cut in range(1, len(right) - 4):
        assert isinstance(checkpoints.offsets(right[:cut]), Problem)


@given(st.binary(max_size=100))
def test_bytes_of_any_kind_raise_nothing(data: bytes) -> None:
    checkpoints.offsets(data)
    checkpoints.epochs(data)
    checkpoints.properties(data)
    indexes.offset_positions(data, 0)
    indexes.timestamp_offsets(data, 0)
    indexes.aborted(data)
    for read in (offsets.key, offsets.offset, offsets.group, offsets.subscription, offsets.assignment):
        read(data)
        for version in range(5):
            read(struct.pack("!h", version) + data)


def text(value: str | None) -> bytes:
    return struct.pack("!h", -1) if value is None else struct.pack("!h", len(value.encode())) + value.encode()


def compact(value: str | bytes | None) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return b"\0" if data is None else bytes([len(data) + 1]) + data


def sized(data: bytes) -> bytes:
    return struct.pack("!i", len(data)) + data


def test_keys_are_read_in_every_version() -> None:
    for version in (0, 1):
        data = struct.pack("!h", version) + text("g") + text("tü") + struct.pack("!i", 3)
        assert offsets.key(data) == offsets.OffsetKey("g", "tü", 3)
    assert offsets.key(struct.pack("!h", 2) + text("g")) == offsets.GroupKey("g")
    assert isinstance(offsets.key(struct.pack("!h", 3) + text("g")), Problem)


@pytest.mark.parametrize(
    ("version", "body", "wanted"),
    [
        (0, struct.pack("!q", 5) + text("m") + struct.pack("!q", 9), (5, -1, "m", 9, None)),
        (1, struct.pack("!q", 5) + text("m") + struct.pack("!qq", 9, 10), (5, -1, "m", 9, 10)),
        (2, struct.pack("!q", 5) + text("m") + struct.pack("!q", 9), (5, -1, "m", 9, None)),
        (3, struct.pack("!qi", 5, 4) + text("m") + struct.pack("!q", 9), (5, 4, "m", 9, None)),
        (4, struct.pack("!qi", 5, 4) + compact("m") + struct.pack("!q", 9) + b"\0", (5, 4, "m", 9, None)),
    ],
)
def test_commits_are_read_in_every_version(version: int, body: bytes, wanted: tuple[object, ...]) -> None:
    assert offsets.offset(struct.pack("!h", version) + body) == wanted


@pytest.mark.parametrize("version", range(4))
def test_groups_are_read_in_every_version(version: int) -> None:
    body = text("consumer") + struct.pack("!i", 7) + text("range") + text(None)
    body += struct.pack("!q", 99) if version >= 2 else b""
    body += struct.pack("!i", 1) + text("m") + (text("i") if version >= 3 else b"") + text("c") + text("/h")
    body += struct.pack("!i", 60) if version >= 1 else b""
    body += struct.pack("!i", 30) + sized(b"sub") + sized(b"asg")
    member = offsets.Member(
        "m", "i" if version >= 3 else None, "c", "/h", 60 if version >= 1 else 30, 30, b"sub", b"asg"
    )
    wanted = offsets.Group("consumer", 7, "range", None, 99 if version >= 2 else -1, (member,))
    assert offsets.group(struct.pack("!h", version) + body) == wanted


def test_a_flexible_group_is_read_past_its_tagged_fields() -> None:
    member = b"".join(map(compact, ("m", None, "c", "/h"))) + struct.pack("!ii", 60, 30)
    member += compact(b"sub") + compact(b"asg") + b"\x01\x00\x02xx"
    body = (
        compact("consumer") + struct.pack("!i", 7) + compact("range") + compact("m") + struct.pack("!q", 99)
    )
    body += b"\x03" + member * 2 + b"\0"
    found = offsets.group(struct.pack("!h", 4) + body)
    assert isinstance(found, offsets.Group)
    assert found.members == (offsets.Member("m", None, "c", "/h", 60, 30, b"sub", b"asg"),) * 2


def test_a_members_bytes_are_read_in_every_version() -> None:
    topics = struct.pack("!i", 1) + text("t")
    owned = topics + struct.pack("!iii", 2, 0, 1)
    base = topics + sized(b"u")
    more = (b"", owned, struct.pack("!i", 5), text("rack"))
    for version in range(4):
        data = struct.pack("!h", version) + base + b"".join(more[: version + 1])
        assert offsets.subscription(data) == offsets.Subscription(
            version,
            ("t",),
            b"u",
            (("t", (0, 1)),) if version >= 1 else (),
            5 if version >= 2 else -1,
            "rack" if version >= 3 else None,
        )
    given_bytes = struct.pack("!h", 0) + owned + struct.pack("!i", -1)
    assert offsets.assignment(given_bytes) == offsets.Assignment(0, (("t", (0, 1)),), None)
    assert offsets.assignment(b"") == offsets.Assignment(-1, (), None)
