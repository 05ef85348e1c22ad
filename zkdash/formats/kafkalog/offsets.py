"""What the records of `__consumer_offsets` mean: commits and groups, in every version; and members' bytes.

A null value deletes what its key names. Sources: kafka.coordinator.group.GroupMetadataManager, the schemas
OffsetCommitKey/Value and GroupMetadataKey/Value (4 is flexible, KIP-482), ConsumerProtocolSubscription and
ConsumerProtocolAssignment.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from zkdash.formats.kafkalog.primitives import Reader
from zkdash.formats.problems import Problem

T = TypeVar("T")

Partitions = tuple[tuple[str, tuple[int, ...]], ...]


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


def _read(data: bytes, kind: Callable[[Reader], T]) -> T | Problem:
    reader = Reader(data)
    try:
        return kind(reader)
    except (ValueError, struct.error) as error:
        return Problem(reader.position, f"not in a known form: {error}")


def _key(reader: Reader) -> OffsetKey | GroupKey:
    version = reader.i16()
    if version in (0, 1):
        return OffsetKey(reader.text(), reader.text(), reader.i32())
    if version == 2:
        return GroupKey(reader.text())
    raise ValueError(f"a key of version {version}")


def _offset(reader: Reader) -> Offset:
    version = reader.version(4, flexible_from=4)
    value = reader.i64()
    leader_epoch = reader.i32() if version >= 3 else -1
    metadata = reader.text()
    committed = reader.i64()
    return Offset(value, leader_epoch, metadata, committed, reader.i64() if version == 1 else None)


def _group(reader: Reader) -> Group:
    version = reader.version(4, flexible_from=4)
    protocol_type, generation = reader.text(), reader.i32()
    protocol, leader = reader.text_or_null(), reader.text_or_null()
    state_time = reader.i64() if version >= 2 else -1
    members = tuple(_member(reader, version) for _ in range(reader.count()))
    return Group(protocol_type, generation, protocol, leader, state_time, members)


def _member(reader: Reader, version: int) -> Member:
    name = reader.text()
    instance = reader.text_or_null() if version >= 3 else None
    client, host = reader.text(), reader.text()
    rebalance = reader.i32() if version >= 1 else None
    session = reader.i32()
    topics, assigned = reader.data(), reader.data()
    reader.skip_tags()
    # before version 1 the session's timeout was both
    return Member(name, instance, client, host, rebalance or session, session, topics or b"", assigned or b"")


def _subscription(reader: Reader) -> Subscription:
    version = reader.i16()
    topics = tuple(reader.text() for _ in range(reader.count()))
    subscription = Subscription(version, topics, reader.data())
    if version >= 1:
        subscription = subscription._replace(owned=_partitions(reader))
    if version >= 2:
        subscription = subscription._replace(generation=reader.i32())
    return subscription._replace(rack=reader.text_or_null()) if version >= 3 else subscription


def _assignment(reader: Reader) -> Assignment:
    return Assignment(reader.i16(), _partitions(reader), reader.data())


def _partitions(reader: Reader) -> Partitions:
    return tuple(
        (reader.text(), tuple(reader.i32() for _ in range(reader.count()))) for _ in range(reader.count())
    )
