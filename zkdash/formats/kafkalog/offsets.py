"""What the records of `__consumer_offsets` mean: commits and groups, in every version; and members' bytes.

A null value deletes what its key names. Sources: kafka.coordinator.group.GroupMetadataManager, the schemas
OffsetCommitKey/Value and GroupMetadataKey/Value (4 is flexible, KIP-482), ConsumerProtocolSubscription and
ConsumerProtocolAssignment.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from zkdash.formats import bounds
from zkdash.formats.problems import Problem

T = TypeVar("T")

Partitions = tuple[tuple[str, tuple[int, ...]], ...]

_FLEXIBLE = 4


class OffsetKey(NamedTuple):
    """Versions 0 and 1: of whom the commit is."""

    group: str
    topic: str
    partition: int


class GroupKey(NamedTuple):
    """Version 2: the group that the value describes."""

    group: str


class Offset(NamedTuple):
    """A commit. Times are epoch ms; `expire_time` is None but in version 1, `leader_epoch` −1 before 3."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_time: int
    expire_time: int | None


class Member(NamedTuple):
    """A member; `subscription` and `assignment` are the client's own bytes."""

    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


class Group(NamedTuple):
    """A group after a rebalance. `state_time` is epoch ms, −1 before version 2."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    state_time: int
    members: tuple[Member, ...]


class Subscription(NamedTuple):
    """What a member of a consumer group asks for; what its version lacks is empty, −1 or None."""

    version: int
    topics: tuple[str, ...]
    user_data: bytes | None
    owned: Partitions = ()
    generation: int = -1
    rack: str | None = None


class Assignment(NamedTuple):
    """What the leader gave to a member of a consumer group."""

    version: int
    partitions: Partitions
    user_data: bytes | None


def key(data: bytes) -> OffsetKey | GroupKey | Problem:
    """A record's key. Versions above 2 belong to KIP-848, which there is not with ZooKeeper."""
    return _read(data, _key)


def offset(data: bytes) -> Offset | Problem:
    """The value under an OffsetKey."""
    return _read(data, _offset)


def group(data: bytes) -> Group | Problem:
    """The value under a GroupKey."""
    return _read(data, _group)


def subscription(data: bytes) -> Subscription | Problem:
    """A member's subscription, where the group's protocol type is "consumer". Newer versions may say more."""
    return _read(data, _subscription)


def assignment(data: bytes) -> Assignment | Problem:
    """A member's assignment; empty bytes are no partitions."""
    return _read(data, _assignment) if data else Assignment(-1, (), None)


def _read(data: bytes, kind: Callable[[_Reader], T]) -> T | Problem:
    reader = _Reader(data)
    try:
        return kind(reader)
    except (ValueError, struct.error) as error:
        return Problem(reader.position, f"not in a known form: {error}")


def _key(reader: _Reader) -> OffsetKey | GroupKey:
    version = reader.i16()
    if version in (0, 1):
        return OffsetKey(reader.text(), reader.text(), reader.i32())
    if version == 2:
        return GroupKey(reader.text())
    raise ValueError(f"a key of version {version}")


def _offset(reader: _Reader) -> Offset:
    version = reader.version(4)
    value = reader.i64()
    leader_epoch = reader.i32() if version >= 3 else -1
    metadata = reader.text()
    committed = reader.i64()
    return Offset(value, leader_epoch, metadata, committed, reader.i64() if version == 1 else None)


def _group(reader: _Reader) -> Group:
    version = reader.version(4)
    protocol_type, generation = reader.text(), reader.i32()
    protocol, leader = reader.text_or_null(), reader.text_or_null()
    state_time = reader.i64() if version >= 2 else -1
    members = tuple(_member(reader, version) for _ in range(reader.count()))
    return Group(protocol_type, generation, protocol, leader, state_time, members)


def _member(reader: _Reader, version: int) -> Member:
    name = reader.text()
    instance = reader.text_or_null() if version >= 3 else None
    client, host = reader.text(), reader.text()
    rebalance = reader.i32() if version >= 1 else None
    session = reader.i32()
    topics, assigned = reader.data(), reader.data()
    reader.skip_tags()
    # before version 1 the session's timeout was both
    return Member(name, instance, client, host, rebalance or session, session, topics or b"", assigned or b"")


def _subscription(reader: _Reader) -> Subscription:
    version = reader.i16()
    topics = tuple(reader.text() for _ in range(reader.count()))
    subscription = Subscription(version, topics, reader.data())
    if version >= 1:
        subscription = subscription._replace(owned=_partitions(reader))
    if version >= 2:
        subscription = subscription._replace(generation=reader.i32())
    return subscription._replace(rack=reader.text_or_null()) if version >= 3 else subscription


def _assignment(reader: _Reader) -> Assignment:
    return Assignment(reader.i16(), _partitions(reader), reader.data())


def _partitions(reader: _Reader) -> Partitions:
    return tuple(
        (reader.text(), tuple(reader.i32() for _ in range(reader.count()))) for _ in range(reader.count())
    )


class _Reader:
    """Kafka's primitive types; after `version` said so, the compact ones of flexible versions."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0
        self._is_flexible = False
        self._elements = 0  # of all lists so far

    def version(self, newest: int) -> int:
        version = self.i16()
        if not 0 <= version <= newest:
            raise ValueError(f"a value of version {version}")
        self._is_flexible = version >= _FLEXIBLE
        return version

    def i16(self) -> int:
        return int.from_bytes(self._take(2), "big", signed=True)

    def i32(self) -> int:
        return int.from_bytes(self._take(4), "big", signed=True)

    def i64(self) -> int:
        return int.from_bytes(self._take(8), "big", signed=True)

    def text(self) -> str:
        text = self.text_or_null()
        if text is None:
            raise ValueError("null in place of a text")
        return text

    def text_or_null(self) -> str | None:
        length = self._compact() if self._is_flexible else self.i16()
        return None if length == -1 else self._take(length).decode(errors="replace")

    def data(self) -> bytes | None:
        length = self._compact() if self._is_flexible else self.i32()
        return None if length == -1 else self._take(length)

    def count(self) -> int:
        count = self._compact() if self._is_flexible else self.i32()
        if not -1 <= count <= len(self._data):
            raise ValueError("a nonsensical number of elements")
        self._elements += max(count, 0)
        if self._elements > bounds.ELEMENTS:
            raise ValueError(f"more elements than {bounds.ELEMENTS}")
        return max(count, 0)

    def skip_tags(self) -> None:
        """The tagged fields that end a structure of a flexible version."""
        if self._is_flexible:
            for _ in range(self._unsigned()):
                self._unsigned()
                self._take(self._unsigned())

    def _compact(self) -> int:
        return self._unsigned() - 1

    def _unsigned(self) -> int:
        value = 0
        for shift in range(0, 35, 7):
            byte = self._take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("a number that does not end")

    def _take(self, size: int) -> bytes:
        taken = self._data[self.position : self.position + size]
        if size < 0 or len(taken) < size:
            raise ValueError(f"{size} bytes wanted, {len(self._data) - self.position} are there")
        self.position += size
        return taken
