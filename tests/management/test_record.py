"""`manage.py record`, and `serve` with and without it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests import forking
from tests.conftest import Chroot
from tests.serving import Serve, served
from tests.waiting import wait_for
from zkdash.history.recorder import status
from zkdash.history.store.delta import Table

__all__ = ["served"]

pytestmark = pytest.mark.zk

LIMIT_S = 60.0
PATH = "/brokers/topics/orders"
TOPIC = b'{"version":1,"partitions":{"0":[1]}}'


def data(directory: Path) -> list[bytes]:
    table = Table(directory / "history" / "default" / "changes")
    rows = (row for path in table.paths() for row in pq.read_table(path, partitioning=None).to_pylist())
    return [row["data"] for row in rows if row["path"] == PATH]


def checkpointed(directory: Path) -> bool:
    return bool(Table(directory / "history" / "default" / "znodes_checkpoint").read().files)


def test_record_writes_what_changes_and_ends_with_what_it_saw(chroot: Chroot, tmp_path: Path) -> None:
    chroot.client.create(PATH, b"0", makepath=True)
    environ = {**os.environ, "ZKDASH_ZOOKEEPER": chroot.address, "ZKDASH_DATA": str(tmp_path)}
    with (tmp_path / "printed").open("w+") as printed:
        process = forking.Process(["manage.py", "record", "--every", "1"], env=environ, stdout=printed)
        try:
            wait_for(lambda: checkpointed(tmp_path), limit_s=LIMIT_S)
            chroot.client.set(PATH, b"1")
            wait_for(lambda: data(tmp_path) == [b"1"], limit_s=LIMIT_S)
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(LIMIT_S) == 0
        printed.seek(0)
        assert printed.read().startswith("zkdash records default below ")
    told = status.read("default", tmp_path / "history" / "default", 0)
    assert told is not None
    assert (told.rows, told.sentence) == (1, "")


@pytest.mark.parametrize(
    ("arguments", "environ", "sentence"),
    [
        ((), {"ZKDASH_ZOOKEEPER": ""}, "No cluster is configured"),
        (("--every", "0.5"), {"ZKDASH_ZOOKEEPER": "127.0.0.1:1"}, "--every 0.5 is too short"),
    ],
)
def test_what_cannot_be_recorded_is_one_sentence(
    arguments: tuple[str, ...], environ: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    given = {**os.environ, "ZKDASH_DATA": str(tmp_path), **environ}
    done = forking.run(["manage.py", "record", *arguments], env=given, timeout=LIMIT_S)
    assert done.returncode == 1
    assert sentence in done.stderr


def test_serve_records_unless_it_is_told_not_to(chroot: Chroot, served: Serve, tmp_path: Path) -> None:
    chroot.client.create("/brokers/topics", makepath=True)
    silent = served(ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_RECORD="0", ZKDASH_DATA=str(tmp_path / "silent"))
    serving = served(ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_DATA=str(tmp_path / "told"))
    serving.wait_until_loaded()
    silent.wait_until_loaded()
    wait_for(lambda: checkpointed(tmp_path / "told"), limit_s=LIMIT_S)
    chroot.client.create(PATH, TOPIC)
    wait_for(lambda: "orders" in serving.get("/c/default/topics/").text, limit_s=LIMIT_S)
    serving.stop()
    silent.stop()
    assert data(tmp_path / "told") == [TOPIC]
    assert not (tmp_path / "silent" / "history" / "default").exists()
