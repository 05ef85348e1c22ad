"""The file around the transactions: header, checksum, length, bytes, end mark; and how it ends."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from zkdash.formats.problems import Problem

HEADER_SIZE: Final = 16
HEAD: Final = struct.Struct("!qi")  # checksum, length
END_MARK: Final = 0x42
_HEADER = struct.Struct("!4siq")


class Frame(NamedTuple):
    """The bytes of one transaction, `start` to `end` in what was given; its checksum holds."""

    start: int
    end: int


class Header(NamedTuple):
    """`dbid` tells the logs of two ensembles apart (ZooKeeper itself always writes 0)."""

    version: int
    dbid: int


def header(data: bytes) -> Header | Problem:
    """The first 16 bytes of a log."""
    if len(data) < HEADER_SIZE:
        return Problem(
            0, f"the file ends after {len(data)} of the 16 bytes of a transaction log's header", torn=True
        )
    magic, version, dbid = _HEADER.unpack_from(data)
    if magic != b"ZKLG":
        return Problem(0, "not a transaction log: it does not begin with ZKLG")
    if version != 2:
        return Problem(4, f"a transaction log of version {version}; only version 2 is known")
    return Header(version, dbid)


def frames(data: bytes, *, base: int = 0) -> Iterator[Frame | Problem]:
    """The transactions' bytes up to the end of the log, with problems where they are.

    `data` are a log's bytes from byte `base` of the file on: 0, or the end of an earlier frame.
    A transaction with a wrong checksum is told and passed over; after lost framing nothing more is read.
    """
    position = 0
    if base == 0:
        head = header(data)
        if isinstance(head, Problem):
            yield head
            return
        position = HEADER_SIZE
    while True:
        ending = end(data, position, base)
        if ending is not None:
            if ending:
                yield ending
            return
        checksum, length = HEAD.unpack_from(data, position)
        start, position = position + 12, position + 13 + length
        if zlib.adler32(data[start : start + length]) == checksum:
            yield Frame(start, start + length)
        else:
            yield damaged(base + start - 12)


def damaged(offset: int) -> Problem:
    """A transaction whose framing is whole and whose bytes are not."""
    return Problem(offset, "the checksum of a transaction does not hold: it is left out")


def end(data: bytes, position: int, base: int) -> Problem | tuple[()] | None:
    """None where a whole frame begins; () at the proper end of a log; else what is wrong with the end."""
    if len(data) - position < HEAD.size:
        return _torn(base + position) if any(data[position:]) else ()
    checksum, length = HEAD.unpack_from(data, position)
    after = position + HEAD.size + length
    if length == 0 and checksum == 0:
        return _fill(data, position, base)
    if length <= 0:
        return Problem(base + position, f"a transaction of {length} bytes: what follows cannot be read")
    if after < len(data) and data[after] == END_MARK:
        return None
    if after >= len(data) or _is_zero(data, after):
        return _torn(base + position)
    return Problem(base + position, "a transaction does not end with its mark: what follows cannot be read")


def _torn(offset: int) -> Problem:
    return Problem(offset, "the log ends within a transaction", torn=True)


def _fill(data: bytes, position: int, base: int) -> Problem | tuple[()]:
    """Files are allocated ahead (64 MiB by default), so that zeros follow the last transaction."""
    if _is_zero(data, position):
        return ()
    return Problem(base + position, "bytes follow where the log ended: they are not read")


def _is_zero(data: bytes, position: int) -> bool:
    return data.count(0, position) == len(data) - position
