"""What lies on brokers' disks, asked of the tables of the newest run: logs of partitions, topics."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from zkdash.history.store.tables import Tables
from zkdash.time_units import DAY_MS

TABLES: Final = ("log_segments", "replica_logs")
USAGE: Final = ("log_segments", "disk_usage")
MOST_SEGMENTS: Final = 2_000  # of a partition, the newest
MOST_PARTITIONS: Final = 10_000


class ReplicaLog(msgspec.Struct, frozen=True):
    """A row of replica_logs, by the columns that are shown."""

    broker: int | None
    directory: str
    log_start: int
    log_end: int | None
    segments: int
    bytes: int
    leader_epoch: int | None
    high_watermark: int | None
    reference: int | None
    compared_from: int | None
    compared_upto: int | None
    differs_at: int | None
    differing: int | None
    difference: str | None


class LogSegment(msgspec.Struct, frozen=True):
    """A row of log_segments, by the columns that are shown."""

    broker: int | None
    directory: str
    base_offset: int
    next_offset: int | None
    bytes: int
    changed_ms: int
    first_ms: int | None
    last_ms: int | None
    records: int | None
    codecs: tuple[str, ...] | None
    whole_bytes: int | None
    tail: str | None
    damaged: int | None


class PartitionLog(msgspec.Struct, frozen=True):
    """A partition on all disks: its replicas, their newest segments by replica and offset, and how many there
    are; partitions of the topic that any disk holds, and those of them whose replicas differ; when that was
    seen, None where nothing was."""

    partition: int = 0
    replicas: tuple[ReplicaLog, ...] = ()
    segments: tuple[LogSegment, ...] = ()
    count: int = 0
    partitions: tuple[int, ...] = ()
    differing: tuple[int, ...] = ()
    as_of_ms: int | None = None


class TopicUsage(msgspec.Struct, frozen=True):
    """What a disk holds of a topic; `grown` are bytes since about a day ago, None where that is unknown."""

    topic: str
    partitions: int
    segments: int
    bytes: int
    oldest_ms: int | None
    grown: int | None


class BrokerDisk(msgspec.Struct, frozen=True):
    """A broker's disk by topic, the largest first; its directories; when that was seen, and since when it
    grew: None where nothing was."""

    topics: tuple[TopicUsage, ...] = ()
    directories: tuple[str, ...] = ()
    as_of_ms: int | None = None
    since_ms: int | None = None


def partition_log(tables: Tables, topic: str, partition: int | None) -> PartitionLog:
    """The log of a partition, of the first one that a disk holds where none is named. Raises QueryError."""
    numbers = tables.rows(
        f"""
        SELECT partition, bool_or(differs_at IS NOT NULL) AS differs, max(as_of_ms) AS as_of
        FROM replica_logs WHERE topic = $topic GROUP BY partition ORDER BY partition LIMIT {MOST_PARTITIONS}
        """,  # noqa: S608 - our own words
        {"topic": topic},
    )
    partitions = tuple(row["partition"] for row in numbers)
    if not partitions:
        return PartitionLog(partition or 0)
    chosen = partitions[0] if partition is None else partition
    values = {"topic": topic, "partition": chosen}
    where = "WHERE topic = $topic AND partition = $partition"
    replicas = tables.rows(
        f"SELECT {_columns(ReplicaLog)} FROM replica_logs {where} "  # noqa: S608 - our own words
        "ORDER BY broker NULLS LAST, directory",
        values,
    )
    segments = tables.rows(
        f"""
        SELECT * FROM (
            SELECT {_columns(LogSegment)} FROM log_segments {where}
            ORDER BY base_offset DESC LIMIT {MOST_SEGMENTS}
        ) ORDER BY broker NULLS LAST, directory, base_offset
        """,  # noqa: S608 - our own words
        values,
    )
    (counted,) = tables.rows(f"SELECT count(*)::BIGINT AS count FROM log_segments {where}", values)  # noqa: S608
    return PartitionLog(
        chosen,
        tuple(ReplicaLog(**row) for row in replicas),
        tuple(_segment(row) for row in segments),
        counted["count"],
        partitions,
        tuple(row["partition"] for row in numbers if row["differs"]),
        max(row["as_of"] for row in numbers),
    )


def broker_disk(tables: Tables, broker: int) -> BrokerDisk:
    """What lies on a broker's disks, by topic. Raises QueryError."""
    (seen,) = tables.rows(
        """
        SELECT max(as_of_ms) AS as_of, list_sort(list(DISTINCT directory)) AS directories
        FROM log_segments WHERE broker = $broker
        """,
        {"broker": broker},
    )
    if seen["as_of"] is None:
        return BrokerDisk()
    (before,) = tables.rows(
        "SELECT max(minute) AS minute FROM disk_usage WHERE broker = $broker AND minute <= $upto",
        {"broker": broker, "upto": seen["as_of"] - DAY_MS},
    )
    topics = tables.rows(
        """
        SELECT topic, count(DISTINCT (directory, partition))::BIGINT AS partitions,
            count(*)::BIGINT AS segments, sum(bytes)::BIGINT AS bytes, min(first_ms) AS oldest_ms,
            (sum(bytes) - coalesce(any_value(was), 0))::BIGINT AS grown
        FROM log_segments LEFT JOIN (
            SELECT topic, bytes AS was FROM disk_usage WHERE broker = $broker AND minute = $minute
        ) USING (topic)
        WHERE broker = $broker GROUP BY topic ORDER BY bytes DESC, topic
        """,
        {"broker": broker, "minute": before["minute"]},
    )
    is_known = before["minute"] is not None
    return BrokerDisk(
        tuple(TopicUsage(**{**row, "grown": row["grown"] if is_known else None}) for row in topics),
        tuple(seen["directories"]),
        seen["as_of"],
        before["minute"],
    )


def _segment(row: dict[str, Any]) -> LogSegment:
    return LogSegment(**{**row, "codecs": None if row["codecs"] is None else tuple(row["codecs"])})


def _columns(of: type[msgspec.Struct]) -> str:
    return ", ".join(f'"{name}"' for name in of.__struct_fields__)
