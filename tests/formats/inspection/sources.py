"""Bytes as a file that is read in pieces."""

from __future__ import annotations

from zkdash.formats.kafkalog.frames import Source


def source(data: bytes) -> Source:
    return Source(lambda position, size: data[position : position + size], len(data))
