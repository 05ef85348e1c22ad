"""The fast decoder's only loop over a log: where each operation's record lies, checksums checked."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import Final

from zkdash.formats import bounds
from zkdash.formats.problems import Problem
from zkdash.formats.txnlog import frames, plain, rows

_HEAD = struct.Struct("!qi28xi")  # checksum, length, past session, cxid, zxid and time: type
_PART = struct.Struct("!ii")
_HEADER_SIZE: Final = plain.HEADER.size
_DIGEST_SIZE: Final = 12
_ANY_PIECE_BYTES: Final = 64 << 20


@dataclass
class Walk:
    """Positions in the given bytes.

    `starts` and `ends` are those of plain transactions. `parts` are those of multis: (start and end of the
    transaction, op, type, start and end of the part's record, position of the digest or 0, failed).
    `odd` are transactions for the plain decoder: anything unusual, and sessions closed with ephemerals.
    """

    position: int
    is_done: bool = False
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    parts: list[tuple[int, int, int, int, int, int, int, bool]] = field(default_factory=list)
    odd: list[tuple[int, int]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def walk(data: bytes, position: int, base: int, limit: int) -> Walk:
    """Walk from a frame's start over about `limit` operations, or to the end of the log."""
    stretch = Walk(position)
    view, size, furthest = memoryview(data), len(data), position + _ANY_PIECE_BYTES
    last_head, adler32, unpack = size - _HEAD.size, zlib.adler32, _HEAD.unpack_from
    starts, ends = stretch.starts, stretch.ends
    while limit > 0 and position < furthest:
        limit -= 1
        if position <= last_head:
            checksum, length, kind = unpack(data, position)
        else:
            checksum = length = kind = 0
        start = position + 12
        after = start + length
        if length < _HEADER_SIZE or after >= size or data[after] != frames.END_MARK:
            ending = frames.end(data, position, base)
            if ending is not None:
                stretch.problems.extend([ending] if ending else [])
                stretch.is_done = True
                break
            checksum, length = frames.HEAD.unpack_from(data, position)
            after, kind = start + length, 0
        if adler32(view[start:after]) != checksum:
            stretch.problems.append(frames.damaged(base + position))
        elif kind == rows.MULTI:
            limit -= _unfold(data, start, after, stretch)
        elif kind in (rows.CLOSE_SESSION, 0):
            stretch.odd.append((start, after))
        else:
            starts.append(start)
            ends.append(after)
        position = after + 1
    stretch.position = position
    return stretch


def _unfold(data: bytes, start: int, end: int, stretch: Walk) -> int:
    """The parts of a multi, and how many; one that does not fit together is odd."""
    position = start + _HEADER_SIZE
    made = []
    failed = False
    for op in range(_count(data, position, end)):
        record = position + 4 + _PART.size
        if record > end:
            break
        kind, size = _PART.unpack_from(data, position + 4)
        if size < 0 or record + size > end:
            break
        failed |= kind == rows.ERROR
        made.append((op, kind, record, record + size))
        position = record + size - 4
    else:
        left = end - position - 4
        if made and left in (0, _DIGEST_SIZE):
            digest = end - _DIGEST_SIZE if left else 0
            stretch.parts.extend([(start, end, *part, digest, failed) for part in made])
            return len(made)
    stretch.odd.append((start, end))
    return 1


def _count(data: bytes, position: int, end: int) -> int:
    if end - position < 4:
        return 0
    count = int.from_bytes(data[position : position + 4], "big", signed=True)
    return count if 0 < count * 4 <= end - position - 4 and count <= bounds.ELEMENTS else 0
