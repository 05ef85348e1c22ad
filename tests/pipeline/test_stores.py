"""The same jobs on tables in an object store and in HDFS: the rows that a directory gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs

from tests import full
from tests.history.recorder.test_recorder import alone, written, znode
from tests.history.writing import held
from tests.lab.hadoop import Hadoop
from tests.lab.s3 import Bucket
from tests.pipeline.transforms import living
from tests.pipeline.transforms.living import Lived, ordered, rows
from tests.waiting import wait_for
from zkdash.history.queries import moment
from zkdash.history.store import derived, schemas
from zkdash.history.store.delta import Table
from zkdash.history.store.location import Location, Remote
from zkdash.history.store.remote import filesystem
from zkdash.pipeline import jobs
from zkdash.znode import Batch

pytestmark = [pytest.mark.spark, pytest.mark.zk]


def quietly(_what: str, _done: float) -> None:
    """Nobody is told."""


def test_tables_of_an_object_store_are_those_of_a_directory(
    lived: Lived, whole: Path, bring: Callable[[Path, Location], Any], bucket: Bucket
) -> None:
    root = bucket.fresh()
    bring(lived.stages[-1], root)
    for name in (*schemas.TABLES, *derived.TABLES):
        assert ordered(held(root / "shop", name)) == rows(whole, name), name
    assert held(root / "shop", "partition_intervals")
    (reached,) = {max(row["zxid"] for row in held(place / "shop", "changes")) for place in (whole, root)}
    assert moment.at(root / "shop", reached) == moment.at(whole / "shop", reached)
    jobs.retain(living.cluster(lived.stages[-1]), root, 30, quietly)


def test_tables_of_hdfs_are_those_of_a_directory(lived: Lived, whole: Path, spark: Any, hdfs: Hadoop) -> None:
    """By Spark's own reader and writer there. What is derived besides only by `make faults`."""
    root = hdfs.fresh()
    shop, cluster = root / "shop", living.cluster(lived.stages[-1])
    with alone(shop) as recorder:
        wait_for(lambda: recorder.status.wrote_ms)
        recorder.batch(Batch({"/a": znode(1, 101, b"1")}, 101))
        wait_for(written(shop, "/a", b"1"))
    assert moment.at(shop, 101).znodes["/a"].data == b"1"
    jobs.load(spark, cluster, root, quietly)
    if full.is_full():
        jobs.derive(spark, cluster, root, quietly)
    watched = [row for row in held(shop, "changes") if row["source"] == "watch"]
    assert [row["path"] for row in watched] == ["/a"]
    for name in ("changes", "coverage", *(derived.TABLES if full.is_full() else ())):
        made = [row for row in held(shop, name) if row not in watched]
        assert ordered(made) == rows(whole, name), name
    table = Table(shop / "changes")
    assert table.vacuum(grace_ms=0) == 0
    runs = filesystem(shop / "changes").get_file_info(fs.FileSelector("data"))
    assert {entry.path for entry in runs} == {file.path.rpartition("/")[0] for file in table.read().files}


def test_a_stream_says_that_it_cannot_keep_where_it_is(lived: Lived, spark: Any) -> None:
    root = Remote("s3://bucket/zkdash", Path("/nowhere"))
    with pytest.raises(jobs.JobError, match=r"Spark does not reach s3://bucket/zkdash: run load again"):
        jobs.stream(spark, living.cluster(lived.stages[0]), root)
