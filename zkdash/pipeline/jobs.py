"""What runs do, by name: each a function of a cluster and its tables, safe to be killed and to be run again.

load reads only files that may hold news, and counts on nothing but what the tables hold; derive goes on where
each table is; retain needs no Spark.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it
from pyspark.sql.streaming.query import StreamingQuery

from zkdash.cluster.changes import row
from zkdash.history.store import coverage, directories, schemas, watching
from zkdash.history.store.delta import Table
from zkdash.history.store.location import Location
from zkdash.pipeline import segments
from zkdash.pipeline.derivation.derived_tables import Deriving
from zkdash.pipeline.disks import directories as disks
from zkdash.pipeline.disks import tables
from zkdash.pipeline.sources.files import Directory
from zkdash.pipeline.sources.segments import LogDirectory
from zkdash.pipeline.sources.txnlog import LOG
from zkdash.pipeline.storage import reading, retention, spark_files, writing
from zkdash.zk.config import ClusterConfig

STREAM: Final = "stream"
_LOAD: Final = "load"  # a position: which run wrote what logs hold last
_SNAPSHOTS: Final = "snapshots"  # likewise of snapshots
Tell = Callable[[str, float], None]


class JobError(RuntimeError):
    """A job cannot be done; one sentence says why, and what to do."""


class Outcome(msgspec.Struct, frozen=True):
    """What a job did. `metrics` is JSON."""

    sentence: str
    rows: int = 0
    problems: int = 0
    zxid_upto: int | None = None
    metrics: Mapping[str, Any] = {}


def load(spark: SparkSession, cluster: ClusterConfig, root: Location, tell: Tell) -> Outcome:
    """Read what is new in ZooKeeper's files, and in Kafka's segments where they are named.

    Raises JobError where there are no files to read, and nothing was recorded.
    """
    directory = directories.directory(root, cluster.name)
    check_files(cluster, directory)
    if cluster.transaction_logs:
        loaded = _load_logs(spark, cluster, directory, tell)
    elif _is_recorded(directory):
        loaded = Outcome("there are no transaction logs to read: changes are those that were recorded")
    else:
        loaded = Outcome("there are no transaction logs to read: what changed in ZooKeeper is not told of")
    return _load_segments(spark, cluster, directory, loaded, tell) if cluster.segments else loaded


def _load_logs(spark: SparkSession, cluster: ClusterConfig, directory: Location, tell: Tell) -> Outcome:
    """Read transaction logs and snapshots into changes, problems, coverage and checkpoints."""
    began = time.monotonic()
    before = {name: Table(directory / name).read() for name in schemas.TABLES}
    reached = _reached(directory)
    _forget_uncovered(Table(directory / "changes"), reached)
    number = 1 + max(each.position(name) or 0 for each in before.values() for name in (_LOAD, _SNAPSHOTS))
    tell("reading transaction logs", 0.0)
    logs = reading.txnlog(spark, cluster.transaction_logs, chroot=cluster.chroot, since=reached)
    writing.logs(logs, directory, _LOAD, number, base=before)
    tell("reading snapshots", 0.5)
    snapshots = cluster.snapshots or cluster.transaction_logs
    since = (before["znodes_checkpoint"].position(schemas.SNAPSHOTS_UPTO) or 0) + 1
    znodes = reading.snapshot(spark, snapshots, chroot=cluster.chroot, since=since)
    # the newest one of old servers may still be fuzzy: nobody can tell before the next one is there
    notable = znodes.where(F.col("zxid_upto").isNotNull() | F.col("problem").isNotNull())
    writing.logs(notable, directory, _SNAPSHOTS, number, base=before)
    after = {name: Table(directory / name).read() for name in schemas.TABLES}
    rows = {name: after[name].rows - before[name].rows for name in schemas.TABLES}
    upto = _reached(directory)
    news = f"{rows['changes']} changes" if rows["changes"] else "no change"
    return Outcome(
        f"{news} and {rows['znodes_checkpoint']} znodes of snapshots are new, up to 0x{upto:x}"
        + _told(rows["problems"]),
        rows=sum(rows.values()),
        problems=rows["problems"],
        zxid_upto=upto or None,
        metrics={
            "load": {
                "seconds": round(time.monotonic() - began, 3),
                "rows": rows,
                "files": {name: len(moment.files) for name, moment in after.items()},
                "last_ms": _greatest(Table(directory / "changes"), "time") or None,
            }
        },
    )


def _load_segments(
    spark: SparkSession, cluster: ClusterConfig, directory: Location, loaded: Outcome, tell: Tell
) -> Outcome:
    """Read the commits and groups that are kept in Kafka beside what was `loaded`."""
    tell("reading Kafka's segments", 0.8)
    try:
        loaded_segments = segments.load_segments(spark, disks.disks(cluster.segments), directory)
        tell("looking at the brokers' disks", 0.9)
        taken = tables.take(spark, cluster.segments, directory)
    except (OSError, ValueError) as error:
        raise _unreadable(cluster, error) from error
    news = f"{loaded_segments.commits} commits and {loaded_segments.groups} groups of Kafka's own are new"
    return msgspec.structs.replace(
        loaded,
        sentence=f"{loaded.sentence}; {news}; {taken.sentence}",
        rows=loaded.rows + loaded_segments.commits + loaded_segments.groups,
        problems=loaded.problems + loaded_segments.problems,
        metrics={
            **loaded.metrics,
            "segments": msgspec.to_builtins(loaded_segments),
            "disks": msgspec.to_builtins(taken),
        },
    )


def derive(spark: SparkSession, cluster: ClusterConfig, root: Location, tell: Tell) -> Outcome:
    """Bring the derived tables up to what was loaded."""
    began = time.monotonic()
    deriving = Deriving(spark, directories.directory(root, cluster.name), tell=tell)
    made = deriving.run()
    upto = deriving.upto
    position = "no change was loaded yet" if upto is None else f"the derived tables are up to 0x{upto:x}"
    return Outcome(
        position,
        rows=sum(each.rows for each in made),
        zxid_upto=upto,
        metrics={
            "derive": {
                "seconds": round(time.monotonic() - began, 3),
                "tables": {each.table: msgspec.to_builtins(each) for each in made},
            }
        },
    )


def retain(cluster: ClusterConfig, root: Location, days: int, tell: Tell) -> Outcome:
    """Delete what is older than `days`, and put many small files together. Needs no Spark."""
    tell(f"deleting what is older than {days} days", 0.0)
    began = time.monotonic()
    now_ms = time.time_ns() // 1_000_000
    done = retention.retain(directories.directory(root, cluster.name), days, now_ms=now_ms)
    kept = "" if done.has_checkpoint else "; no checkpoint is as old as that, so all changes were kept"
    return Outcome(
        f"{done.retired} files older than {days} days left the tables, {done.deleted} were deleted{kept}",
        metrics={"retain": {"seconds": round(time.monotonic() - began, 3), **msgspec.to_builtins(done)}},
    )


def stream(spark: SparkSession, cluster: ClusterConfig, root: Location) -> StreamingQuery:
    """Start to load continuously; the query goes on where an earlier one was ended. Raises JobError."""
    check(cluster)
    check_stream(root)
    directory = directories.directory(root, cluster.name)
    changes = reading.txnlog(
        spark, cluster.transaction_logs, chroot=cluster.chroot, since=_reached(directory), stream=True
    )
    return writing.stream_logs(changes, directory, STREAM)


def check_stream(root: Location) -> None:
    """Whether a stream can keep where it stands: beside the tables, by Spark itself. Raises JobError."""
    if not spark_files.is_reached(root):
        raise JobError(
            f"a stream keeps where it stands beside the tables, and Spark does not reach {root}: "
            "run load again and again instead, as the worker does"
        )


def check_files(cluster: ClusterConfig, directory: Location) -> None:
    """Whether there is anything to load: the files that are named, or what was recorded. Raises JobError."""
    if cluster.transaction_logs or not (cluster.segments or _is_recorded(directory)):
        check(cluster)
    if cluster.segments:
        try:
            for disk in disks.disks(cluster.segments):
                LogDirectory(disk.path).logs(segments.TOPIC)
        except (OSError, ValueError) as error:
            raise _unreadable(cluster, error) from error


def _unreadable(cluster: ClusterConfig, error: Exception) -> JobError:
    return JobError(f"the segments of {cluster.name} cannot be read: {error}")


def _is_recorded(directory: Location) -> bool:
    return bool(Table(directory / watching.NAME).read().files)


def check(cluster: ClusterConfig) -> None:
    """Whether there are transaction logs to read. Raises JobError."""
    name, where = cluster.name, cluster.transaction_logs
    if not where:
        raise JobError(
            f"{name} has no transaction_logs: name ZooKeeper's dataLogDir under that key of [clusters.{name}]"
            " (or log.dirs of Kafka's brokers as segments)"
        )
    try:
        logs = Directory(where).files(LOG)
    except PermissionError as error:
        raise JobError(
            f"{where} cannot be read: let this user read it ({error.strerror or error})"
        ) from error
    except (OSError, ValueError) as error:
        raise JobError(f"the transaction logs of {name} cannot be read: {error}") from error
    if not logs:
        raise JobError(f"{where} holds no transaction log (log.<zxid>): name ZooKeeper's dataLogDir")


def _reached(directory: Location) -> int:
    """The last transaction that was loaded, 0 for none."""
    stretches = coverage.stretches(Table(directory / "coverage"))
    return stretches[-1].last if stretches else 0


def _forget_uncovered(changes: Table, reached: int) -> None:
    """Drop what a killed run added without its coverage: it is read again now."""
    if any(file.bounds.get("zxid_upto", (0, 0))[1] > reached for file in changes.read().files):
        changes.delete(f"source = '{row.LOGGED}' AND zxid_upto > {reached}")


def _greatest(table: Table, column: str) -> int:
    """The greatest value of a column, 0 for none."""
    return max((file.bounds[column][1] for file in table.read().files if column in file.bounds), default=0)


def _told(problems: int) -> str:
    return f"; {problems} problems, told on the page" if problems else ""
