"""A consumer group put together from the one before and what arrived for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from zkdash.cluster.model import groups
from zkdash.cluster.model.groups import Group, Member, Offset, Owner
from zkdash.cluster.reducer.arrivals import Arrival
from zkdash.cluster.reducer.assembly import readable
from zkdash.cluster.reducer.reading import Reader
from zkdash.kafka.layouts import consumers
from zkdash.kafka.znode_kinds import Kind

V = TypeVar("V")
ByPart = Mapping[str, Mapping[str, V]]


def is_empty(group: Group) -> bool:
    """Whether nothing of the group is left."""
    return not (group.exists or group.members or group.owners or group.offsets)


def assemble(before: Group, arrivals: list[Arrival], reader: Reader) -> Group:
    """The group after a batch."""
    exists = before.exists
    sorted_: dict[Kind, list[Arrival]] = {}
    for arrival in arrivals:
        if arrival.kind == Kind.GROUP:
            exists = arrival.read is not None
        else:
            sorted_.setdefault(arrival.kind, []).append(arrival)
    offsets = sorted_.get(Kind.OFFSET, [])
    owners = sorted_.get(Kind.OWNER, [])
    after = Group(
        before.name,
        _members(before.members, sorted_.get(Kind.MEMBER, []), reader),
        _claims(before.owners, owners, lambda arrival: _owner(arrival, reader)),
        _claims(before.offsets, offsets, lambda arrival: _offset(arrival, reader)),
        exists,
    )
    bad = before.bad_offsets + _bad(after, offsets)
    if before.bad_offsets:
        bad -= _bad(before, offsets)
    return msgspec.structs.replace(after, bad_offsets=bad) if bad else after


def claims_alike(former: Group, other: Group) -> bool:
    """Whether two moments of a group differ at most in the values of offsets, which no number shows."""
    return (
        former.members is other.members
        and former.owners is other.owners
        and former.offsets.keys() == other.offsets.keys()
        and all(
            parts is other.offsets[topic] or parts.keys() == other.offsets[topic].keys()
            for topic, parts in former.offsets.items()
        )
        and former.bad_offsets == other.bad_offsets
    )


def _bad(group: Group, arrivals: list[Arrival]) -> int:
    """How many of the group's offsets at these paths are bad."""
    offsets = (group.offsets.get(arrival.key, {}).get(arrival.part) for arrival in arrivals)
    return sum(offset is not None and groups.is_bad(offset) for offset in offsets)


def _members(before: Mapping[str, Member], arrivals: list[Arrival], reader: Reader) -> Mapping[str, Member]:
    if not arrivals:
        return before
    after = dict(before)
    for arrival in arrivals:
        registration = reader.value(arrival, consumers.parse_registration)
        if registration is None:
            after.pop(arrival.key, None)
        else:
            after[arrival.key] = Member(arrival.key, registration, readable(arrival.read))
    return after


def _owner(arrival: Arrival, reader: Reader) -> Owner | None:
    thread = reader.value(arrival, consumers.parse_owner)
    return None if thread is None else Owner(thread, readable(arrival.read))


def _offset(arrival: Arrival, reader: Reader) -> Offset | None:
    value = reader.value(arrival, consumers.parse_offset)
    return None if value is None else Offset(value, readable(arrival.read))


def _claims(before: ByPart[V], arrivals: list[Arrival], read: Callable[[Arrival], V | None]) -> ByPart[V]:
    """Owners or offsets: only the topics that something arrived for are copied."""
    if not arrivals:
        return before
    copied: dict[str, dict[str, V]] = {}
    for arrival in arrivals:
        parts = copied.get(arrival.key)
        if parts is None:
            parts = copied[arrival.key] = dict(before.get(arrival.key, {}))
        value = read(arrival)
        if value is None:
            parts.pop(arrival.part, None)
        else:
            parts[arrival.part] = value
    after = {**before, **copied}
    for topic in [topic for topic, parts in copied.items() if not parts]:
        del after[topic]
    return after
