"""Frames out of chunks: however they are cut, and whatever is announced."""

from __future__ import annotations

import itertools
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.zk.wire import jute
from zkdash.zk.wire.stream import MAX_FRAME, BrokenError, Cause, Event, Replies, Reply, Stream


def answer(xid: int, zxid: int, body: bytes = b"", error: int = 0) -> bytes:
    return struct.pack("!iiqi", 16 + len(body), xid, zxid, error) + body


def sent(count: int) -> Stream:
    stream = Stream(7)
    for number in range(count):
        stream.write(jute.EXISTS, b"", f"token {number}")
    return stream


WHOLE = answer(1, 5, b"one") + answer(-1, 6, b"event") + answer(-2, 0) + answer(2, 7, b"", -101)
ITEMS = [Reply(7, "token 0", 5, 0, b"one"), Event(7, 6, b"event"), Reply(7, "token 1", 7, -101, b"")]


@given(st.lists(st.integers(0, len(WHOLE)), max_size=12))
def test_frames_are_whole_however_they_are_cut(cuts: list[int]) -> None:
    stream, items = sent(2), []
    edges = [0, *sorted(cuts), len(WHOLE)]
    for start, end in itertools.pairwise(edges):
        items += stream.feed(WHOLE[start:end])
    assert items == ITEMS
    assert stream.zxid == 7


@given(st.lists(st.integers(0, len(WHOLE)), max_size=12))
def test_what_was_sent_in_one_go_is_answered_as_one(cuts: list[int]) -> None:
    stream, items = Stream(7), []
    stream.write_each([(jute.GET_DATA, b"/a"), (jute.GET_DATA, b"/b")], "both")
    edges = [0, *sorted(cuts), len(WHOLE)]
    for start, end in itertools.pairwise(edges):
        items += stream.feed(WHOLE[start:end])
    assert items == [Event(7, 6, b"event"), Replies(7, "both", 7, [b"one", -101])]


def test_answers_that_are_taken_as_one_are_bounded_together() -> None:
    stream, half = Stream(7), bytes(MAX_FRAME // 2)
    stream.write_each([(jute.GET_DATA, b"/a")] * 3, "all")
    assert not stream.feed(answer(1, 5, half))
    with pytest.raises(BrokenError) as caught:
        stream.feed(answer(2, 5, half + b"more"))
    assert caught.value.cause is Cause.TOO_LARGE


@pytest.mark.parametrize(
    ("chunk", "cause"),
    [
        (struct.pack("!i", 2**31 - 1), Cause.TOO_LARGE),
        (struct.pack("!i", MAX_FRAME + 1), Cause.TOO_LARGE),
        (struct.pack("!i", -1), Cause.NOT_ZOOKEEPER),
        (struct.pack("!i", 15), Cause.NOT_ZOOKEEPER),
        (answer(3, 1), Cause.NOT_ZOOKEEPER),
        (answer(2, 1), Cause.NOT_ZOOKEEPER),
    ],
)
def test_a_frame_that_cannot_be_ends_the_connection_before_it_is_taken(chunk: bytes, cause: Cause) -> None:
    with pytest.raises(BrokenError) as caught:
        sent(2).feed(chunk)
    assert caught.value.cause is cause


@given(st.binary(max_size=200))
def test_any_bytes_end_the_connection_or_wait_for_more(chunk: bytes) -> None:
    try:
        sent(1).feed(chunk)
    except BrokenError:
        return
