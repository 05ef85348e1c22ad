"""What the records of `__transaction_state` mean. A null value deletes what its key names.

Source: kafka.coordinator.transaction.TransactionLog, the schemas TransactionLogKey and TransactionLogValue
(1 is flexible).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zkdash.formats.kafkalog.primitives import Reader
from zkdash.formats.problems import Problem

STATES: Final = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)


class Transaction(NamedTuple):
    """Where a transactional id stands. Times are epoch ms; `partitions` those of the open transaction."""

    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: str
    partitions: tuple[tuple[str, int], ...]
    update_time: int
    start_time: int


def key(data: bytes) -> str | Problem:
    """The transactional id of a record's key."""
    reader = Reader(data)
    try:
        if version := reader.i16():
            return Problem(0, f"a key of version {version}")
        return reader.text()
    except ValueError as error:
        return Problem(reader.position, f"not in a known form: {error}")


def value(data: bytes) -> Transaction | Problem:
    """The value under a transactional id."""
    reader = Reader(data)
    try:
        return _value(reader)
    except ValueError as error:
        return Problem(reader.position, f"not in a known form: {error}")


def _value(reader: Reader) -> Transaction:
    reader.version(1, flexible_from=1)
    producer_id, epoch, timeout, state = reader.i64(), reader.i16(), reader.i32(), reader.i8()
    if not 0 <= state < len(STATES):
        raise ValueError(f"the unknown state {state}")
    partitions = []
    for _ in range(reader.count()):
        topic = reader.text()
        partitions += [(topic, reader.i32()) for _ in range(reader.count())]
        reader.skip_tags()
    times = reader.i64(), reader.i64()
    return Transaction(producer_id, epoch, timeout, STATES[state], tuple(partitions), *times)
