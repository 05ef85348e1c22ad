"""A segment in a few numbers is what all of its records say, and damage is told as what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats import messages
from tests.formats.inspection.sources import source
from zkdash.formats.inspection.contents import contents
from zkdash.formats.kafkalog import segment, segments_07
from zkdash.formats.kafkalog.entries import Entry

SEGMENTS = Path(__file__).parents[2] / "fixtures" / "segments"
TWO = [(0, 0, b"k", b"v", ()), (1, 1, b"k", b"w", ())]


@pytest.mark.parametrize("release", ["0.7.2", "1.1.1", "3.9.1"])
def test_the_numbers_of_a_segment_are_those_of_its_records(release: str) -> None:
    seen = 0
    for path in sorted((SEGMENTS / release).glob("*/*/*")):
        if path.suffix not in (".log", ".kafka"):
            continue
        is_oldest = path.suffix == ".kafka"
        decode = segments_07.decode if is_oldest else segment.decode
        entries = [each for each in decode(path.read_bytes()) if isinstance(each, Entry)]
        whole = contents(source(path.read_bytes()), int(path.stem), is_oldest=is_oldest)
        assert (whole.tail, whole.damaged, whole.whole_bytes) == (None, 0, path.stat().st_size)
        assert (whole.entries, whole.records) == (len(entries), sum(len(each.records) for each in entries))
        assert set(whole.codecs) == {each.codec for each in entries}
        if is_oldest:
            assert whole.next_offset == path.stat().st_size
            continue
        times = [each.max_timestamp for each in entries if each.max_timestamp is not None]
        assert (whole.first_ms, whole.last_ms) == ((times[0], max(times)) if times else (None, None))
        assert whole.next_offset == (entries[-1].last_offset + 1 if entries else int(path.stem))
        seen += len(entries)
    assert seen or release == "0.7.2"


def test_wrappers_are_counted_by_what_is_in_them_and_times_of_v0_are_unknown() -> None:
    inner = messages.message(0, b"a", timestamp=5) + messages.message(1, b"b", timestamp=9)
    whole = contents(source(messages.wrapper(11, inner, "gzip", timestamp=9)), 10)
    assert (whole.records, whole.next_offset, whole.last_ms, whole.codecs) == (2, 12, 9, ("gzip",))
    whole = contents(source(messages.message(10, b"a", magic=0)), 10)
    assert (whole.records, whole.first_ms, whole.last_ms, whole.leader_epoch) == (1, None, None, None)


def test_an_entry_that_is_damaged_or_half_written_is_neither_counted_nor_zero() -> None:
    first, second = messages.batch(10, TWO, newest=7), messages.batch(12, TWO, newest=9)
    torn = contents(source(first + second[:-3]), 10)
    assert (torn.records, torn.next_offset, torn.last_ms, torn.whole_bytes) == (2, 12, 7, len(first))
    assert torn.tail is not None
    assert torn.tail.torn
    flipped = bytearray(first + second)
    flipped[-1] ^= 1
    damaged = contents(source(bytes(flipped)), 10)
    assert (damaged.damaged, damaged.records, damaged.entries, damaged.next_offset) == (1, None, 2, 12)
    ahead = contents(source(first + bytes(400)), 10)
    assert ahead.tail is not None
    assert ahead.tail.reason == "zeros follow the last entry"
