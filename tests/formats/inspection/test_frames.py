"""Segments read in pieces are what they are when they are read as a whole, and cost no memory."""

from __future__ import annotations

import random
import struct
import tracemalloc

import pytest

from tests.formats import messages
from tests.formats.inspection.sources import source
from zkdash.formats.kafkalog import frames, segment, segments_07
from zkdash.formats.kafkalog.entries import Entry
from zkdash.formats.kafkalog.frames import Frame, Source
from zkdash.formats.problems import Problem

MIXED = b"".join(
    [
        *(messages.message(n, b"v" * (7 * n), magic=n % 2, timestamp=n) for n in range(20)),
        messages.wrapper(25, messages.message(3, b"a") + messages.message(5, b"b"), "gzip"),
        *(
            messages.batch(30 + 2 * n, [(0, 0, b"k", b"v" * n, ()), (1, 1, None, None, ())], codec=codec)
            for n, codec in enumerate(messages.CODECS)
        ),
    ]
)


def decoded(data: bytes) -> list[Entry | Problem]:
    return [each if isinstance(each, Problem) else frames.entry(each) for each in frames.walk(source(data))]


@pytest.mark.parametrize("window", [17, 64, 300, 1 << 20])
def test_pieces_of_any_size_hold_the_same_entries(monkeypatch: pytest.MonkeyPatch, window: int) -> None:
    monkeypatch.setattr(frames, "WINDOW", window)
    assert decoded(MIXED) == list(segment.decode(MIXED))


def test_damage_anywhere_is_told_where_it_is() -> None:
    chance = random.Random(7)  # noqa: S311 - damage, no secret
    for _ in range(300):
        at = chance.randrange(len(MIXED))
        data = MIXED[:at] + bytes([MIXED[at] ^ 1 << chance.randrange(8)]) + MIXED[at + 1 :]
        wanted = [each for each in segment.decode(data) if isinstance(each, Problem) and not each.torn]
        found = [each for each in decoded(data) if isinstance(each, Problem) and not each.torn]
        places = {
            each.offset for each in wanted if "follow" not in each.reason and "ends an" not in each.reason
        }
        assert {each.offset for each in found} >= places


def test_every_cut_is_a_torn_end() -> None:
    ends = {each.position + each.size for each in segment.decode(MIXED) if isinstance(each, Entry)}
    for cut in range(1, len(MIXED)):
        *_, last = frames.walk(source(MIXED[:cut]))
        assert isinstance(last, Frame) == (cut in ends)
        assert isinstance(last, Frame) or last.torn


def test_messages_of_0_7_are_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"".join(messages.oldest(b"x" * n, magic=n % 2) for n in range(40))
    monkeypatch.setattr(frames, "WINDOW", 50)
    walked = list(frames.walk_07(source(data), 1000))
    found = [frames.entry(each) for each in walked if isinstance(each, Frame)]
    wanted = list(segments_07.decode(data, base=1000))
    assert [each.records for each in found if isinstance(each, Entry)] == [
        each.records for each in wanted if isinstance(each, Entry)
    ]
    assert [each.offset for each in walked] == [each.position for each in wanted if isinstance(each, Entry)]
    *_, torn = frames.walk_07(source(data[:-1]), 0)
    assert isinstance(torn, Problem)
    assert torn.torn


def test_an_entry_that_is_too_large_is_checked_but_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "HELD", 1000)
    monkeypatch.setattr(frames, "WINDOW", 64)
    large = messages.batch(5, [(0, 0, None, b"v" * 2000, ())])
    (frame, after) = frames.walk(source(large + messages.batch(6, [(0, 0, None, b"", ())])))
    assert isinstance(frame, Frame)
    assert frame.is_valid
    assert frame.data == b""
    assert isinstance(frames.entry(frame), Problem)
    assert isinstance(frames.entry(after), Entry)  # type: ignore[arg-type]
    (wrong,) = frames.walk(source(large[:-1] + b"w"))
    assert isinstance(wrong, Frame)
    assert not wrong.is_valid


def test_memory_stays_flat_on_a_long_segment() -> None:
    data = messages.batch(0, [(n, n, b"k", b"v" * 1000, ()) for n in range(16)])
    count = 4000  # 64 MiB

    def read(position: int, size: int) -> bytes:
        number, at = divmod(position, len(data))
        many = b"".join(struct.pack("!q", 16 * (number + n)) + data[8:] for n in range(size // len(data) + 2))
        return many[at : at + size]

    tracemalloc.start()
    for frame in frames.walk(Source(read, count * len(data))):
        assert isinstance(frame, Frame)
        assert isinstance(frames.entry(frame), Entry)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 << 20


def test_a_file_that_shrinks_while_it_is_read_ends_there() -> None:
    *_, last = frames.walk(Source(lambda position, size: MIXED[position : position + size][:50], len(MIXED)))
    assert isinstance(last, Problem)
    assert last.torn
