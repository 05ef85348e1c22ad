"""Segments and fetch results of Kafka 0.7: messages without keys, whose offsets are positions in bytes.

Message: length int32, magic int8, with magic 1 attributes int8, crc32 of the payload only, payload. Source:
kafka.message.{Message, ByteBufferMessageSet}, kafka.log.Log.recover of 0.7, and document 002.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from zkdash.formats import bounds
from zkdash.formats.kafkalog import codecs
from zkdash.formats.kafkalog.entries import CODECS, Entry, Record, held
from zkdash.formats.problems import Problem

_LENGTH = struct.Struct("!i")
_SENT = struct.Struct("!ih")  # bytes after the length, error code
_HEAD_SIZES: Final = {0: 5, 1: 6}  # magic, attributes, crc


class Fetched(NamedTuple):
    """A fetch result: the broker's error code (0 is none, 1 offset out of range) and what it sent."""

    error: int
    found: tuple[Entry | Problem, ...]


class Framed(NamedTuple):
    """A message that is not decoded: its size in bytes, with its length, and whether its checksum holds."""

    size: int
    magic: int
    is_valid: bool


class _Message(NamedTuple):
    magic: int
    attributes: int
    crc: int
    payload: bytes

    @property
    def is_valid(self) -> bool:
        return zlib.crc32(self.payload) == self.crc


def decode(data: bytes, *, base: int = 0) -> Iterator[Entry | Problem]:
    """The messages of a segment or of a message set, and problems where they are.

    `base` is the offset of the first byte: the number in the file's name, or what was asked for. Positions
    and offsets count from there. A wrong checksum is told and passed over; lost framing ends it.
    """
    position = 0
    while position < len(data):
        message = _message(data, position)
        if isinstance(message, Problem):
            yield message._replace(offset=base + position)
            return
        size = _size(message)
        if message.is_valid:
            yield _entry(message, base + position, size)
        else:
            yield Problem(base + position, "the checksum of a message does not hold: it is left out")
        position += size


def whole_bytes(data: bytes) -> int:
    """How many bytes a broker keeps when it recovers its newest segment: those before the first bad one."""
    position = 0
    while position < len(data):
        message = _message(data, position)
        if isinstance(message, Problem) or not message.is_valid:
            break
        position += _size(message)
    return position


def framed(data: bytes, position: int, left: int) -> Framed | Problem:
    """The message at `position` of `data`; the file holds `left` bytes from there. A problem is at 0."""
    message = _message(data, position)
    if isinstance(message, Problem):
        if message.torn and _LENGTH.size <= len(data) - position < left:
            return Problem(0, "a message that is larger than any that is read: what follows cannot be read")
        return message
    return Framed(_size(message), message.magic, message.is_valid)


def following(data: bytes) -> int | None:
    """Where behind the first byte of `data` a message begins whose checksum holds; None for nowhere."""
    for position in range(1, len(data) - _LENGTH.size - _HEAD_SIZES[0]):
        if data[position + _LENGTH.size] in _HEAD_SIZES and data[position] == 0:
            message = _message(data, position)
            if not isinstance(message, Problem) and message.payload and message.is_valid:
                return position
    return None


def fetch_result(data: bytes, offset: int) -> Fetched | Problem:
    """What a broker answered to a fetch from `offset`. The last message may be cut: it is left out."""
    sent = _sent(data)
    return sent if isinstance(sent, Problem) else _fetched(sent, offset)


def multifetch_result(data: bytes, offsets: list[int]) -> tuple[int, list[Fetched]] | Problem:
    """The error code of a multifetch, and the results in the order in which they were asked for."""
    sent = _sent(data)
    if isinstance(sent, Problem):
        return sent
    error, rest = sent
    results = []
    for offset in offsets:
        if error:
            break
        part = _sent(rest, is_last=False)
        if isinstance(part, Problem):
            return part._replace(offset=_SENT.size + len(sent[1]) - len(rest) + part.offset)
        results.append(_fetched(part, offset))
        rest = rest[_LENGTH.size + 2 + len(part[1]) :]
    if rest and not error:
        return Problem(len(data) - len(rest), f"{len(rest)} bytes follow the results that were asked for")
    return error, results


def _sent(data: bytes, *, is_last: bool = True) -> tuple[int, bytes] | Problem:
    """The error code and the rest of what is sent as one: a length, the code, bytes."""
    if len(data) < _SENT.size:
        return Problem(0, "the answer ends within its head", torn=True)
    length, error = _SENT.unpack_from(data)
    end = _LENGTH.size + length
    if length < 2 or (is_last and end < len(data)):
        return Problem(0, f"an answer of {length} bytes, where {len(data) - _LENGTH.size} follow")
    if end > len(data):
        return Problem(0, "the answer ends too early", torn=True)
    return error, data[_SENT.size : end]


def _fetched(sent: tuple[int, bytes], offset: int) -> Fetched:
    error, body = sent
    entries = [each for each in decode(body, base=offset) if not (isinstance(each, Problem) and each.torn)]
    return Fetched(error, tuple(entries))


def _size(message: _Message) -> int:
    return _LENGTH.size + _HEAD_SIZES[message.magic] + len(message.payload)


def _entry(message: _Message, offset: int, size: int) -> Entry | Problem:
    number = message.attributes & 3
    if number == 3:
        return Problem(offset, "a message compressed in an unknown way")
    records: Sequence[Record] = (Record(offset, None, None, message.payload),)
    if number:
        try:
            records = _unwrapped(CODECS[number], message.payload, offset)
        except ValueError as error:
            return Problem(offset, f"a message in no known form: {error}")
    return Entry(
        offset, size, message.magic, offset, offset, CODECS[number], message.crc, None, None, records
    )


def _unwrapped(codec: str, payload: bytes, offset: int) -> Sequence[Record]:
    plain = codecs.decompress(codec, payload)
    return held(lambda: _inner(plain, offset))


def _inner(data: bytes, offset: int) -> Iterator[Record]:
    """The messages of a compressed one, none of which is compressed in turn. Raises ValueError."""
    position = count = 0
    while position < len(data):
        message = _message(data, position)
        if isinstance(message, Problem) or not message.is_valid:
            raise ValueError("a message in a compressed one is not whole")
        if message.attributes & 3:
            raise ValueError("a compressed message in a compressed one")
        count += 1
        if count > bounds.RECORDS:
            raise ValueError(f"a compressed message with more than {bounds.RECORDS} messages")
        yield Record(offset, None, None, message.payload)
        position += _size(message)


def _message(data: bytes, position: int) -> _Message | Problem:
    """The message at `position`, its checksum not looked at; a problem at 0 where its framing is wrong."""
    left = len(data) - position - _LENGTH.size
    if left < 0:
        return _torn()
    (length,) = _LENGTH.unpack_from(data, position)
    if length < _HEAD_SIZES[0]:
        return Problem(0, f"a message of {length} bytes: what follows cannot be read")
    if length > left:
        return _torn()
    start = position + _LENGTH.size
    magic = data[start]
    head = _HEAD_SIZES.get(magic)
    if head is None or length < head:
        return Problem(0, f"a message of the unknown format {magic}: what follows cannot be read")
    crc = int.from_bytes(data[start + head - 4 : start + head], "big")
    return _Message(magic, data[start + 1] if magic else 0, crc, data[start + head : start + length])


def _torn() -> Problem:
    return Problem(0, "the messages end within one", torn=True)
