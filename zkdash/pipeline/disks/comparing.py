"""Which replicas are held against each other, from where on, and what was found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pyspark.sql import SparkSession

from zkdash.history.store import derived
from zkdash.pipeline.disks import reading
from zkdash.pipeline.disks.directories import Replica, segment_key
from zkdash.pipeline.disks.reading import Pair

Row = dict[str, Any]
Key = tuple[object, ...]
_COMPARED: Final = ("compared_from", "compared_upto", "differs_at", "differing", "difference")


class _Comparison(NamedTuple):
    """A pair to be compared, the row that tells of it, and the offset from which both were ever compared."""

    pair: Pair
    row: Row
    compared_from: int


def replicas(
    spark: SparkSession,
    listed: Sequence[Replica],
    segments: Mapping[Key, Row],
    *,
    fresh: Collection[Key],
    earlier: Iterable[Row],
    read_bytes: int,
) -> list[Row]:
    """A row a replica. `fresh` are the segments that changed since the rows of an `earlier` run were made."""
    before = {_key(row["directory"], row["topic"], row["partition"]): row for row in earlier}
    rows = {_key_of(replica): _row(replica, segments) for replica in listed}
    comparisons: list[_Comparison] = []
    left = read_bytes
    for first, second in _pairs(listed, rows):
        row, reference = rows[_key_of(second)], rows[_key_of(first)]
        row["reference"] = first.disk.broker
        pair = Pair(
            first,
            second,
            max(first.start, second.start, first.cleaned, second.cleaned),
            min(row["log_end"], reference["log_end"]),
        )
        if pair.start >= pair.end:
            continue
        was, changed = before.get(_key_of(second), {}), min(_changed(each, fresh) for each in (first, second))
        is_same = was.get("reference") == first.disk.broker and was.get("compared_from") == pair.start
        if is_same and changed >= pair.end and was["compared_upto"] == pair.end:
            row |= {name: was[name] for name in _COMPARED}
            continue
        if is_same and not was["differing"]:
            resumed = pair._replace(start=max(pair.start, min(changed, was["compared_upto"])))
        else:
            resumed = pair
        left -= _weight(resumed)
        if left >= 0 or not comparisons:
            comparisons.append(_Comparison(resumed, row, pair.start))
    answers = reading.differences(spark, [each.pair for each in comparisons])
    for each, answer in zip(comparisons, answers, strict=True):
        each.row.update(_answered(each, answer))
    return list(rows.values())


def _answered(comparison: _Comparison, answer: Row) -> Row:
    """What a row tells of an answer: nothing where the files could not be read."""
    if not answer["is_known"]:
        return {}
    compared = {
        "compared_from": comparison.compared_from,
        "compared_upto": comparison.pair.end,
        "differing": 0,
    }
    if answer["offset"] is None:
        return compared
    first, second = _named(comparison.pair.first), _named(comparison.pair.second)
    return compared | {
        "differs_at": answer["offset"],
        "differing": answer["entries"],
        "difference": f"{first} {answer['first']}, {second} {answer['second']}",
    }


def _pairs(listed: Sequence[Replica], rows: Mapping[Key, Row]) -> Iterator[tuple[Replica, Replica]]:
    """The first replica of each partition with each of the others; logs of 0.7 have none.

    The first and not the longest: it stays the same from run to run, so that only what is new is compared.
    """
    firsts: dict[tuple[str, int], Replica] = {}
    for replica in listed:
        if replica.is_oldest or rows[_key_of(replica)]["log_end"] is None:
            continue
        first = firsts.setdefault((replica.topic, replica.partition), replica)
        if first is not replica:
            yield first, replica


def _row(replica: Replica, segments: Mapping[Key, Row]) -> Row:
    row: Row = dict.fromkeys(derived.TABLES["replica_logs"].names)
    numbers = [segments.get(segment_key(replica.disk, each), {}) for each in replica.log.segments]
    epochs = [each["leader_epoch"] for each in numbers if each.get("leader_epoch") is not None]
    return row | {
        "broker": replica.disk.broker,
        "directory": replica.disk.path,
        "topic": replica.topic,
        "partition": replica.partition,
        "log_start": replica.start,
        "log_end": numbers[-1].get("next_offset"),
        "segments": len(numbers),
        "bytes": sum(each.size for each in replica.log.segments),
        "leader_epoch": epochs[-1] if epochs else None,
        "high_watermark": replica.high_watermark,
        "recovery_point": replica.recovery_point,
    }


def _changed(replica: Replica, fresh: Collection[Key]) -> int:
    """The first offset of the first segment that changed, behind all where none did."""
    changed = (each.base_offset for each in replica.log.segments if segment_key(replica.disk, each) in fresh)
    return min(changed, default=2**63 - 1)


def _weight(pair: Pair) -> int:
    """About how many bytes are read to compare two replicas."""
    return sum(
        each.size
        for replica in (pair.first, pair.second)
        for each, after in zip(
            replica.log.segments,
            [*(later.base_offset for later in replica.log.segments[1:]), pair.end],
            strict=True,
        )
        if after > pair.start
    )


def _named(replica: Replica) -> str:
    return replica.disk.path if replica.disk.broker is None else f"broker {replica.disk.broker}"


def _key(directory: str, topic: str, partition: int) -> Key:
    return directory, topic, partition


def _key_of(replica: Replica) -> Key:
    return _key(replica.disk.path, replica.topic, replica.partition)
