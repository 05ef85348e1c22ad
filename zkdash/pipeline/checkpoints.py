"""Rows that several queries go on from, computed once."""

from __future__ import annotations

from pyspark import StorageLevel
from pyspark.sql import DataFrame


def local(rows: DataFrame) -> DataFrame:
    """The rows as they are now, held by the executors: as bytes, and on disk where memory is short.

    Spark's own default holds a Java object a row, of which a day of commits fills the heap.
    """
    return rows.localCheckpoint(storageLevel=StorageLevel.MEMORY_AND_DISK)
