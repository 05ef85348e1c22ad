"""/brokers/topics/T/partitions/P/state: who leads a partition and who is in sync.

Source: kafka.zk.TopicPartitionStateZNode, version 1 since 0.8.0; `leader_recovery_state` from 3.2 (KIP-704).
"""

from __future__ import annotations

import functools
from typing import Annotated, Literal

import msgspec

from zkdash.kafka.documents import document
from zkdash.kafka.documents.document import INT_MAX, Fields, Parsed
from zkdash.kafka.documents.replicas import parse_ids, share
from zkdash.kafka.values import PartitionState, Unparsable

_Id = Annotated[int, msgspec.Meta(ge=0, le=INT_MAX)]

# As many different states as a large cluster has (each costs about 500 bytes here), and none that is hostile.
_REMEMBERED = 1 << 15
_LONGEST_REMEMBERED = 1024


class _State(msgspec.Struct, gc=False):
    """A state that is right in every field; whatever else is read field by field for the reasons."""

    leader: Annotated[int, msgspec.Meta(ge=-2, le=INT_MAX)]
    leader_epoch: _Id
    controller_epoch: _Id
    isr: tuple[_Id, ...]
    version: Literal[1] = 1
    leader_recovery_state: Literal[0, 1] = 0


_DECODER = msgspec.json.Decoder(_State)


def parse_state(data: bytes | None) -> Parsed[PartitionState]:
    """The state of a partition. Identical bytes give the identical object, as long as it is remembered."""
    return _parse(data) if data and len(data) > _LONGEST_REMEMBERED else _remembered(data)


def _parse(data: bytes | None) -> Parsed[PartitionState]:
    try:
        state = _DECODER.decode(data or b"")
    except (ValueError, RecursionError):
        return _parse_fields(data)
    return (
        PartitionState(
            state.leader,
            state.leader_epoch,
            state.controller_epoch,
            share(state.isr),
            state.leader_recovery_state,
        ),
        (),
    )


_remembered = functools.lru_cache(maxsize=_REMEMBERED)(_parse)


def _parse_fields(data: bytes | None) -> Parsed[PartitionState]:
    found = document.decode(data, "a partition state")
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    fields = Fields(found)
    fields.version(1)
    leader = fields.integer("leader", low=-2)
    leader_epoch = fields.integer("leader_epoch")
    controller_epoch = fields.integer("controller_epoch")
    isr = _isr(fields)
    recovery = fields.integer("leader_recovery_state", optional=True, high=1)
    if leader is None or leader_epoch is None or controller_epoch is None or isr is None:
        return fields.unparsable()
    state = PartitionState(leader, leader_epoch, controller_epoch, isr, recovery or 0)
    return state, tuple(fields.reasons)


def _isr(fields: Fields) -> tuple[int, ...] | None:
    value = fields.items("isr")
    return None if value is None else parse_ids(value, '"isr"', fields.reasons)
