"""/admin/reassign_partitions and /admin/preferred_replica_election: what the controller was asked to do.

Source: kafka.zk.ReassignPartitionsZNode, kafka.zk.PreferredReplicaElectionZNode, version 1 since 0.8.0. The
controller acts on both without a version too.
"""

from __future__ import annotations

from typing import Any

from zkdash.kafka.layouts import document
from zkdash.kafka.layouts.document import Fields, Parsed, few, kind_of
from zkdash.kafka.layouts.replicas import parse_ids
from zkdash.kafka.values import Election, Move, Reassignment, Unparsable


def parse_reassignment(data: bytes | None) -> Parsed[Reassignment]:
    """The moves asked for. A wrong entry is noted and left out; an empty list is legitimate (and stuck)."""
    fields = _fields(data, "a reassignment")
    if isinstance(fields, Unparsable):
        return document.unparsable(fields.reason)
    entries = fields.items("partitions")
    if entries is None:
        return fields.unparsable()
    reasons: list[str] = []
    moves = tuple(m for i, entry in enumerate(entries) if (m := _move(entry, i, reasons)))
    return Reassignment(moves), (*fields.reasons, *few(reasons))


def parse_election(data: bytes | None) -> Parsed[Election]:
    """The partitions whose preferred replica shall lead. A wrong entry is noted and left out."""
    fields = _fields(data, "an election")
    if isinstance(fields, Unparsable):
        return document.unparsable(fields.reason)
    entries = fields.items("partitions")
    if entries is None:
        return fields.unparsable()
    reasons: list[str] = []
    pairs = tuple(p for i, entry in enumerate(entries) if (p := _partition(_entry(entry), i, reasons)))
    return Election(pairs), (*fields.reasons, *few(reasons))


def _fields(data: bytes | None, what: str) -> Fields | Unparsable:
    found = document.decode(data, what)
    if isinstance(found, Unparsable):
        return found
    fields = Fields(found)
    fields.version(1)
    return fields


def _entry(entry: Any) -> Fields:
    fields = Fields(entry if isinstance(entry, dict) else {})
    if not isinstance(entry, dict):
        fields.note(f"is {kind_of(entry)} where an object belongs")
    return fields


def _move(entry: Any, index: int, reasons: list[str]) -> Move | None:
    fields = _entry(entry)
    partition = _partition(fields, index, reasons)
    if partition is None:
        return None
    replicas = parse_ids(fields.fields.get("replicas"), f'entry {index}: "replicas"', reasons)
    return None if replicas is None else Move(*partition, replicas)


def _partition(fields: Fields, index: int, reasons: list[str]) -> tuple[str, int] | None:
    """The topic and partition of an entry; `index` is its place in the list, from 0."""
    if not fields.reasons:
        topic, partition = fields.text("topic"), fields.integer("partition")
        if topic is not None and partition is not None:
            return topic, partition
    reasons += [f"entry {index}: {reason}" for reason in fields.reasons]
    return None
