"""The four compressions of Kafka, two of which ordinary libraries refuse as Kafka writes them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Final

import cramjam

from zkdash.formats import bounds, xerial

_LZ4_MAGIC: Final = 0x184D2204
_U32 = struct.Struct("<I")
_INDEPENDENT: Final = 0x20
_UNCOMPRESSED: Final = 0x80000000
_LARGEST_BLOCKS: Final = {4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}


def decompress(codec: str, data: bytes, *, limit: int | None = None) -> bytes:
    """The bytes that `data` stand for, `limit` at most, else ENTRY_BYTES of `bounds`.

    Raises ValueError, its reason without any of them.
    """
    try:
        return _CODECS[codec](data, bounds.ENTRY_BYTES if limit is None else limit)
    except cramjam.DecompressionError as error:
        raise ValueError(f"{codec}: {error}") from error


def _gzip(data: bytes, limit: int) -> bytes:
    stream = zlib.decompressobj(wbits=31)
    try:
        plain = stream.decompress(data, limit)
    except zlib.error as error:
        raise ValueError(f"gzip: {error}") from error
    if stream.unconsumed_tail:
        raise bounds.ExceededError("gzip: too large")
    if not stream.eof:
        raise ValueError("gzip: the stream ends too early")
    return plain


def _zstd(data: bytes, limit: int) -> bytes:
    return _into(cramjam.zstd.decompress_into, data, limit)


def _lz4(data: bytes, limit: int) -> bytes:
    """An lz4 frame, its header's checksum not looked at: Kafka's is wrong in magic 0 (KAFKA-3160).

    The entry's own checksum covers all of it. Kafka's blocks are independent of each other; a frame of
    linked ones is left to the library.
    """
    if len(data) < 7 or _U32.unpack_from(data)[0] != _LZ4_MAGIC:
        raise ValueError("lz4: not a frame")
    flags, largest = data[4], _LARGEST_BLOCKS.get(data[5] >> 4 & 7)
    if flags & _INDEPENDENT == 0:
        return _into(cramjam.lz4.decompress_into, data, limit)
    if flags >> 6 != 1 or flags & 1 or largest is None:
        raise ValueError("lz4: a frame of a kind that Kafka does not write")
    position = 7 + (8 if flags & 8 else 0)
    blocks: list[bytes] = []
    while True:
        size = _read_u32(data, position)
        position += 4
        if size == 0:
            return b"".join(blocks)
        length = size & ~_UNCOMPRESSED
        block = data[position : position + length]
        if len(block) < length:
            raise ValueError("lz4: the frame ends within a block")
        position += length + (4 if flags & 0x10 else 0)
        plain = block if size & _UNCOMPRESSED else _into(cramjam.lz4.decompress_block_into, block, largest)
        limit -= len(plain)
        if limit < 0:
            raise bounds.ExceededError("lz4: too large")
        blocks.append(plain)


def _into(decompress_into: Callable[[bytes, bytearray], int], data: bytes, limit: int) -> bytes:
    """Decompress into memory of `limit` bytes at most, tried with less first."""
    size = min(limit, 16 * len(data) + 4096)
    while True:
        plain = bytearray(size)
        try:
            return bytes(memoryview(plain)[: decompress_into(data, plain)])
        except cramjam.DecompressionError:
            if size >= limit:
                raise
            size = min(limit, size * 16)


def _read_u32(data: bytes, position: int) -> int:
    if len(data) < position + 4:
        raise ValueError("lz4: the frame ends too early")
    value: int = _U32.unpack_from(data, position)[0]
    return value


_CODECS: Final[dict[str, Callable[[bytes, int], bytes]]] = {
    "gzip": _gzip,
    "snappy": xerial.decompress,
    "lz4": _lz4,
    "zstd": _zstd,
}
