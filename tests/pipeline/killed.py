"""Processes that a test kills: modules of its own, each with a small session of Spark's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from tests.pipeline import clusters
from zkdash.pipeline.spark import session

_ROOT: Final = Path(__file__).resolve().parents[2]
_SMALL: Final = {"spark.driver.memory": "512m", "spark.sql.shuffle.partitions": "1"}


@contextmanager
def running(module: str, *arguments: Path, scratch: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`python -m module` in a process of its own, killed at the end, if not before; what it says is added
    to `log`, and its session is quick (`clusters.quick`)."""
    command = [sys.executable, "-m", module, *map(str, (*arguments, scratch))]
    environ = os.environ | clusters.quick()
    with log.open("ab") as said:
        process = subprocess.Popen(command, cwd=_ROOT, env=environ, stdout=said, stderr=said)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def small(scratch: str) -> SparkSession:
    """The session of such a process: one core, little memory, nothing cut into parts."""
    return session.start(Path(scratch), master="local[1]", options=_SMALL, progress=False)
