"""What does not agree with a log is found, and only that."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import google_crc32c
import pytest

from tests.formats import messages
from tests.formats.inspection.sources import source
from zkdash.formats.inspection import lookup, resync, verifying
from zkdash.formats.inspection.commits import Commits
from zkdash.formats.inspection.verifying import Check, Finding
from zkdash.formats.kafkalog import offsets, producer_snapshots, segment, transactions
from zkdash.formats.kafkalog.checkpoints import Epoch
from zkdash.formats.kafkalog.entries import Entry
from zkdash.formats.kafkalog.indexes import AbortedTxn, OffsetPosition, TimestampOffset
from zkdash.formats.problems import Problem

ONE = messages.batch(10, [(0, 0, b"k", b"v", ()), (1, 1, b"k", b"w", ())], newest=5, producer=(7, 0, 0))
TWO = messages.batch(12, [(0, 0, b"k", b"v", ())], newest=9, producer=(7, 0, 2))


def findings(data: bytes, checks: Sequence[Check] = (), whole: Sequence[Check] = ()) -> list[str]:
    log = verifying.Log(whole)
    found = [each for each in log.segment("f.log", source(data), 10, checks) if isinstance(each, Finding)]
    return [f"{each.file} {each.problem.offset}: {each.problem.reason}" for each in (*found, *log.end())]


def test_a_sound_log_has_no_finding() -> None:
    checks = (
        verifying.OffsetIndex("i", [OffsetPosition(12, len(ONE))]),
        verifying.TimeIndex("t", [TimestampOffset(5, 11), TimestampOffset(9, 12)]),
    )
    state = producer_snapshots.ProducerState(7, 0, 2, 12, 0, 9, -1, -1)
    whole = (verifying.Producers("s", 13, [state]), verifying.Epochs("e", [Epoch(5, 10)]))
    assert findings(ONE + TWO, checks, whole) == []


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (
            verifying.OffsetIndex("i", [OffsetPosition(12, 3)]),
            "i 0: no entry of the segment begins at byte 3",
        ),
        (
            verifying.OffsetIndex("i", [OffsetPosition(12, 0)]),
            "i 0: the entry at byte 0 does not hold offset 12",
        ),
        (
            verifying.OffsetIndex("i", [OffsetPosition(12, 999)]),
            "i 0: no entry of the segment begins at byte 999",
        ),
        (
            verifying.TimeIndex("t", [TimestampOffset(6, 11)]),
            "t 0: 6 is not the newest timestamp where offset 11 is",
        ),
        (verifying.TimeIndex("t", [TimestampOffset(9, 13)]), "t 0: no entry of the segment holds offset 13"),
        (
            verifying.AbortedTransactions("x", [AbortedTxn(7, 10, 12, 12)]),
            "x 0: producer 7 aborted no transaction at offset 12",
        ),
        (
            verifying.Producers("s", 13, [producer_snapshots.ProducerState(8, 0, 3, 12, 0, 9, -1, -1)]),
            (
                "s 0: producer 8, epoch 0, sequence 3 at offset 12, "
                "where the log has producer 7, epoch 0, sequence 2"
            ),
        ),
        (
            verifying.Producers("s", 12, [producer_snapshots.ProducerState(7, 0, 2, 12, 0, 9, -1, -1)]),
            "s 0: producer 7 at offset 12, where it tells up to 12",
        ),
        (verifying.Epochs("e", [Epoch(4, 10)]), "e 0: epoch 4 at offset 10, where the log has 5"),
        (
            verifying.Epochs("e", [Epoch(5, 10), Epoch(6, 14)]),
            "e 0: epoch 6 begins at 14, behind the log's end",
        ),
        (verifying.Epochs("e", [Epoch(5, 10), Epoch(5, 13)]), "e 0: epoch 5 from 13 follows 5"),
    ],
)
def test_what_contradicts_the_log_is_told_by_its_byte(check: Check, words: str) -> None:
    assert findings(ONE + TWO, [check]) == [words]


def test_offsets_and_epochs_that_fall_are_told() -> None:
    assert findings(TWO + ONE) == [f"f.log {len(TWO)}: offset 10 follows offset 12"]
    # neither is covered by a checksum
    later = TWO[:12] + struct.pack("!i", 4) + TWO[16:]
    assert findings(ONE + later) == [f"f.log {len(ONE)}: leader epoch 4 follows leader epoch 5"]


def test_what_follows_lost_framing_is_told() -> None:
    gap = b"\xff" * 30
    (told,) = findings(ONE + gap + TWO)
    assert told.startswith(f"f.log {len(ONE)}: an entry of -1 bytes: what follows cannot be read; from byte ")
    found = resync.following(source(ONE + gap + TWO), len(ONE))
    assert found == resync.Following(len(ONE) + 30, 12, 1, len(ONE) + 30 + len(TWO))
    assert resync.following(source(ONE + gap), len(ONE)) is None
    assert resync.following(source(ONE + bytes(5000) + TWO), len(ONE)) is not None


def test_a_search_for_what_follows_ends_where_it_has_tried_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    false = struct.pack("!qiib", 5, 900, 0, 2) * 100
    data = ONE + b"\xff" * 30 + false + TWO + bytes(1000)
    begin = len(ONE) + 30 + len(false)
    assert resync.following(source(data), len(ONE)) == resync.Following(begin, 12, 1, begin + len(TWO))
    monkeypatch.setattr(resync, "TRIED", 912 * 3)
    unfound = resync.following(source(data), len(ONE))
    assert isinstance(unfound, resync.Unfound)
    assert len(ONE) + 30 < unfound.position < begin
    (reason,) = findings(data)
    assert reason.endswith(f"no whole entry follows up to byte {unfound.position}, where the search ends")


def test_an_offset_and_a_time_are_found_through_the_index() -> None:
    data = source(ONE + TWO)
    places = [OffsetPosition(12, len(ONE))]
    found = lookup.offset(data, places, 11)
    assert isinstance(found, lookup.Location)
    assert (found.position, found.record and found.record.value) == (0, b"w")
    found = lookup.offset(data, places, 12)
    assert isinstance(found, lookup.Location)
    assert (found.place, found.passed) == (places[0], 0)
    assert lookup.offset(data, places, 13) is None
    found = lookup.time(data, places, [TimestampOffset(5, 11)], 1001)
    assert found is None  # 9 is the newest that the heads tell
    found = lookup.time(data, places, [TimestampOffset(5, 11)], 6)
    assert isinstance(found, lookup.Location)
    assert found.first_offset == 12
    assert list(lookup.before([(0, 10), (50, 20)], 90, 30, 25)) == [50, 0]


def test_a_snapshot_of_producers_is_read_or_a_problem() -> None:
    entry = struct.pack("!qhiqiqiq", 7, 1, 5, 90, 2, 1000, 3, -1)
    body = struct.pack("!i", 1) + entry
    data = struct.pack("!hI", 1, google_crc32c.value(body)) + body
    states = producer_snapshots.read(data)
    assert states == [(7, 1, 5, 90, 2, 1000, 3, -1)]
    assert not isinstance(states, Problem)
    assert states[0].first_sequence == 3
    for wrong in (data[:5], b"\0\2" + data[2:], data[:-1], data[:20] + b"x" + data[21:]):
        assert isinstance(producer_snapshots.read(wrong), Problem)


@pytest.mark.parametrize("version", [0, 1])
def test_a_transaction_is_read_in_every_version(version: int) -> None:
    head = struct.pack("!hqhib", version, 5, 1, 60_000, 1)
    times = struct.pack("!qq", 8, 7)
    if version == 0:
        partitions = struct.pack("!ih1sii", 1, 1, b"t", 1, 3)
        data = head + partitions + times
    else:
        data = head + b"\x02\x02t\x02" + struct.pack("!i", 3) + b"\0" + times + b"\0"
    assert transactions.value(data) == (5, 1, 60_000, "Ongoing", (("t", 3),), 8, 7)
    assert transactions.key(struct.pack("!hh", 0, 2) + b"id") == "id"
    assert isinstance(transactions.value(data[:-9]), Problem)
    assert isinstance(transactions.value(struct.pack("!hqhib", 0, 5, 1, 6, 99)), Problem)


def commit(offset: int, committed: int | None, *, producer: int = -1) -> bytes:
    key = struct.pack("!hh1sh1si", 1, 1, b"g", 1, b"t", 0)
    value = None if committed is None else struct.pack("!hqih", 3, committed, -1, 0) + struct.pack("!q", 99)
    attributes = 0x10 if producer >= 0 else 0
    return messages.batch(offset, [(0, 0, key, value, ())], attributes=attributes, producer=(producer, 0, 0))


def marker(offset: int, producer: int, kind: int) -> bytes:
    record = (0, 0, struct.pack("!hh", 0, kind), struct.pack("!hi", 0, 3), ())
    return messages.batch(offset, [record], attributes=0x30, producer=(producer, 0, -1))


@pytest.mark.parametrize(
    ("records", "wanted"),
    [
        ([commit(0, 5), commit(1, 6)], 6),
        ([commit(0, 5), commit(1, None)], None),
        ([commit(0, 5), commit(1, 9, producer=7)], 5),
        ([commit(0, 5), commit(1, 9, producer=7), marker(2, 7, 1)], 9),
        ([commit(0, 5), commit(1, 9, producer=7), marker(2, 7, 0)], 5),
        ([commit(0, 9, producer=7), commit(1, 5), marker(2, 7, 1)], 5),
        ([commit(0, 9, producer=7), marker(1, 8, 1)], None),
    ],
)
def test_the_last_commit_is_what_the_coordinator_takes(records: list[bytes], wanted: int | None) -> None:
    commits = Commits()
    for entry in segment.decode(b"".join(records)):
        assert isinstance(entry, Entry)
        assert list(commits.add(entry)) == []
    found = commits.found.get(offsets.OffsetKey("g", "t", 0))
    assert (found and found.value.offset) == wanted
