"""What follows bytes that are no entry: the next place where one begins whose checksum holds."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from zkdash.formats.kafkalog import frames, messages
from zkdash.formats.kafkalog.frames import Frame, Source
from zkdash.formats.problems import Problem

# Where an entry may begin: an offset below 2⁴⁸, a size below 2²⁶, four bytes, a magic that there is.
_HEAD: Final = re.compile(rb"(?s)(?=\0\0.{6}(?!\0{4})[\0-\x03].{3}.{4}[\0-\2])")
_LENGTH: Final = 17


class Following(NamedTuple):
    """Where whole entries begin again: this byte, with this offset; so many of them, up to `end`."""

    position: int
    offset: int
    entries: int
    end: int


def following(source: Source, position: int) -> Following | None:
    """The next whole entry behind byte `position`, which begins none; None where there is no more."""
    at = position + 1
    while at < source.size - _LENGTH:
        piece = source.read(at, min(frames.WINDOW + _LENGTH, source.size - at))
        if len(piece) < _LENGTH:
            return None
        for match in _HEAD.finditer(piece):
            entries = _whole(source, piece, at, match.start())
            if entries:
                return entries
        at += max(len(piece) - _LENGTH + 1, 1)
    return None


def _whole(source: Source, piece: bytes, origin: int, start: int) -> Following | None:
    size = int.from_bytes(piece[start + 8 : start + 12], "big")
    if not messages.LEAST <= size <= source.size - origin - start - 12:
        return None
    first: Frame | None = None
    count, end = 0, origin + start
    for frame in frames.walk(source, origin + start):
        if isinstance(frame, Problem) or not frame.is_valid:
            break
        first = first or frame
        count += 1
        end = frame.position + frame.size
    return Following(first.position, first.offset, count, end) if first else None
