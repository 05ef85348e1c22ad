"""The framing of snappy-java's streams, in Kafka's messages and ZooKeeper's snapshots: blocks with a length.

Source: org.xerial.snappy.SnappyInputStream. It is not the framing format that snappy itself describes.
"""

from __future__ import annotations

import struct
from typing import Final

import cramjam

from zkdash.formats import bounds

MAGIC: Final = b"\x82SNAPPY\0"
_HEADER_SIZE: Final = 16  # magic, version, oldest version that reads it
_LENGTH = struct.Struct("!i")


def decompress(data: bytes, limit: int) -> bytes:
    """The bytes of a stream, `limit` at most; without the header they are one block of plain snappy.

    Raises ValueError.
    """
    if not data.startswith(MAGIC):
        return _block(data, limit)
    blocks = []
    position = _HEADER_SIZE
    while position < len(data):
        if data.startswith(MAGIC, position):  # streams may follow each other
            position += _HEADER_SIZE
            continue
        if len(data) - position < _LENGTH.size:
            raise ValueError("the snappy stream ends within a block's length")
        (length,) = _LENGTH.unpack_from(data, position)
        position += _LENGTH.size
        if not 0 <= length <= len(data) - position:
            raise ValueError(f"a snappy block of {length} bytes, where {len(data) - position} are left")
        blocks.append(_block(data[position : position + length], limit))
        limit -= len(blocks[-1])
        position += length
    return b"".join(blocks)


def _block(data: bytes, limit: int) -> bytes:
    try:
        if cramjam.snappy.decompress_raw_len(data) > limit:
            raise bounds.ExceededError("snappy: too large")
        return bytes(cramjam.snappy.decompress_raw(data))
    except cramjam.DecompressionError as error:
        raise ValueError(f"snappy: {error}") from error
