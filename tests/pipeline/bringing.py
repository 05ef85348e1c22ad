"""A run of its own that loads a directory's files into tables and derives, until it is killed."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.pipeline import killed
from tests.pipeline.transforms import living
from zkdash.pipeline import jobs


def main(files: str, root: str, scratch: str) -> None:
    spark = killed.small(scratch)
    cluster = living.cluster(Path(files))
    jobs.load(spark, cluster, Path(root), lambda _what, _done: None)
    jobs.derive(spark, cluster, Path(root), lambda _what, _done: None)


if __name__ == "__main__":
    main(*sys.argv[1:])
