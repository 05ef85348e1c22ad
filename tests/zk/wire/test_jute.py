"""Requests and answers as bytes: what is decoded, and that nothing hostile does more than be refused."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.zk.wire import jute
from zkdash.znode import Stat, Znode

STAT = Stat(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
END = struct.pack("!iBi", -1, 1, -1)


def got(znode: Znode) -> bytes:
    return struct.pack("!iBi", 4, 0, 0) + znode


def listed(*names: bytes) -> bytes:
    parts = b"".join(struct.pack("!i", len(name)) + name for name in names)
    return struct.pack("!iBii", 8, 0, 0, len(names)) + parts


def failed(code: int) -> bytes:
    return struct.pack("!iBii", -1, 0, code, code)


def test_gets_listings_and_errors_are_told_apart() -> None:
    znode, empty, null = Znode.of(b"data", STAT), Znode.of(b"", STAT), Znode.of(None, STAT)
    body = got(znode) + failed(-101) + got(empty) + got(null) + listed(b"a", b"b") + failed(-102) + END
    assert jute.read_multi(body, 4, 2) == ([znode, -101, empty, null], [["a", "b"], -102])
    assert null.data is None
    assert empty.data == b""


def test_a_name_that_is_no_text_is_left_out() -> None:
    assert jute.read_multi(listed(b"a", b"\xed\xa0\x80", "é".encode()) + END, 0, 1) == ([], [["a", "é"]])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        END,
        got(Znode.of(b"data", STAT)),
        got(Znode.of(b"data", STAT))[:-1] + END,
        got(Znode.of(b"data", STAT)) + END + b"x",
        struct.pack("!iBii", 4, 0, 0, 2**31 - 1) + END,
        struct.pack("!iBii", 14, 0, 0, 0) + END,
    ],
)
def test_a_malformed_answer_is_refused(body: bytes) -> None:
    with pytest.raises(jute.MalformedError):
        jute.read_multi(body, 1, 0)


@given(st.binary(max_size=400), st.integers(0, 3), st.integers(0, 3))
def test_any_bytes_are_an_answer_or_refused(body: bytes, gets: int, lists: int) -> None:
    try:
        znodes, listings = jute.read_multi(body, gets, lists)
    except jute.MalformedError:
        return
    assert (len(znodes), len(listings)) == (gets, lists)


@given(st.binary(max_size=64))
def test_any_bytes_are_an_event_or_refused(body: bytes) -> None:
    try:
        kind, path = jute.read_event(body)
    except jute.MalformedError:
        return
    assert isinstance(kind, int)
    assert isinstance(path, bytes)


@pytest.mark.parametrize(
    ("chroot", "path", "full"),
    [
        ("", "/", b"/"),
        ("", "/a", b"/a"),
        ("/a", "/", b"/a"),
        ("/a/b", "/c", b"/a/b/c"),
        ("/é", "/ü", "/é/ü".encode()),
    ],
)
def test_a_chroot_is_prefixed_and_stripped(chroot: str, path: str, full: bytes) -> None:
    place = jute.Chroot(chroot)
    assert place.full(path) == full
    assert place.strip(full) == path


@pytest.mark.parametrize("full", [b"/ab", b"/ab/c", b"/", b"/b", b"", b"/a/\xff"])
def test_what_is_outside_of_the_chroot_or_no_text_has_no_path(full: bytes) -> None:
    assert jute.Chroot("/a").strip(full) is None
