"""What follows bytes that are no entry: the next place where one begins whose checksum holds."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from zkdash.formats.kafkalog import batches, frames, messages
from zkdash.formats.kafkalog.frames import Frame, Source
from zkdash.formats.problems import Problem

# Where an entry may begin: an offset below 2⁴⁸, a size below 2²⁶, four bytes, a magic that there is.
_HEAD: Final = re.compile(rb"(?s)(?=\0\0.{6}(?!\0{4})[\0-\x03].{3}.{4}[\0-\2])")
_LENGTH: Final = 17
TRIED: Final = 2 << 30  # bytes of which checksums are made in one search: values may be full of false begins


class Following(NamedTuple):
    """Where whole entries begin again: this byte, with this offset; so many of them, up to `end`."""

    position: int
    offset: int
    entries: int
    end: int


class Unfound(NamedTuple):
    """The search ended at byte `position`, because it had tried too much: what is behind it is unknown."""

    position: int


def following(source: Source, position: int) -> Following | Unfound | None:
    """The next whole entry behind byte `position`, which begins none; None where there is no more."""
    at, tried = position + 1, 0
    while at < source.size - _LENGTH:
        piece = source.read(at, min(frames.WINDOW + _LENGTH, source.size - at))
        if len(piece) < _LENGTH:
            return None
        for match in _HEAD.finditer(piece):
            start = match.start()
            end = start + 12 + int.from_bytes(piece[start + 8 : start + 12], "big")
            if end - start - 12 < messages.LEAST or at + end > source.size:
                continue
            # what is not wholly in the piece is read once more
            tried += end - start if end <= len(piece) else max(end - start, frames.WINDOW)
            if tried > TRIED:
                return Unfound(at + start)
            if end <= len(piece) and not _is_valid(piece, start, end):
                continue
            entries = _entries(source, at + start)
            if entries:
                return entries
        at += max(len(piece) - _LENGTH + 1, 1)
    return None


def _is_valid(piece: bytes, start: int, end: int) -> bool:
    if piece[start + 16] >= 2:
        return batches.is_valid(piece, start, end)
    return messages.is_valid(piece, start, end)


def _entries(source: Source, position: int) -> Following | None:
    """The entries from a byte on whose checksums hold; None where the first one's does not."""
    first: Frame | None = None
    count, end = 0, position
    for frame in frames.walk(source, position):
        if isinstance(frame, Problem) or not frame.is_valid:
            break
        first = first or frame
        count += 1
        end = frame.position + frame.size
    return Following(first.position, first.offset, count, end) if first else None
