"""Logs of a server before 3.6, which do not tell the ephemerals that a closed session took along."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.formats import driven
from tests.pipeline import writes
from tests.pipeline.writes import Writer
from zkdash.demo.zookeeper.server import Server
from zkdash.history.queries import moment
from zkdash.history.store import schemas
from zkdash.history.store.tables import Tables
from zkdash.pipeline.derivation import removals
from zkdash.pipeline.storage import reading, writing

pytestmark = [pytest.mark.spark, pytest.mark.zk]


def test_ephemerals_that_went_with_their_session_are_told_of_a_log_that_does_not(
    spark: SparkSession, tmp_path: Path
) -> None:
    files, tables = tmp_path / "zookeeper", tmp_path / "tables"
    with driven.old(files) as server:
        writer = Writer(server.address, "/written", seed=3)
        for _ in range(3):
            writer.round(60)
        read = writes.read(server)
        writer.close()
        after = writes.read(server)
    logs = reading.txnlog(spark, str(files))
    writing.logs(logs, tables, "logs", 0)
    for each in (read, after):
        found = moment.at(tables, each.zxid)
        assert {path: znode.mzxid for path, znode in found.znodes.items()} == {
            path: znode.mzxid for path, znode in each.znodes.items() if path.startswith("/written")
        }
    with Tables(tables, schemas.TABLES) as opened:
        assert opened.rows("SELECT count(removed) AS n FROM changes") == [{"n": 0}]
    went = {path for path, znode in read.znodes.items() if znode.ephemeral_owner and path not in after.znodes}
    assert went
    told = (
        removals.with_removals(reading.data(logs))
        .where("type = 'closeSession' AND path IS NOT NULL")
        .collect()
    )
    assert {each.path for each in told} >= went
    assert len({(each.zxid, each.op_index) for each in told}) == len(told)
    earlier = reading.data(reading.txnlog(spark, str(files), since=read.zxid))
    snapshot = spark.createDataFrame(
        [(path, znode.ephemeral_owner, znode.czxid) for path, znode in read.znodes.items()],
        "path string, ephemeral_owner bigint, czxid bigint",
    )
    later = (
        removals.with_removals(earlier, snapshot)
        .where("type = 'closeSession' AND path IS NOT NULL")
        .collect()
    )
    assert {each.path for each in later} == went


def test_the_rows_of_a_log_that_tells_are_left_as_they_are(spark: SparkSession, tmp_path: Path) -> None:
    with Server(tmp_path / "zookeeper", tick_time_ms=200) as server:
        writer = Writer(server.address, "/written", seed=3)
        writer.round(60)
        writer.close()
    changes = reading.data(reading.txnlog(spark, str(tmp_path / "zookeeper")))
    assert removals.with_removals(changes).count() == changes.count()
    assert changes.where("type = 'closeSession' AND path IS NOT NULL").count() > 0
