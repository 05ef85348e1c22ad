"""A run of its own that streams a directory's logs into tables, until it is killed."""

from __future__ import annotations

import sys
from pathlib import Path

from zkdash.pipeline import session
from zkdash.pipeline.storage import reading, writing

INTERVAL_S = 0.2


def main(files: str, tables: str, scratch: str) -> None:
    spark = session.start(
        Path(scratch),
        master="local[1]",
        options={"spark.driver.memory": "512m", "spark.sql.shuffle.partitions": "1"},
        progress=False,
    )
    found = reading.txnlog(spark, files, stream=True)
    writing.stream_logs(found, Path(tables), "logs", interval_s=INTERVAL_S).awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
