"""A cluster without access to ZooKeeper's files: all that is derived comes from the recorder's rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.conftest import Chroot
from tests.history.recorder.test_recorder import begun, recorded, rows, written
from tests.waiting import wait_for
from tests.world import World
from tests.zk.proxy import Proxy
from zkdash.history.store import files, schemas, watching
from zkdash.history.store.coverage import Stretch
from zkdash.history.store.delta import Table
from zkdash.pipeline import jobs
from zkdash.pipeline.storage import reading, watched
from zkdash.zk.config import ClusterConfig

pytestmark = pytest.mark.spark

EAST = ClusterConfig("east", (("127.0.0.1", 2181),))


def seen(after: int, upto: int, zxid: int | None = None) -> dict[str, Any]:
    told = {"zxid": zxid, "zxid_after": after, "zxid_upto": upto, "op_index": 0, "source": "watch"}
    return {**told, "time": 1, "type": "delete", "path": f"/{after}-{upto}"}


def test_what_logs_cover_whole_is_dropped_and_all_else_is_kept(spark: Any, tmp_path: Path) -> None:
    told = [seen(4, 5, 5), seen(9, 10, 10), seen(10, 20), seen(15, 25), seen(25, 30), seen(39, 40, 40)]
    table = pa.Table.from_pylist(told, schema=schemas.CHANGES)
    files.append(Table(tmp_path / "changes"), table)
    covered = pa.Table.from_pylist(
        [{"zxid_from": 10, "zxid_upto": 20}, {"zxid_from": 40, "zxid_upto": 50}], schema=schemas.COVERAGE
    )
    assert reading.recorded(spark, tmp_path).count() == len(told)
    files.append(Table(tmp_path / "coverage"), covered)
    kept = reading.recorded(spark, tmp_path)
    assert {row["path"] for row in kept.collect()} == {"/4-5", "/15-25", "/25-30"}
    assert watched.uncovered(kept, [Stretch(0, 100)]).count() == 0


@pytest.mark.zk
def test_tables_are_derived_from_what_was_watched_and_tell_the_gap(
    spark: Any, chroot: Chroot, tmp_path: Path
) -> None:
    client, directory = chroot.client, tmp_path / "east"
    world = World(client, chroot.address)
    world.broker(1, controller=True)
    world.broker(2)
    world.topic("orders", {0: [1, 2]})
    client.create("/consumers/billing/offsets/orders/0", b"5", makepath=True)
    with (
        Proxy(chroot.server.port) as proxy,
        recorded(directory, f"127.0.0.1:{proxy.port}{chroot.path}"),
    ):
        begun(directory)
        world.state("orders", 0, leader=2, isr=[2], epoch=1)
        wait_for(written(directory, "/brokers/topics/orders/partitions/0/state", state(client)), limit_s=30.0)
        proxy.cut()
        world.state("orders", 0, leader=1, isr=[1], epoch=2)
        world.state("orders", 0, leader=1, isr=[1, 2], epoch=2)
        client.set("/consumers/billing/offsets/orders/0", b"9")
        proxy.restore()
        wait_for(written(directory, "/brokers/topics/orders/partitions/0/state", state(client)), limit_s=30.0)
        world.kill_broker(2)
        wait_for(
            lambda: any(
                row["type"] == "delete" and row["path"] == "/brokers/ids/2" for row in rows(directory)
            ),
            limit_s=30.0,
        )
        wait_for(written(directory, "/consumers/billing/offsets/orders/0", b"9"), limit_s=30.0)
    world.close()
    loaded = jobs.load(spark, EAST, tmp_path, lambda _what, _done: None)
    assert loaded.sentence == "there are no transaction logs to read: changes are those that were recorded"
    outcome = jobs.derive(spark, EAST, tmp_path, lambda _what, _done: None)
    (stretch,) = watching.stretches(Table(directory / watching.NAME))
    assert outcome.zxid_upto == stretch.last
    intervals = sorted(rows(directory, "partition_intervals"), key=lambda row: row["from_zxid"])
    assert [(row["leader"], row["isr"]) for row in intervals] == [(1, [1, 2]), (2, [2]), (1, [1, 2])]
    (gap,) = watching.gaps(Table(directory / watching.NAME))
    assert gap.why == "the connection was lost"
    assert gap.zxid_after < intervals[-1]["from_zxid"] <= gap.zxid_upto
    before, after = sorted(rows(directory, "covered_times"), key=lambda row: row["from_ms"])
    assert before["to_ms"] <= gap.from_ms
    assert before["to_zxid"] == gap.zxid_after
    assert after["from_ms"] >= gap.to_ms
    assert after["to_zxid"] <= stretch.last
    sessions = {row["broker"]: row["to_ms"] for row in rows(directory, "broker_sessions")}
    assert sessions[1] is None
    assert sessions[2] is not None
    (rate,) = [row for row in rows(directory, "offset_rates") if row["offset"] == 9]
    assert rate["group"] == "billing"


def state(client: Any) -> bytes:
    data: bytes = client.get("/brokers/topics/orders/partitions/0/state")[0]
    return data
