"""Columns that `kafka` understands: what lives at a path, what data says.

Each distinct value is parsed once a batch. Null where there is nothing, or where it cannot be understood.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import from_arrow_type

from zkdash.kafka import paths
from zkdash.kafka.layouts import admin, brokers, consumers, controller, partitions, topics
from zkdash.kafka.values import Assignment, Broker, Controller, PartitionState, Reassignment
from zkdash.kafka.znode_kinds import Kind

_IDS: Final = pa.list_(pa.int32())
_PLACE: Final = pa.struct({"kind": pa.int32(), "name": pa.string(), "key": pa.string(), "part": pa.string()})
_STATE: Final = pa.struct(
    {"leader": pa.int32(), "isr": _IDS, "leader_epoch": pa.int32(), "controller_epoch": pa.int32()}
)
# required: how many must be in sync. While a move adds replicas, those that were there before it (check D8),
# where the assignment tells that it `moves` (2.4 and later).
_ASSIGNED: Final = pa.list_(
    pa.struct({"partition": pa.int32(), "replicas": _IDS, "required": pa.int32(), "moves": pa.bool_()})
)
_ASKED: Final = pa.list_(pa.struct({"topic": pa.string(), "partition": pa.int32(), "size": pa.int32()}))
_BROKER: Final = pa.struct({"host": pa.string(), "port": pa.int32(), "rack": pa.string()})


def place(path: Column) -> Column:
    """What lives at a path: struct of kind (`kafka.znode_kinds.Kind`), name, key, part."""
    return _udf(_locate, _PLACE)(path)


def state(data: Column) -> Column:
    """A partition's state: struct of leader, isr, leader_epoch, controller_epoch."""
    return _udf(_state, _STATE)(data)


def assignment(data: Column) -> Column:
    """A topic's assignment: list of struct of partition, replicas, required, moves."""
    return _udf(_assignment, _ASSIGNED)(data)


def reassignment(data: Column) -> Column:
    """A requested reassignment: list of struct of topic, partition, size (how many replicas)."""
    return _udf(_reassignment, _ASKED)(data)


def broker(data: Column) -> Column:
    """A registration: struct of host, port, rack."""
    return _udf(_broker, _BROKER)(data)


def controller_id(data: Column) -> Column:
    """The broker that /controller names."""
    return _udf(_controller, pa.int32())(data)


def controller_epoch(data: Column) -> Column:
    return _udf(_controller_epoch, pa.int32())(data)


def offset(data: Column) -> Column:
    """A committed offset."""
    return _udf(_offset, pa.int64())(data)


def is_kind(column: Column, *kinds: Kind) -> Column:
    return column.isin([int(kind) for kind in kinds])


def _udf(parse: Callable[[Any], Any], kind: pa.DataType) -> Callable[[Column], Column]:
    def parsed(values: pa.Array) -> pa.Array:
        encoded = values.dictionary_encode()
        made = pa.array([parse(value) for value in encoded.dictionary.to_pylist()], kind)
        return made.take(encoded.indices)

    parsed.__annotations__ = {"values": pa.Array, "return": pa.Array}
    made: Callable[[Column], Column]
    made = arrow_udf(parsed, returnType=from_arrow_type(kind))  # type: ignore[call-overload] # no structs
    return made


def _locate(path: str) -> dict[str, Any]:
    located = paths.locate(path)
    return {"kind": int(located.kind), "name": located.name, "key": located.key, "part": located.part}


def _state(data: bytes) -> dict[str, Any] | None:
    state, _ = partitions.parse_state(data)
    if not isinstance(state, PartitionState):
        return None
    return {
        "leader": state.leader,
        "isr": state.isr,
        "leader_epoch": state.leader_epoch,
        "controller_epoch": state.controller_epoch,
    }


def _assignment(data: bytes) -> list[dict[str, Any]] | None:
    assignment, _ = topics.parse_assignment(data)
    if not isinstance(assignment, Assignment):
        return None
    return [
        {
            "partition": number,
            "replicas": replicas,
            "required": len(replicas) - len(assignment.adding.get(number, ())),
            "moves": number in assignment.adding or number in assignment.removing,
        }
        for number, replicas in assignment.partitions.items()
    ]


def _reassignment(data: bytes | None) -> list[dict[str, Any]]:
    """Nothing where there is none, or one that does not parse: no controller acts on it."""
    reassignment, _ = admin.parse_reassignment(data)
    if not isinstance(reassignment, Reassignment):
        return []
    return [
        {"topic": storable(move.topic), "partition": move.partition, "size": len(move.replicas)}
        for move in reassignment.moves
    ]


def _broker(data: bytes) -> dict[str, Any] | None:
    broker, _ = brokers.parse_broker(0, data)
    if not isinstance(broker, Broker):
        return None
    return {"host": storable(broker.host), "port": broker.port, "rack": storable(broker.rack)}


def _controller(data: bytes) -> int | None:
    value, _ = controller.parse_controller(data)
    return value.broker_id if isinstance(value, Controller) else None


def _controller_epoch(data: bytes) -> int | None:
    epoch, _ = controller.parse_controller_epoch(data)
    return epoch if isinstance(epoch, int) else None


def _offset(data: bytes) -> int | None:
    offset, _ = consumers.parse_offset(data)
    return offset if isinstance(offset, int) else None


def storable(text: str | None) -> str | None:
    """Text as UTF-8 can hold it: JSON may spell half of a surrogate pair."""
    return None if text is None else text.encode("utf-8", "replace").decode()
