"""What runs do, by name: each a function of a cluster and its tables, safe to be killed and to be run again.

load reads only files that may hold news, and counts on nothing but what the tables hold; derive goes on where
each table is; retain needs no Spark.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from zkdash.history.places.location import Location
from zkdash.history.store import directories, schemas, watching
from zkdash.history.store.delta import Table, TableVersion
from zkdash.history.store.tables import opened
from zkdash.pipeline import loading, segments
from zkdash.pipeline.derivation import basis
from zkdash.pipeline.derivation.derived_tables import Deriving
from zkdash.pipeline.disks import directories as disks
from zkdash.pipeline.disks import tables
from zkdash.pipeline.sources import files
from zkdash.pipeline.sources.segments import LogDirectory
from zkdash.pipeline.sources.snapshot import SNAPSHOT
from zkdash.pipeline.sources.txnlog import LOG
from zkdash.pipeline.storage import arrivals, reading, retention, spark_files, writing
from zkdash.pipeline.storage.arrivals import LOAD, STREAM
from zkdash.zk.config import ClusterConfig

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
    basis.adopt(directory)
    loaded = loading.load(spark, cluster, directory, tell)
    now = opened(directory, schemas.TABLES)
    rows = loaded.rows
    news = f"{rows['changes']} changes" if rows["changes"] else "no change"
    late = "" if loaded.late_from is None else f"; logs that came late tell of 0x{loaded.late_from:x} on"
    return Outcome(
        f"{news} and {rows['znodes_checkpoint']} znodes of snapshots are new, up to 0x{loaded.upto:x}"
        + late
        + _told(max(rows["problems"], 0))
        + "".join(f"; {why}" for why in loaded.missing),
        rows=sum(max(count, 0) for count in rows.values()),
        problems=max(rows["problems"], 0),
        zxid_upto=loaded.upto or None,
        metrics={
            "load": {
                "seconds": round(time.monotonic() - began, 3),
                "rows": rows,
                "files": {name: len(version.files) for name, version in now.items()},
                "last_ms": _greatest(now["changes"], "time") or None,
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
    basis.adopt(directory)
    arrivals.prepare(directory, LOAD, STREAM)
    changes = reading.txnlog(
        spark,
        cluster.transaction_logs,
        chroot=cluster.chroot,
        loaded=arrivals.loaded(directory),
        stream=True,
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
    name, paths = cluster.name, cluster.transaction_logs
    if not paths:
        raise JobError(
            f"{name} has no transaction_logs: name ZooKeeper's dataLogDir under that key of [clusters.{name}]"
            " (or log.dirs of Kafka's brokers as segments)"
        )
    try:
        listing = files.listed(paths, LOG)
    except PermissionError as error:
        raise JobError(
            f"{paths[-1]} cannot be read: let this user read it ({error.strerror or error})"
        ) from error
    except (OSError, ValueError) as error:
        raise JobError(f"the transaction logs of {name} cannot be read: {error}") from error
    if not any(listing.directories):
        where = " and ".join(paths)
        raise JobError(f"{where} holds no transaction log (log.<zxid>): name ZooKeeper's dataLogDir")
    try:
        files.listed(cluster.snapshots or paths, SNAPSHOT)
    except (OSError, ValueError) as error:
        raise JobError(f"the snapshots of {name} cannot be read: {error}") from error


def _greatest(table: TableVersion, column: str) -> int:
    """The greatest value of a column, 0 for none."""
    return max((file.bounds[column][1] for file in table.files if column in file.bounds), default=0)


def _told(problems: int) -> str:
    return f"; {problems} problems, told on the page" if problems else ""
