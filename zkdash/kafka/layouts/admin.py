"""/admin/reassign_partitions and /admin/preferred_replica_election: what the controller was asked to do.

Source: kafka.zk.ReassignPartitionsZNode, kafka.zk.PreferredReplicaElectionZNode, version 1 since 0.8.0. The
controller acts on both without a version too.
"""

from __future__ import annotations

from zkdash.kafka.documents import entries
from zkdash.kafka.documents.document import Fields, Parsed
from zkdash.kafka.documents.replicas import parse_ids
from zkdash.kafka.values import Election, Move, Reassignment, Unparsable

_LIST = "partitions"


def parse_reassignment(data: bytes | None) -> Parsed[Reassignment]:
    """The moves asked for. A wrong entry is noted and left out; an empty list is legitimate (and stuck)."""
    moves, reasons = entries.parse_entries(data, "a reassignment", _LIST, _move)
    return (moves if isinstance(moves, Unparsable) else Reassignment(moves)), reasons


def parse_election(data: bytes | None) -> Parsed[Election]:
    """The partitions whose preferred replica shall lead. A wrong entry is noted and left out."""
    pairs, reasons = entries.parse_entries(data, "an election", _LIST, entries.partition)
    return (pairs if isinstance(pairs, Unparsable) else Election(pairs)), reasons


def _move(fields: Fields) -> Move | None:
    partition = entries.partition(fields)
    items = fields.items("replicas")
    replicas = None if items is None else parse_ids(items, '"replicas"', fields.reasons)
    return None if partition is None or replicas is None else Move(*partition, replicas)
