"""A stream of a live ZooKeeper's logs that is killed again and again loses nothing and doubles nothing."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests import full
from tests.pipeline import killed, writes
from tests.pipeline.writes import Writer
from tests.waiting import wait_for
from zkdash.demo.zookeeper.server import Server
from zkdash.formats.problems import Problem
from zkdash.formats.txnlog import plain, rows
from zkdash.history.queries import moment
from zkdash.history.store import schemas
from zkdash.history.store.delta import Table
from zkdash.history.store.tables import Tables
from zkdash.pipeline.sources.rows import REDACTION
from zkdash.pipeline.storage import reading, writing

pytestmark = [pytest.mark.spark, pytest.mark.zk]

KILLS = full.pick(1, 20)
START_LIMIT_S = 600.0
LOOK_S = 0.02  # a batch is written for longer than that


@contextmanager
def written_to(server: Server) -> Iterator[None]:
    """Somebody writes as long as this lasts."""
    stop = threading.Event()
    writer = Writer(server.address, "/written", seed=11)

    def write() -> None:
        while not stop.wait(0.5):
            writer.round(20)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        writer.close()


class Progress(NamedTuple):
    """The last batch that is in the tables, and the directories of changes that attempts have begun to write
    and the table does not list."""

    batch: int
    unlisted: frozenset[str]


def position(table: Path) -> int:
    reached = Table(table).read().position("logs")
    return -1 if reached is None else reached


def progress(tables: Path) -> Progress:
    changes = Table(tables / "changes")
    begun = {path.name for path in (changes.directory / "data").glob("*")}
    listed = {file.path.split("/")[1] for file in changes.read().files} if changes.has_log else set()
    return Progress(position(tables / "coverage"), frozenset(begun - listed))


def is_writing(before: Progress, now: Progress) -> bool:
    """Whether a batch's files are being written, or are and are not listed yet."""
    return bool(now.unlisted - before.unlisted)


def has_added_two(before: Progress, now: Progress) -> bool:
    return now.batch > before.batch + 1


def ended_or(
    process: subprocess.Popen[bytes], reached: Callable[[Progress], bool], tables: Path
) -> Callable[[], bool]:
    return lambda: process.poll() is not None or reached(progress(tables))


def test_a_stream_that_is_killed_again_and_again_has_every_transaction_once(tmp_path: Path) -> None:
    tables, log = tmp_path / "tables", tmp_path / "stream.log"
    kinds = itertools.cycle([is_writing, has_added_two])
    with Server(tmp_path / "zookeeper", tick_time_ms=200, config={"snapCount": "2000"}) as server:
        stream = partial(
            killed.running,
            "tests.pipeline.streaming",
            server.data_dir,
            tables,
            scratch=tmp_path / "scratch",
            log=log,
        )
        with written_to(server):
            for reached in itertools.islice(kinds, KILLS):
                with stream() as process:
                    before = progress(tables)
                    wait_for(
                        ended_or(process, partial(reached, before), tables),
                        START_LIMIT_S,
                        log.read_text,
                        every_s=LOOK_S,
                    )
                    assert process.poll() is None, log.read_text()
        read = writes.read(server)
        with stream():
            wait_for(
                lambda: any(
                    file.bounds["zxid_upto"][1] >= read.zxid
                    for file in Table(tables / "coverage").read().files
                ),
                START_LIMIT_S,
                log.read_text,
                every_s=LOOK_S,
            )
    changes = Table(tables / "changes")
    found = Counter(
        (row["zxid"], row["op_index"])
        for path in changes.paths()
        for row in pq.read_table(path, columns=["zxid", "op_index"]).to_pylist()
        if row["zxid"] <= read.zxid
    )
    assert found == Counter(wanted(server.data_dir, read.zxid))
    assert position(changes.directory) >= KILLS
    with Tables(tables, schemas.TABLES) as opened:
        assert opened.rows("SELECT * FROM problems") == []
    again = moment.at(
        tables,
        read.zxid,
    )
    assert {path: znode.mzxid for path, znode in again.znodes.items()} == {
        path: znode.mzxid
        for path, znode in read.znodes.items()
        if path != "/" and not path.startswith("/zookeeper")
    }


def wanted(data_dir: Path, upto: int) -> Iterator[tuple[int, int]]:
    """The keys of all changes in the logs, by the plain decoder."""
    for log in (data_dir / "version-2").glob("log.*"):
        for row in plain.decode(log.read_bytes(), REDACTION):
            if isinstance(row, Problem) or row.failed or row.type in (rows.ERROR, rows.CHECK):
                continue
            if row.zxid <= upto:
                yield row.zxid, row.op


def test_a_batch_that_runs_again_adds_nothing_and_a_crash_between_tables_is_made_good(
    spark: SparkSession, written: writes.Written, tmp_path: Path
) -> None:
    logs = reading.txnlog(spark, str(written.files))
    writing.logs(logs, tmp_path, "logs", 0)
    first = {name: Table(tmp_path / name).read() for name in ("changes", "coverage")}
    shutil.rmtree(tmp_path / "coverage")
    writing.logs(logs, tmp_path, "logs", 0)
    assert Table(tmp_path / "changes").read().files == first["changes"].files
    assert Table(tmp_path / "coverage").read().rows == first["coverage"].rows
