"""Commits and groups that are kept in Kafka: the segments of __consumer_offsets as tables.

Compaction deletes older commits from the segments, never from the tables: a row that was read once is kept
until `retention` deletes it, and what it deletes is not read again.
What a transaction committed counts where the transaction was committed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it
from pyspark.sql.pandas.types import from_arrow_schema

from zkdash.formats.kafkalog import offsets
from zkdash.formats.problems import Problem
from zkdash.history.places.location import Location
from zkdash.history.store import files, schemas
from zkdash.history.store.delta import Table, TableVersion
from zkdash.pipeline.disks.directories import Disk
from zkdash.pipeline.sources import rows
from zkdash.pipeline.storage import day_partitions, reading, retention, spark_files, writing
from zkdash.pipeline.transforms.events import minute

TOPIC: Final = "__consumer_offsets"
COMMITS: Final = "kafka_commits"
GROUPS: Final = "kafka_groups"
_KEY: Final = ("log_partition", "log_offset")
_NOTED: Final = pa.field("problem", rows.PROBLEM)
_DECODED: Final = pa.schema(
    [
        pa.field("commit", pa.struct(list(schemas.KAFKA_COMMITS))),
        pa.field("group", pa.struct(list(schemas.KAFKA_GROUPS))),
        _NOTED,
    ]
)
_COMMIT_MARKER: Final = 1  # KIP-98: a control record's key is its version and its type, both int16


class Loaded(msgspec.Struct, frozen=True):
    """How many rows are new in each table, and how many new problems there are."""

    commits: int
    groups: int
    problems: int


def load_segments(spark: SparkSession, disks: Sequence[Disk], directory: Location) -> Loaded:
    """Read __consumer_offsets of log.dirs into the tables of a cluster; what they hold is kept.

    A record that several replicas hold is one row. Problems are those of now: what was read before, while the
    broker wrote, may have ended amid an entry. Raises FileNotFoundError, delta.ConflictError.
    """
    # where there are several disks problems name theirs: files have the same names in all
    begins = ["" if len(disks) == 1 else f"{disk.path.rstrip('/')}/" for disk in disks]
    parts = [
        _below(decoded(reading.kafkalog(spark, disk.path, topic=TOPIC)), begin)
        for disk, begin in zip(disks, begins, strict=True)
    ]
    rows = day_partitions.union(parts).persist()
    try:
        return Loaded(
            _add(spark, directory, COMMITS, commits(rows)),
            _add(spark, directory, GROUPS, groups(rows)),
            _renew(directory, tuple(begin + TOPIC for begin in begins), problems(rows)),
        )
    finally:
        rows.unpersist()


def _below(rows: DataFrame, begin: str) -> DataFrame:
    """The same, the files of problems named from there on."""
    if not begin:
        return rows
    file = F.concat(F.lit(begin), F.col("problem.file"))
    return rows.withColumn(
        "problem", F.when(F.col("problem").isNotNull(), F.col("problem").withField("file", file))
    )


def _renew(directory: Location, begins: tuple[str, ...], flaws: DataFrame) -> int:
    """Have the table tell what was found now of files whose names so begin, all of which were read; how much
    of it is new."""
    table = Table(directory / "problems")
    before = {
        _place(row)
        for part in files.each(table)
        for row in part.to_pylist()
        if row["file"].startswith(begins)
    }
    now = {_place(row): row for row in flaws.toArrow().to_pylist()}
    changed = {file for file, *_ in before - now.keys()}
    if changed:
        writing.forget(table, changed)
    added = [row for place, row in now.items() if place not in before or row["file"] in changed]
    if added:
        files.append(table, pa.Table.from_pylist(added, schema=schemas.PROBLEMS))
    return len(now.keys() - before)


def _place(problem: Mapping[str, Any]) -> tuple[str, int, str]:
    return problem["file"], problem["offset"], problem["reason"]


def decoded(messages: DataFrame) -> DataFrame:
    """Rows of `kafkalog`, of __consumer_offsets, as a commit, a group, or a problem each."""
    kinds = from_arrow_schema(_DECODED).fields[:2]
    flaws = messages.where("problem IS NOT NULL").select(
        *(F.lit(None).cast(kind.dataType).alias(kind.name) for kind in kinds),
        "problem",
    )
    return (
        _counted(reading.messages(messages))
        .mapInArrow(_decode, from_arrow_schema(_DECODED))
        .unionByName(flaws)
    )


def commits(rows: DataFrame) -> DataFrame:
    """Rows of kafka_commits."""
    return rows.where("commit IS NOT NULL").select("commit.*")


def groups(rows: DataFrame) -> DataFrame:
    """Rows of kafka_groups."""
    return rows.where(F.col("group").isNotNull()).select("group.*")


def problems(rows: DataFrame) -> DataFrame:
    """What could not be read."""
    return rows.where("problem IS NOT NULL").select("problem.*")


def samples(rows: DataFrame) -> DataFrame:
    """Rows of kafka_commits as `transforms.groups.samples`: the last commit of each minute."""
    place = F.struct("commit_ms", "log_offset")
    return (
        rows.where("NOT deleted")
        .groupBy("group", "topic", "part", minute(F.col("commit_ms")).alias("minute"))
        .agg(
            F.max_by("offset", place).alias("offset"),
            F.max("commit_ms").alias("committed_ms"),
            F.count("*").alias("commits"),
        )
    )


def _counted(messages: DataFrame) -> DataFrame:
    """Records of no transaction, and of those that were committed: the marker after them says so."""
    ahead = (
        Window.partitionBy("file", "producer_id").orderBy("offset").rowsBetween(1, Window.unboundedFollowing)
    )
    kind = F.conv(F.hex(F.substring(F.col("key"), 3, 2)), 16, 10).cast("int")
    marked = F.first(F.when(F.col("control"), kind), ignorenulls=True).over(ahead)
    plain = messages.where("NOT coalesce(transactional, false)")
    bound = messages.where("transactional").withColumn("marker", marked)
    kept = bound.where((F.col("marker") == _COMMIT_MARKER) & ~F.col("control")).drop("marker")
    return plain.where("NOT coalesce(control, false)").unionByName(kept)


def _add(spark: SparkSession, directory: Location, name: str, new: DataFrame) -> int:
    """Add the rows whose key a table does not hold; how many."""
    table, keys = Table(directory / name), list(_KEY)
    now = table.read()
    old = spark_files.read(spark, table, schemas.TABLES[name], now.files)
    added = _kept(new, name, now).dropDuplicates(keys).join(old.select(*keys), keys, "left_anti")
    return day_partitions.put(
        table,
        added.select(*schemas.TABLES[name].names),
        base=now,
        removed=(),
        order=keys,
        position={f"segments:{name}": time.time_ns() // 1_000_000},
    )


def _kept(new: DataFrame, name: str, now: TableVersion) -> DataFrame:
    """Rows without those that `retention` would delete at once."""
    record, floor = retention.RECORDS.get(name), now.position(retention.FLOOR)
    if record is None or floor is None:
        return new
    last = F.max("log_offset").over(Window.partitionBy(*record.key, "log_partition"))
    is_young = F.coalesce(F.col(record.time) >= floor, F.lit(True))
    return new.withColumn("last", last).where(is_young | (F.col("log_offset") == F.col("last"))).drop("last")


def _decode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        names = ("partition", "file", "offset", "position", "timestamp", "key", "value")
        columns = (batch.column(name).to_pylist() for name in names)
        rows = [_decoded(*each) for each in zip(*columns, strict=True)]
        yield pa.RecordBatch.from_pylist(rows, schema=_DECODED)


def _decoded(*record: Any) -> dict[str, Any]:
    partition, file, offset, position, timestamp, key, value = record
    of = {"log_partition": partition, "log_offset": offset, "deleted": value is None}
    whose = Problem(0, "a record without a key") if key is None else offsets.key(key)
    if isinstance(whose, offsets.OffsetKey):
        at = {"group": whose.group, "topic": whose.topic, "part": str(whose.partition)}
        commit = None if value is None else offsets.offset(value)
        if not isinstance(commit, Problem):
            return {"commit": of | at | _commit(commit, timestamp)}
        whose = commit
    elif isinstance(whose, offsets.GroupKey):
        group = None if value is None else offsets.group(value)
        if not isinstance(group, Problem):
            return {"group": of | {"group": whose.group, "time": timestamp} | _group(group)}
        whose = group
    reason = f"a record of {TOPIC} at offset {offset}: {whose.reason}"
    return {"problem": {"file": file, "offset": position, "reason": reason, "torn": False}}


def _commit(commit: offsets.Offset | None, timestamp: int | None) -> dict[str, Any]:
    if commit is None:
        return {"commit_ms": timestamp}
    return {
        "offset": commit.offset,
        "leader_epoch": commit.leader_epoch,
        "metadata": commit.metadata,
        "commit_ms": commit.commit_time,
        "expire_ms": commit.expire_time,
    }


def _group(group: offsets.Group | None) -> dict[str, Any]:
    if group is None:
        return {}
    return {
        "generation": group.generation,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "leader": group.leader,
        "state_ms": None if group.state_time < 0 else group.state_time,
        "members": [_member(member) for member in group.members],
    }


def _member(member: offsets.Member) -> dict[str, Any]:
    """What a client's own bytes hold stays unknown where they are in no known form."""
    subscription, given = offsets.subscription(member.subscription), offsets.assignment(member.assignment)
    return {
        "id": member.id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "session_timeout_ms": member.session_timeout_ms,
        "topics": None if isinstance(subscription, Problem) else list(subscription.topics),
        "partitions": None
        if isinstance(given, Problem)
        else [f"{topic}-{number}" for topic, numbers in given.partitions for number in numbers],
    }
