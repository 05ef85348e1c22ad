"""A real ZooKeeper's files that come late, half, torn, doubled, in any order: the tables of one load."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import full
from tests.faults.rounds import rounds
from tests.formats import logs
from tests.pipeline.test_sources import a_set, write
from tests.pipeline.transforms.living import CHROOT, Lived, rows
from tests.pipeline.writes import file_zxid
from zkdash.formats.txnlog.frames import Frame, frames
from zkdash.history.store import coverage, derived
from zkdash.history.store.delta import Table
from zkdash.pipeline import jobs
from zkdash.pipeline.storage import writing
from zkdash.zk.config import ClusterConfig

pytestmark = [pytest.mark.spark, pytest.mark.zk]

SERVERS = ("zk1", "zk2")
EARLIER = full.pick(1, 2)  # loads before all files have come


def bring(spark: Any, files: Path, root: Path) -> jobs.Outcome:
    """Loads what two servers' directories hold, and derives."""
    places = tuple(str(files / server) for server in SERVERS)
    cluster = ClusterConfig("shop", (("127.0.0.1", 2181),), CHROOT, transaction_logs=places)
    tell = lambda _what, _done: None  # noqa: E731
    loaded = jobs.load(spark, cluster, root, tell)
    jobs.derive(spark, cluster, root, tell)
    return loaded


def same(found: Path, wanted: Path) -> None:
    for name in (*derived.TABLES, "changes"):
        assert rows(found, name) == rows(wanted, name), name
    intervals = [coverage.intervals(Table(root / "shop" / "coverage")) for root in (found, wanted)]
    assert intervals[0] == intervals[1]
    checkpoints = [
        {(row["zxid"], row["path"]) for row in rows(root, "znodes_checkpoint")} for root in (found, wanted)
    ]
    assert checkpoints[0] == checkpoints[1]
    assert len(rows(found, "znodes_checkpoint")) == len(checkpoints[0])


def test_a_log_that_came_late_is_in_every_table_as_if_it_had_been_there(
    spark: Any, lived: Lived, whole: Path, tmp_path: Path
) -> None:
    """The newer half of the logs first, one of them torn, as is a snapshot; then the others, these of another
    server."""
    files, root = tmp_path / "files", tmp_path / "history"
    for server in SERVERS:
        (files / server).mkdir(parents=True)
    version = lived.stages[-1] / "version-2"
    whole_logs = sorted(version.glob("log.*"), key=file_zxid)
    snapshots = sorted(version.glob("snapshot.*"))
    assert len(whole_logs) > 3
    assert len(snapshots) > 3
    middle = len(whole_logs) // 2
    for path in (*whole_logs[middle:], *snapshots[1:]):
        shutil.copy(path, files / "zk1")
    torn = files / "zk1" / whole_logs[middle].name
    torn.write_bytes(torn_within(torn.read_bytes()))
    torn_snapshot = files / "zk1" / snapshots[-2].name
    torn_snapshot.write_bytes(torn_snapshot.read_bytes()[: torn_snapshot.stat().st_size // 2])
    first = bring(spark, files, root)
    assert "came late" not in first.sentence
    for path in (*whole_logs[: middle + 1], *snapshots):
        shutil.copy(path, files / "zk2")
    second = bring(spark, files, root)
    assert "logs that came late tell of 0x1 on" in second.sentence
    same(root, whole)
    told = {(row["file"], row["torn"]) for row in rows(root, "problems")}
    assert told == {(str(torn), True), (str(torn_snapshot), True)}
    for path in whole_logs[middle + 1 :]:
        (files / "zk1" / path.name).unlink()
    shutil.copy(whole_logs[middle], torn)
    shutil.copy(snapshots[-2], torn_snapshot)
    third = bring(spark, files, root)
    assert "no change and 0 znodes" in third.sentence
    same(root, whole)
    assert rows(root, "problems") == []


def test_what_two_servers_wrote_is_loaded_once_with_many_holes_or_few(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has lost every third transaction to bad bytes, one begins later, the third cannot be reached."""
    places = {name: str(tmp_path / name) for name in ("zk1", "zk2", "away")}
    first = write(tmp_path / "zk1", *([a_set(zxid)] for zxid in range(1, 13)))
    data = bytearray(first.read_bytes())
    size = (len(data) - len(logs.HEADER)) // 12
    for number in range(2, 12, 3):
        data[len(logs.HEADER) + number * size + 30] ^= 1
    first.write_bytes(data)
    write(tmp_path / "zk2", *([a_set(zxid)] for zxid in range(5, 15)))
    cluster = ClusterConfig("shop", (("127.0.0.1", 2181),), transaction_logs=tuple(places.values()))
    for few in (100, 0):
        monkeypatch.setattr(writing, "_FEW", few)
        root = tmp_path / f"history-{few}"
        loaded = jobs.load(spark, cluster, root, lambda _what, _done: None)
        assert sorted(row["zxid"] for row in rows(root, "changes")) == [1, 2, *range(4, 15)]
        assert coverage.intervals(Table(root / "shop" / "coverage")) == [(1, 2), (4, 14)]
        assert {row["file"] for row in rows(root, "problems")} == {f"{places['zk1']}/{first.name}"}
        assert loaded.sentence.endswith(
            f"4 problems, told on the page; {places['away']} is no directory: name ZooKeeper's dataDir or "
            "dataLogDir, or the version-2 in it"
        )


def torn_within(log: bytes) -> bytes:
    """Half of a log's transactions and half of the next one.

    One that ends with a transaction, or after it with zero bytes of the next one's checksum, is whole.
    """
    found = [frame for frame in frames(log) if isinstance(frame, Frame)]
    middle = found[len(found) // 2]
    return log[: (middle.start + middle.end) // 2]


@pytest.mark.parametrize("seed", rounds("orders", ci=1, full=200))
def test_files_in_any_order_lead_to_the_tables_of_one_load(
    spark: Any, lived: Lived, whole: Path, tmp_path: Path, seed: int
) -> None:
    choice = random.Random(seed)  # noqa: S311 - a test's choice
    files, root = tmp_path / "files", tmp_path / "history"
    for server in SERVERS:
        (files / server).mkdir(parents=True)
    coming = list(arriving(lived.stages[-1] / "version-2", choice))
    loads = sorted(choice.sample(range(1, len(coming)), EARLIER))
    for number, (place, data) in enumerate(coming):
        if number in loads and list(files.glob("*/log.*")):
            bring(spark, files, root)
        (files / place).write_bytes(data)
    bring(spark, files, root)
    same(root, whole)
    assert rows(root, "problems") == []


def arriving(version: Path, choice: random.Random) -> Iterator[tuple[str, bytes]]:
    """(place, bytes) of files as they come: each to one server or both, some of them half first."""
    coming = []
    for path in sorted(version.glob("*.*")):
        for server in choice.choice((SERVERS, SERVERS[:1], SERVERS[1:])):
            data = path.read_bytes()
            half = [data[: choice.randrange(len(data))]] if choice.random() < 0.3 else []
            coming.append((f"{server}/{path.name}", [*half, data]))
    while coming:
        place, left = coming[number := choice.randrange(len(coming))]
        yield place, left.pop(0)
        if not left:
            del coming[number]
