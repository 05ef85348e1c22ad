"""Makes the archive of classes that sessions start from (`python -m zkdash.pipeline.spark.archiving`)."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it
from pyspark.sql.pandas.types import from_arrow_schema

from zkdash import java
from zkdash.history.store import schemas
from zkdash.pipeline import checkpoints
from zkdash.pipeline.spark import class_archive, session
from zkdash.pipeline.spark.class_archive import PREFIX, SILENT
from zkdash.pipeline.transforms import events, traffic

_END_LIMIT_S: Final = 300.0  # the archive is written as the JVM ends
_ROWS: Final = 1_000


def make() -> Path | None:
    """Make the archive, once, of a session that does what loading and deriving do.

    None where this Java can have none. What was made for other jars, or another Java, goes. Raises
    java.NoJavaError, OSError.
    """
    runtime = java.find()
    if not class_archive.is_possible(runtime):
        return None
    archive = class_archive.path(runtime)
    if archive.is_file():
        return archive
    os.environ.pop("SPARK_CONF_DIR", None)  # of a directory that is not empty nothing is archived
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=archive.parent) as directory:
        written = Path(directory, "classes.jsa")
        archiving = f"-XX:ArchiveClassesAtExit={written} -XX:TieredStopAtLevel=1 {SILENT}"
        spark = session.start(
            Path(directory),
            master="local[2]",
            options={"spark.driver.extraJavaOptions": archiving},
            progress=False,
        )
        try:
            _work(spark, Path(directory, "changes"))
        finally:
            session.stop(spark, _END_LIMIT_S)
        if not written.is_file():
            raise OSError(f"Spark's JVM ended without having written its classes to {written}")
        for old in archive.parent.glob(f"{PREFIX}*.jsa"):
            old.unlink()
        return written.rename(archive)


def _work(spark: SparkSession, directory: Path) -> None:
    """Files written and read, events, windows, joins, sums, and Python beside it: of a thousand changes."""
    kind = from_arrow_schema(schemas.CHANGES)
    rows = [_change(number, kind.fieldNames()) for number in range(_ROWS)]
    spark.createDataFrame(rows, kind).sortWithinPartitions("path").write.parquet(str(directory))
    changes = spark.read.parquet(str(directory))
    before = spark.createDataFrame([], from_arrow_schema(schemas.HELD)).withColumn("what", F.lit("held"))
    happened = checkpoints.local(events.events(changes, before))
    events.held(happened).join(happened.select("path", "kind"), "path").toArrow()
    traffic.hot_paths(changes).toArrow()


def _change(number: int, columns: Sequence[str]) -> tuple[object, ...]:
    values: dict[str, object] = {
        "zxid": number + 1,
        "op_index": 0,
        "time": number,
        "session": 1,
        "type": "setData",
        "path": f"/brokers/topics/topic/partitions/{number % 10}/state",
        "data": b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}',
    }
    return tuple(values.get(column) for column in columns)


if __name__ == "__main__":
    try:
        print(make() or "this Java can have no archive of classes")  # noqa: T201 - asked by hand, and by make
    except (java.NoJavaError, OSError) as error:
        sys.exit(str(error))
