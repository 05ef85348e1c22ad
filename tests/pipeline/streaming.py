"""A run of its own that streams a directory's logs into tables, until it is killed."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.pipeline import killed
from zkdash.pipeline.storage import reading, writing

INTERVAL_S = 0.2


def main(files: str, tables: str, scratch: str) -> None:
    spark = killed.small(scratch)
    found = reading.txnlog(spark, files, stream=True)
    writing.stream_logs(found, Path(tables), "logs", interval_s=INTERVAL_S).awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
