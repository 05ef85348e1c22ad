"""What several queries go on from is held in few bytes."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from zkdash.pipeline import checkpoints

pytestmark = pytest.mark.spark

ROWS = 200_000


def stored(spark: SparkSession) -> dict[int, Any]:
    """What the executors hold, by id."""
    return {info.id(): info for info in spark.sparkContext._jsc.sc().getRDDStorageInfo()}


def test_rows_that_are_held_take_bytes_and_no_objects(spark: SparkSession) -> None:
    """A day of some millions of commits filled a heap of 1 GB where each row was an object of Java's."""
    before = stored(spark).keys()
    held = checkpoints.local(
        spark.range(ROWS).selectExpr("id", "concat('group-', id % 1000) AS name", "id * 2 AS twice")
    )
    now = stored(spark)
    [rdd] = now.keys() - before
    level = now[rdd].storageLevel()
    assert (level.useMemory(), level.useDisk(), level.deserialized()) == (True, True, False)
    assert 0 < now[rdd].memSize() + now[rdd].diskSize() < 100 * ROWS
    assert held.selectExpr("sum(twice)").collect()[0][0] == ROWS * (ROWS - 1)
