"""/admin/reassign_partitions and /admin/preferred_replica_election: what the controller was asked to do.

Source: kafka.zk.ReassignPartitionsZNode, kafka.zk.PreferredReplicaElectionZNode, version 1 since 0.8.0. The
controller acts on both without a version too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from zkdash.kafka.layouts import document
from zkdash.kafka.layouts.document import Fields, Parsed, few, kind_of
from zkdash.kafka.layouts.replicas import parse_ids
from zkdash.kafka.values import Election, Move, Reassignment, Unparsable

T = TypeVar("T")


def parse_reassignment(data: bytes | None) -> Parsed[Reassignment]:
    """The moves asked for. A wrong entry is noted and left out; an empty list is legitimate (and stuck)."""
    moves, reasons = _parse_entries(data, "a reassignment", _move)
    return (moves if isinstance(moves, Unparsable) else Reassignment(moves)), reasons


def parse_election(data: bytes | None) -> Parsed[Election]:
    """The partitions whose preferred replica shall lead. A wrong entry is noted and left out."""
    pairs, reasons = _parse_entries(data, "an election", _partition)
    return (pairs if isinstance(pairs, Unparsable) else Election(pairs)), reasons


def _parse_entries(
    data: bytes | None, what: str, parse_entry: Callable[[Fields], T | None]
) -> Parsed[tuple[T, ...]]:
    """The list "partitions" that both have, each entry by its own parser."""
    found = document.decode(data, what)
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    fields = Fields(found)
    fields.version(1)
    entries = fields.items("partitions")
    if entries is None:
        return fields.unparsable()
    values = []
    reasons: list[str] = []
    for index, entry in enumerate(entries):
        value, noted = _parse_entry(entry, parse_entry)
        reasons += [f"entry {index}: {reason}" for reason in noted]
        if value is not None:
            values.append(value)
    return tuple(values), (*fields.reasons, *few(reasons))


def _parse_entry(entry: Any, parse: Callable[[Fields], T | None]) -> tuple[T | None, list[str]]:
    if not isinstance(entry, dict):
        return None, [f"is {kind_of(entry)} where an object belongs"]
    fields = Fields(entry)
    return parse(fields), fields.reasons


def _partition(fields: Fields) -> tuple[str, int] | None:
    topic, partition = fields.text("topic"), fields.integer("partition")
    return None if topic is None or partition is None else (topic, partition)


def _move(fields: Fields) -> Move | None:
    partition = _partition(fields)
    items = fields.items("replicas")
    replicas = None if items is None else parse_ids(items, '"replicas"', fields.reasons)
    return None if partition is None or replicas is None else Move(*partition, replicas)
