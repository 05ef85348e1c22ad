"""A run of its own that loads a directory's files into tables and derives, until it is killed."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.pipeline.transforms import living
from zkdash.pipeline import jobs, session


def main(files: str, root: str, scratch: str) -> None:
    spark = session.start(
        Path(scratch),
        master="local[1]",
        options={"spark.driver.memory": "512m", "spark.sql.shuffle.partitions": "1"},
        progress=False,
    )
    cluster = living.cluster(Path(files))
    jobs.load(spark, cluster, Path(root), lambda _what, _done: None)
    jobs.derive(spark, cluster, Path(root), lambda _what, _done: None)


if __name__ == "__main__":
    main(*sys.argv[1:])
