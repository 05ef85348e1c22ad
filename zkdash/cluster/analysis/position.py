"""Where a group stands in a partition's log, as brokers tell it: log end, the offset kept there, and lag."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from zkdash.cluster.model.known import Known


class Unknown(msgspec.Struct, frozen=True):
    """A number that ZooKeeper does not hold, and why nobody else told it."""

    reason: str


Told = int | Unknown


class Position(msgspec.Struct, frozen=True):
    """What brokers tell of a partition: its log end, and the group's offset that is kept there (or None).

    `log_end_at` and `in_kafka_at` are the epoch seconds of the answers, None where there was none.
    """

    log_end: Told
    in_kafka: Told | None
    log_end_at: float | None = None
    in_kafka_at: float | None = None


Positions = Callable[[str, str], Position]  # by topic and partition key


def lag(told: Position, offset: Known[int], committed: int | None = None) -> Told | None:
    """From the furthest offset to the log's end; None where nothing was committed.

    It keeps its sign: an offset beyond the end is a fault, unless it is newer than what is known of the end.
    `committed` is the mtime of the offset in ZooKeeper.
    """
    places = [
        (place, at)
        for place, at in ((offset, _seconds(committed)), (told.in_kafka, told.in_kafka_at))
        if isinstance(place, int)
    ]
    if not places:
        return told.in_kafka if isinstance(told.in_kafka, Unknown) else None
    if isinstance(told.log_end, Unknown):
        return told.log_end
    place, at = max(places, key=lambda one: one[0])
    left = told.log_end - place
    if left < 0 and at is not None and told.log_end_at is not None and at > told.log_end_at:
        return _OLDER
    return left


_OLDER = Unknown("the log's end was asked for before this offset was committed")


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000
