"""The same jobs on tables in an object store and in HDFS: the rows that a directory gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from tests import full
from tests.history import writing
from tests.history.recorder.test_recorder import alone, written, znode
from tests.history.writing import held
from tests.lab.hadoop import Hadoop
from tests.lab.s3 import Bucket
from tests.pipeline.transforms import living
from tests.pipeline.transforms.living import Lived, ordered, rows
from tests.waiting import wait_for
from zkdash.history.places.location import Remote
from zkdash.history.places.remote import filesystem
from zkdash.history.queries import moment
from zkdash.history.store import derived, schemas
from zkdash.history.store.delta import DAY, Table
from zkdash.history.store.tables import Tables
from zkdash.pipeline import jobs
from zkdash.pipeline.storage import day_partitions, spark_files
from zkdash.time_units import DAY_MS
from zkdash.znode import Batch

pytestmark = [pytest.mark.spark, pytest.mark.zk]

# In every run what executors read and write; what is derived besides only by `make faults`: it takes minutes.
TABLES = full.pick(tuple(schemas.TABLES), (*schemas.TABLES, *derived.TABLES))


def quietly(_what: str, _done: float) -> None:
    """Nobody is told."""


def test_tables_of_an_object_store_are_those_of_a_directory(
    lived: Lived, whole: Path, spark: Any, bucket: Bucket
) -> None:
    root, cluster = bucket.fresh(), living.cluster(lived.stages[-1])
    jobs.load(spark, cluster, root, quietly)
    if full.is_full():
        jobs.derive(spark, cluster, root, quietly)
    for name in TABLES:
        assert ordered(held(root / "shop", name)) == rows(whole, name), name
    (reached,) = {max(row["zxid"] for row in held(place / "shop", "changes")) for place in (whole, root)}
    assert moment.at(root / "shop", reached) == moment.at(whole / "shop", reached)
    again = jobs.load(spark, cluster, root, quietly)
    assert again.sentence.startswith("no change and 0 znodes of snapshots are new"), again.sentence
    jobs.retain(cluster, root, 30, quietly)


@pytest.mark.parametrize("store", full.pick(("bucket",), ("bucket", "hdfs")))
def test_days_of_a_table_elsewhere_are_put_in_place_of_days(
    whole: Path, spark: Any, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    """As derivations read and write each table, by short hours; all of them do so only by `make faults`."""
    monkeypatch.setattr(day_partitions, "HOUR_MS", 300)
    name, shop = "partition_intervals", request.getfixturevalue(store).fresh() / "shop"
    here, there, schema = Table(whole / "shop" / name), Table(shop / name), derived.TABLES[name]

    def put(rows: Any) -> None:
        now, dated = there.read(), day_partitions.dated(rows, "from_ms")
        large = day_partitions.days(dated)
        day_partitions.put(
            there, dated, base=now, removed=now.files, order=("from_ms",), position={}, large=large
        )

    put(spark_files.read(spark, here, schema, here.read().files))
    assert ordered(held(shop, name)) == rows(whole, name) != []
    first = there.read().files
    assert len(first) == len({file.bounds["from_ms"][0] // 300 for file in first}) > 1
    assert {tuple(file.partition) for file in first} == {(DAY,)}
    later = F.col("from_ms") + DAY_MS
    put(spark_files.read(spark, there, schema, there.read().files).withColumn("from_ms", later))
    moved = [row | {"from_ms": row["from_ms"] + DAY_MS} for row in rows(whole, name)]
    assert ordered(held(shop, name)) == ordered(moved)
    assert there.vacuum(grace_ms=0) == len(first)
    there.sweep()
    assert isinstance(there.location, Remote)
    runs = filesystem(there.location).get_file_info(fs.FileSelector("data"))
    assert {entry.path for entry in runs} == {
        "/".join(file.path.split("/")[:2]) for file in there.read().files
    }


def test_tables_of_hdfs_are_those_of_a_directory(lived: Lived, whole: Path, spark: Any, hdfs: Hadoop) -> None:
    """What is loaded and derived only by `make faults`; in every run what a recorder writes."""
    shop = hdfs.fresh() / "shop"
    with alone(shop) as recorder:
        wait_for(lambda: recorder.status.wrote_ms)
        recorder.batch(Batch({"/a": znode(1, 101, b"1")}, 101))
        wait_for(written(shop, "/a", b"1"))
    assert moment.at(shop, 101).znodes["/a"].data == b"1"
    for upto in (5, 9):
        writing.put(shop, "coverage", [{"zxid_upto": upto}])
        for _ in range(2):  # the second time its log is only asked whether it went on
            with Tables(shop, ["coverage"]) as tables:
                assert tables.rows("SELECT max(zxid_upto) AS upto FROM coverage") == [{"upto": upto}]
    if full.is_full():
        root, cluster = hdfs.fresh(), living.cluster(lived.stages[-1])
        jobs.load(spark, cluster, root, quietly)
        jobs.derive(spark, cluster, root, quietly)
        for name in TABLES:
            assert ordered(held(root / "shop", name)) == rows(whole, name), name


def test_a_stream_says_that_it_cannot_keep_where_it_is(lived: Lived, spark: Any) -> None:
    root = Remote("s3://bucket/zkdash", Path("/nowhere"))
    with pytest.raises(jobs.JobError, match=r"Spark does not reach s3://bucket/zkdash: run load again"):
        jobs.stream(spark, living.cluster(lived.stages[0]), root)
