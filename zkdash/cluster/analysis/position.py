"""Where a group stands in a partition's log, as brokers tell it: log end, the offset kept there, and lag."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

import msgspec

from zkdash.cluster.model.known import Known


class Unknown(msgspec.Struct, frozen=True):
    """A number that ZooKeeper does not hold, and why nobody else told it."""

    reason: str


Told = int | Unknown


class Position(msgspec.Struct, frozen=True, gc=False):
    """What brokers tell of a partition: its log end, and the group's offset that is kept there (or None).

    `log_end` is where the log ended when the furthest offset was told: an offset in Kafka is compared with
    the end at its own moment. `log_end_at` and `in_kafka_at` are epoch seconds, None without an answer.
    """

    log_end: Told
    in_kafka: Told | None
    log_end_at: float | None = None
    in_kafka_at: float | None = None


Positions = Callable[[str, str, Known[int]], Position]  # by topic, partition key, and offset in ZooKeeper


def lag(position: Position, offset: Known[int], committed: int | None = None) -> Told | None:
    """From the furthest offset to the log's end; None where nothing was committed.

    It keeps its sign: an offset beyond the end is a fault. One that is newer than what is known of the end
    leaves nothing of the log as it was read: 0. `committed` is the mtime of the offset in ZooKeeper.
    """
    in_kafka = position.in_kafka
    if is_kafka_ahead(in_kafka, offset):
        place, at = in_kafka, position.in_kafka_at
    elif isinstance(offset, int):
        place, at = offset, None if committed is None else committed / 1000
    else:
        return in_kafka if isinstance(in_kafka, Unknown) else None
    if isinstance(position.log_end, Unknown):
        return position.log_end
    left = position.log_end - place
    if left < 0 and at is not None and position.log_end_at is not None and at > position.log_end_at:
        return 0
    return left


def is_kafka_ahead(in_kafka: Told | None, offset: Known[int]) -> TypeGuard[int]:
    """Whether the offset in Kafka is the furthest; `offset` is the one in ZooKeeper."""
    return isinstance(in_kafka, int) and not (isinstance(offset, int) and offset >= in_kafka)
