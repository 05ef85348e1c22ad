"""Decodes a directory's transaction logs on Spark local[2]: once untimed, and each time it is told to."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from bench import side
from zkdash.pipeline.spark import session
from zkdash.pipeline.storage import reading


def main(logs: str, scratch: str) -> None:
    spark = session.start(
        Path(scratch), master="local[2]", options={"spark.driver.memory": "1g"}, progress=False
    )
    found = reading.txnlog(spark, logs)
    side.say(rows=reading.data(found).count())
    while side.hear() is not None:
        started = time.perf_counter()
        found.write.format("noop").mode("overwrite").save()
        side.say(seconds=time.perf_counter() - started)
    session.stop(spark)


if __name__ == "__main__":
    main(*sys.argv[1:])
