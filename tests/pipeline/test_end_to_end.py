"""A real ZooKeeper's files → Spark → Parquet → DuckDB: the tree of any moment is what a client read then."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.pipeline.writes import CANARY, WORLD, Written
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer.advance import advance
from zkdash.formats.problems import Problem
from zkdash.formats.txnlog import plain, rows
from zkdash.history.queries import moment
from zkdash.history.store import schemas
from zkdash.history.store.delta import Table
from zkdash.history.store.tables import Tables
from zkdash.kafka import secrets
from zkdash.pipeline.sources.rows import REDACTION
from zkdash.pipeline.storage import reading, writing
from zkdash.znode import Batch, Znode

pytestmark = [pytest.mark.spark, pytest.mark.zk]


def shown(path: str, znode: Znode) -> tuple[object, ...]:
    stat = znode.stat
    data = secrets.redact_anywhere(path, znode.data)
    told = (stat.version, stat.czxid, stat.mzxid, stat.ctime, stat.mtime, stat.ephemeral_owner)
    return (data or b"", *told, stat.num_children)


def test_the_tree_at_every_moment_is_what_a_client_read_then(tables: Path, written: Written) -> None:
    checkpoints = set()
    for read in written.moments:
        found = moment.at(tables, read.zxid)
        assert found.znodes.keys() == read.znodes.keys()
        for path, znode in read.znodes.items():
            assert shown(path, found.znodes[path]) == shown(path, znode), path
        checkpoints.add(found.checkpoint)
    assert len(checkpoints) > 1
    with Tables(tables, schemas.TABLES) as opened:
        fuzzy = opened.rows("SELECT DISTINCT zxid FROM znodes_checkpoint WHERE zxid_upto > zxid")
    assert fuzzy


def test_a_clusters_state_at_a_moment_is_what_its_znodes_meant_then(
    spark: SparkSession, written: Written, tmp_path: Path
) -> None:
    writing.logs(reading.txnlog(spark, str(written.files), chroot=WORLD), tmp_path, "logs", 0)
    writing.logs(reading.snapshot(spark, str(written.files), chroot=WORLD), tmp_path, "snapshots", 0)
    for read in written.moments[1:-1]:
        below = {
            path.removeprefix(WORLD) or "/": Znode.of(
                secrets.redact(path.removeprefix(WORLD), znode.data), znode.stat
            )
            for path, znode in read.znodes.items()
            if path == WORLD or path.startswith(f"{WORLD}/")
        }
        wanted, _ = advance(ClusterState(), Batch(below, read.zxid, whole=True))
        found = moment.at(tmp_path, read.zxid).state()
        assert found.zxid == read.zxid
        assert set(found.brokers) == set(wanted.brokers)
        assert found.summaries == wanted.summaries
        assert found.counts == wanted.counts
        assert found.problems == wanted.problems


def test_every_transaction_that_changed_something_is_in_the_table_once(
    tables: Path, written: Written
) -> None:
    decoded = [
        row
        for log in sorted((written.files / "version-2").glob("log.*"))
        for row in plain.decode(log.read_bytes(), REDACTION)
        if not isinstance(row, Problem)
    ]
    assert any(row.failed for row in decoded)
    wanted = sorted(
        (row.zxid, row.op, rows.TYPES[row.type], row.path, row.data)
        for row in decoded
        if not row.failed and row.type not in (rows.ERROR, rows.CHECK)
    )
    with Tables(tables, schemas.TABLES) as opened:
        found = opened.rows("SELECT zxid, op_index, type, path, data FROM changes ORDER BY zxid, op_index")
        removed = opened.rows(
            "SELECT count(*) AS n FROM changes WHERE type = 'closeSession' AND path IS NOT NULL"
        )
    assert [tuple(each.values()) for each in found] == wanted
    assert removed[0]["n"] > 20


def test_no_secret_of_any_znode_is_in_any_file(tables: Path, written: Written) -> None:
    assert any(CANARY.encode() in path.read_bytes() for path in (written.files / "version-2").iterdir())
    files = [path for path in tables.rglob("*") if path.is_file()]
    assert not any(CANARY.encode() in path.read_bytes() for path in files)
    parquet = [path for path in files if path.suffix == ".parquet"]
    assert parquet
    read = [repr(pq.read_table(path, partitioning=None).to_pylist()) for path in parquet]
    assert not any(CANARY in text for text in read)
    assert any("/delegation_token/tokens/two" in text for text in read)
    assert any("producer_byte_rate" in text for text in read)


def test_a_moment_that_no_log_covers_is_refused(tables: Path, written: Written) -> None:
    last = written.moments[-1].zxid
    with pytest.raises(
        moment.MomentError, match=r"transactions are recorded without a gap up to 0x[0-9a-f]+ only"
    ):
        moment.at(tables, last + 1_000_000)


def test_the_same_batch_again_adds_nothing(spark: SparkSession, tables: Path, written: Written) -> None:
    before = Table(tables / "changes").version()
    writing.logs(reading.txnlog(spark, str(written.files)), tables, "logs", 0)
    assert Table(tables / "changes").version() == before
