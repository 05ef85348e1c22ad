"""Single answers to exists, getData and getChildren, decoded; what the mirror asks at once `jute` decodes."""

from __future__ import annotations

import struct

from zkdash.zk.wire.jute import MalformedError
from zkdash.znode import STAT_SIZE, Stat, Znode

_INT = struct.Struct("!i")


def stat(body: bytes) -> Stat:
    """Decode the answer to exists. Raises MalformedError."""
    if len(body) != STAT_SIZE:
        raise MalformedError("an answer to exists has another length than a Stat")
    return Znode(body).stat


def data(body: bytes) -> Znode:
    """Decode the answer to getData. Raises MalformedError."""
    if len(body) < _INT.size or len(body) != _INT.size + max(0, _INT.unpack_from(body)[0]) + STAT_SIZE:
        raise MalformedError("an answer to getData has another length than its parts")
    return Znode(body)


def children(body: bytes) -> list[str]:
    """Decode the answer to getChildren; names that are no UTF-8 are left out. Raises MalformedError."""
    names: list[str] = []
    unpack, offset = _INT.unpack_from, _INT.size
    try:
        for _ in range(unpack(body)[0]):
            start = offset + _INT.size
            offset = start + unpack(body, offset)[0]
            if offset < start:
                raise MalformedError("a child's name has a negative length")
            try:
                names.append(body[start:offset].decode())
            except UnicodeDecodeError:
                continue
    except struct.error as error:
        raise MalformedError("an answer to getChildren ends too early") from error
    if offset != len(body):
        raise MalformedError("an answer to getChildren has another length than its parts")
    return names
