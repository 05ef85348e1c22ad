"""ZooKeeper's files as DataFrames.

`txnlog` and `snapshot` hold data and notes; `data`, `problems` and `coverage` take them apart. Taking more
than one part reads the files as often: persist, or let `writing` do it, where that matters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.cluster.changes import row
from zkdash.history.places.location import Location
from zkdash.history.store import schemas
from zkdash.history.store.coverage import Stretch, stretches
from zkdash.history.store.delta import Table
from zkdash.pipeline.sources import options, rows
from zkdash.pipeline.storage import spark_files, watched


def txnlog(
    spark: SparkSession,
    paths: str | Sequence[str],
    *,
    chroot: str = "",
    since: int = 0,
    dbid: int = 0,
    loaded: Sequence[Stretch] = (),
    files: Iterable[str] | None = None,
    stream: bool = False,
) -> DataFrame:
    """The transaction logs of one directory or several: `sources.txnlog`, and its `options.Options`."""
    given = {"path": options.written(paths), "chroot": chroot, "since": str(since), "dbid": str(dbid)}
    given |= {"loaded": json.dumps(loaded)} | _named(files)
    return (spark.readStream if stream else spark.read).format("zktxnlog").options(**given).load()


def kafkalog(spark: SparkSession, path: str, *, topic: str = "", stream: bool = False) -> DataFrame:
    """Kafka's log segments below a log.dirs directory, or one of them: `sources.kafkalog`."""
    reader = spark.readStream if stream else spark.read
    return reader.format("kafkalog").option("path", path).option("topic", topic).load()


def snapshot(
    spark: SparkSession,
    paths: str | Sequence[str],
    *,
    chroot: str = "",
    since: int = 0,
    files: Iterable[str] | None = None,
) -> DataFrame:
    """The snapshots of one directory or several: `sources.snapshot`, and its `options.Options`."""
    given = {"path": options.written(paths), "chroot": chroot, "since": str(since)} | _named(files)
    return spark.read.format("zksnapshot").options(**given).load()


def recorded(spark: SparkSession, directory: Location) -> DataFrame:
    """What the recorder saw of a cluster and no log that was read covers, as rows of the change."""
    table = Table(directory / "changes")
    changes = spark_files.read(spark, table, schemas.CHANGES, table.read().files)
    logged = stretches(Table(directory / "coverage"))
    return watched.uncovered(changes.where(F.col("source") == row.WATCHED), logged)


def data(loaded: DataFrame) -> DataFrame:
    """The rows without the notes: changes of logs, znodes of snapshots."""
    return loaded.where(F.col("problem").isNull() & F.col("covered").isNull()).drop(*rows.NOTES)


def messages(loaded: DataFrame) -> DataFrame:
    """Kafka's messages without the problems."""
    return loaded.where(F.col("problem").isNull()).drop("problem")


def problems(loaded: DataFrame) -> DataFrame:
    """What could not be read: file, offset (bytes), reason, torn."""
    return loaded.where(F.col("problem").isNotNull()).select("problem.*")


def coverage(loaded: DataFrame) -> DataFrame:
    """Which transactions were read: zxid_from, zxid_upto."""
    return loaded.where(F.col("covered").isNotNull()).select("covered.*")


def _named(files: Iterable[str] | None) -> dict[str, str]:
    return {} if files is None else {"files": json.dumps(sorted(files))}
