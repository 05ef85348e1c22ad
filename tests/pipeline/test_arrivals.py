"""Logs in any order of arrival: each transaction is loaded once, and in the end none is missing.

What is read is decided by the code of a load, over real files, the sources themselves and real tables of what
was covered; changes alone are kept in a list, and not by Spark. `test_any_order` has Spark load some orders.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pyspark.sql.types import StructType

from tests import full
from tests.formats import logs
from tests.history.writing import held, put
from tests.lab.s3 import Bucket
from tests.pipeline.test_sources import a_set
from zkdash.history.places.location import Location
from zkdash.history.store import coverage
from zkdash.history.store.coverage import Stretch
from zkdash.history.store.delta import Table
from zkdash.pipeline import loading
from zkdash.pipeline.derivation import basis
from zkdash.pipeline.derivation.basis import Interval
from zkdash.pipeline.sources import files
from zkdash.pipeline.sources.files import Found
from zkdash.pipeline.sources.snapshot import SNAPSHOT
from zkdash.pipeline.sources.txnlog import LOG, TxnLogSource
from zkdash.pipeline.storage import arrivals, writing
from zkdash.pipeline.storage.arrivals import LOAD, Seen
from zkdash.zk.config import ClusterConfig

ORDERS = full.pick(every_run=12, full=400)
EPOCH = 1 << 32
# Two epochs of a leader; servers begin new logs where they please.
STORY = (*range(1, 31), *range(EPOCH + 1, EPOCH + 21))
FILL = 4096
LONG_AGO_NS = time.time_ns() - 86_400 * 1_000_000_000


class Log(NamedTuple):
    """A server's log: the directory and the transactions that it holds when it is whole."""

    server: str
    zxids: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"log.{self.zxids[0]:x}"


class Loader:
    """Loads what lies in the directories of some servers, without Spark."""

    def __init__(self, directory: Location, servers: Sequence[Path]) -> None:
        self._directory = directory
        self._servers = [str(server) for server in servers]
        self.changes: list[int] = []
        self.opened: list[str] = []

    def load(self) -> None:
        self.opened = []
        arrivals.prepare(self._directory, LOAD)
        listing = files.listed(self._servers, LOG)
        seen = Seen(self._directory)
        read = loading.unread_logs(listing, seen, self._directory, self._read)
        listed = [log for each in listing.directories for log in each]
        seen.note(read, listed, Table(self._directory / "coverage").read().position(LOAD) or 0)

    def problems(self) -> set[str]:
        return arrivals.doubtful(Table(self._directory / "problems"))

    def covered(self) -> list[Stretch]:
        return coverage.intervals(Table(self._directory / "coverage"))

    def _read(self, chosen: Sequence[Found], loaded: Sequence[Stretch]) -> Collection[str]:
        options = {"path": json.dumps(self._servers), "loaded": json.dumps(loaded)}
        options["files"] = json.dumps([log.place for log in chosen])
        reader: Any = TxnLogSource(options).reader(StructType())
        told = [
            each for part in reader.partitions() for batch in reader.read(part) for each in batch.to_pylist()
        ]
        covered: dict[int, list[tuple[int, int]]] = {}
        for note in told:
            if note["covered"]:
                covered.setdefault(note["log"], []).append(tuple(note["covered"].values()))
        table = Table(self._directory / "coverage")
        shares = coverage.shares(covered, coverage.intervals(table))
        for row in told:
            if not (row["problem"] or row["covered"]) and coverage.holds(
                shares[row["log"]], *[row["zxid"]] * 2
            ):
                self.changes.append(row["zxid"])
        self.opened += [log.place for log in chosen]
        problems = Table(self._directory / "problems")
        writing.forget(problems, [log.place for log in chosen])
        put(self._directory, "problems", [note["problem"] for note in told if note["problem"]])
        new = [stretch for share in shares.values() for stretch in share]
        put(self._directory, "coverage", [{"zxid_from": first, "zxid_upto": last} for first, last in new])
        table.append([], positions={LOAD: 1 + (table.read().position(LOAD) or 0)})
        return ()


def servers(choice: random.Random) -> list[Log]:
    """The logs of three servers that together hold the story, each with gaps of its own."""
    made = []
    missed = choice.sample(STORY, 12)
    for number, server in enumerate(("a", "b", "c")):
        begins = choice.sample(STORY, 4)
        zxids: list[int] = []
        for zxid in STORY:
            if zxids and (zxid in begins or zxid == EPOCH + 1):
                made.append(Log(server, tuple(zxids)))
                zxids = []
            if zxid not in missed[4 * number : 4 * number + 4]:
                zxids.append(zxid)
        made.append(Log(server, tuple(zxids)))
    return [log for log in made if log.zxids]


def arriving(log: Log, choice: random.Random) -> Iterator[bytes]:
    """The log as it is seen from time to time, until it is whole."""
    whole = logs.log([logs.transaction([a_set(zxid)]) for zxid in log.zxids])
    cut = choice.randrange(len(whole))
    kind = choice.randrange(4)
    if kind == 1:  # a copy under way
        yield whole[:cut]
    if kind == 2:  # allocated ahead, and written to in place
        yield whole[:cut] + bytes(len(whole) - cut + FILL)
        yield whole + bytes(FILL)
    elif kind == 3:  # torn, then written on to, as another copy would be
        yield whole[:cut]
        yield whole[: choice.randrange(cut, len(whole))]
        yield whole
    else:
        yield whole


class Arrivals:
    """What comes to be in the directories, in an order by chance; `step` says whether anything is left."""

    def __init__(self, directory: Path, choice: random.Random) -> None:
        self._choice = choice
        self._directory = directory
        self._ns = LONG_AGO_NS
        self.logs = servers(choice)
        self._coming = [(log, arriving(log, choice)) for log in self.logs]
        self._whole: list[Log] = []
        for log in self.logs:
            (directory / log.server).mkdir(exist_ok=True)

    def step(self) -> bool:
        """Something comes, or goes that was loaded."""
        if self._whole and self._choice.random() < 0.15:
            gone = self._whole.pop(self._choice.randrange(len(self._whole)))
            self._path(gone).unlink()
            return True
        if not self._coming:
            return False
        log, seen = self._coming[number := self._choice.randrange(len(self._coming))]
        data = next(seen, None)
        if data is None:
            del self._coming[number]
        else:
            self._path(log).write_bytes(data)
            self._ns += self._choice.randrange(1, 1_000_000_000)
            os.utime(self._path(log), ns=(self._ns, self._ns))
        return True

    def loaded(self) -> None:
        """What is whole now may be purged."""
        coming = [log for log, _ in self._coming]
        self._whole = [log for log in self.logs if log not in coming and self._path(log).exists()]

    def _path(self, log: Log) -> Path:
        return self._directory / log.server / log.name


@pytest.mark.parametrize("seed", range(ORDERS))
def test_logs_in_any_order_are_each_transaction_once(tmp_path: Path, seed: int) -> None:
    choice = random.Random(seed)  # noqa: S311 - a test's choice
    coming = Arrivals(tmp_path, choice)
    loader = Loader(tmp_path / "tables", [tmp_path / name for name in ("a", "b", "c")])
    while coming.step():
        if choice.random() < 0.1:
            loader.load()
            coming.loaded()
    loader.load()
    missing = [zxid for zxid in STORY if not any(zxid in log.zxids for log in coming.logs)]
    assert sorted(loader.changes) == sorted(set(STORY) - set(missing))
    covered = [(zxid, zxid) for zxid in STORY if zxid not in missing]
    assert loader.covered() == coverage.exact(covered)
    assert loader.problems() == set()
    loader.load()
    assert loader.opened == []


def test_what_is_loaded_is_asked_of_tables_in_an_object_store_too(tmp_path: Path, bucket: Bucket) -> None:
    shop = bucket.fresh() / "shop"
    coming = Arrivals(tmp_path, random.Random(1))  # noqa: S311 - a test's choice
    while coming.step():
        pass
    loader = Loader(shop, [tmp_path / name for name in ("a", "b", "c")])
    put(shop, "problems", [{"file": "log.7", "reason": "torn"}, {"file": "log.8", "reason": "torn"}])
    for _ in range(2):
        loader.load()
        assert sorted(loader.changes) == sorted({zxid for log in coming.logs for zxid in log.zxids})
    assert loader.opened == []
    assert loader.problems() == {"log.7", "log.8"}
    writing.forget(Table(shop / "problems"), ["log.7"])
    assert loader.problems() == {"log.8"}
    znodes = [{"path": path, "zxid": zxid} for path, zxid in (("/", 8), ("/a", 8), ("/a", 9))]
    put(shop, "znodes_checkpoint", znodes)
    assert arrivals.loaded_snapshots(shop, {8, 9, 10}) == {8}
    basis.adopt(shop)
    assert basis.recorded(shop) == basis.now(shop) != []


def test_a_load_that_finds_nothing_new_asks_nothing_of_spark(tmp_path: Path) -> None:
    coming = Arrivals(tmp_path, random.Random(1))  # noqa: S311 - a test's choice
    while coming.step():
        pass
    servers = [tmp_path / name for name in ("a", "b", "c")]
    Loader(tmp_path / "tables", servers).load()
    cluster = ClusterConfig("shop", (("h", 1),), transaction_logs=tuple(map(str, servers)))
    no_session: Any = None
    loaded = loading.load(no_session, cluster, tmp_path / "tables", lambda _what, _done: None)
    assert set(loaded.rows.values()) == {0}
    assert (loaded.upto, loaded.late_from, loaded.missing) == (STORY[-1], None, ())


def test_what_a_killed_run_added_and_did_not_cover_is_taken_back(tmp_path: Path) -> None:
    changes, covered = Table(tmp_path / "changes"), Table(tmp_path / "coverage")
    for number, (first, last) in enumerate(((1, 3), (7, 9)), 1):
        put(tmp_path, "changes", [a_change(zxid) for zxid in range(first, last + 1)])
        put(tmp_path, "coverage", [{"zxid_from": first, "zxid_upto": last}])
        changes.append([], positions={LOAD: number})
        covered.append([], positions={LOAD: number, coverage.FLOOR: 0})
    arrivals.prepare(tmp_path, LOAD, "stream")
    assert [row["zxid"] for row in held(tmp_path, "changes")] == [1, 2, 3, 7, 8, 9]
    put(tmp_path, "changes", [a_change(4), a_change(5), a_change(12)])
    put(tmp_path, "changes", [a_change(6) | {"source": "watch"}])
    changes.append([], positions={"stream": 0})
    arrivals.prepare(tmp_path, LOAD, "stream")
    assert sorted(row["zxid"] for row in held(tmp_path, "changes")) == [1, 2, 3, 6, 7, 8, 9]
    assert changes.read().position("stream") == -1  # so that its batch is added when it runs again
    assert changes.read().position(LOAD) == 2


def test_before_tables_of_an_earlier_release_nothing_is_late(tmp_path: Path) -> None:
    put(tmp_path, "coverage", [{"zxid_from": 5, "zxid_upto": 6}, {"zxid_from": 9, "zxid_upto": 9}])
    arrivals.prepare(tmp_path, LOAD)
    assert [stretch.last for stretch in arrivals.loaded(tmp_path)] == [6, 9]
    assert coverage.holds(arrivals.loaded(tmp_path), 1, 6)
    new = tmp_path / "new"
    arrivals.prepare(new, LOAD)
    put(new, "coverage", [{"zxid_from": 5, "zxid_upto": 6}])
    arrivals.prepare(new, LOAD)
    assert not coverage.holds(arrivals.loaded(new), 4, 5)


def test_a_file_counts_as_read_as_long_as_it_looks_the_same_and_what_was_read_of_it_is_there(
    tmp_path: Path,
) -> None:
    log = Found("/zk1", "/zk1/log.1", "log.1", 1, 100, LONG_AGO_NS, "log.1")
    young = log._replace(name="log.2", place="log.2", modified_ns=time.time_ns())
    covered = Table(tmp_path / "coverage")
    covered.append([], positions={LOAD: 1})
    Seen(tmp_path).note([log, young], [log, young], 1)
    assert [Seen(tmp_path)(each) for each in (log, young)] == [True, False]
    assert not Seen(tmp_path)(log._replace(size=99))
    assert not Seen(tmp_path)(log._replace(modified_ns=LONG_AGO_NS + 1))
    shutil.rmtree(covered.directory)
    assert not Seen(tmp_path)(log)


def test_a_snapshot_that_was_torn_is_asked_again_once_it_changed_though_another_servers_was_loaded(
    tmp_path: Path,
) -> None:
    places = [tmp_path / server / "snapshot.8" for server in ("a", "b", "c")]
    for place in places:
        place.parent.mkdir()
        place.write_bytes(b"as it is now")
        os.utime(place, ns=(LONG_AGO_NS, LONG_AGO_NS))
    tables = tmp_path / "tables"
    put(tables, "znodes_checkpoint", [{"path": "/", "zxid": 8, "zxid_upto": 8}])
    put(tables, "problems", [{"file": str(place), "reason": "torn"} for place in places[1:]])
    Table(tables / "coverage").append([], positions={LOAD: 1})
    listing = files.listed([str(place.parent) for place in places], SNAPSHOT)
    opened: list[list[str]] = []

    def read(chosen: Sequence[Found], loaded: Collection[int]) -> Collection[str]:
        assert loaded == {8}
        opened.append([snapshot.place for snapshot in chosen])
        return ()

    done = loading.unread_snapshots(listing, Seen(tables), tables, read)
    assert opened == [[str(places[1])], [str(places[2])]]  # one for each zxid at once
    Seen(tables).note(done, [each for found in listing.directories for each in found], 1)
    assert loading.unread_snapshots(listing, Seen(tables), tables, read) == []


def test_derived_tables_begin_anew_where_something_came_before_what_they_are_up_to() -> None:
    before = [Interval(5, 9), Interval(20, 30, 25)]
    cases = [
        ([Interval(5, 9), Interval(20, 30, 25)], 30, None),
        ([Interval(5, 9), Interval(20, 40, 25)], 30, None),
        ([Interval(5, 10), Interval(20, 30, 25)], 30, 10),
        ([Interval(1, 9), Interval(20, 30, 25)], 30, 1),
        ([Interval(5, 9), Interval(15, 30, 25)], 9, None),
        ([Interval(5, 9), Interval(20, 30, 22)], 30, 20),
        ([Interval(5, 9, 7), Interval(20, 30, 25)], 30, 5),
        ([Interval(26, 30, 25)], 30, None),
    ]
    for after, upto, late in cases:
        assert basis.late(before, after, upto) == late, after


def test_what_the_tables_are_made_of_is_told_of_coverage_and_of_the_first_checkpoint(tmp_path: Path) -> None:
    put(
        tmp_path,
        "coverage",
        [{"zxid_from": 5, "zxid_upto": 9}, {"zxid_from": EPOCH + 1, "zxid_upto": EPOCH + 2}],
    )
    put(tmp_path, "coverage", [{"zxid_from": EPOCH + 8, "zxid_upto": EPOCH + 9}])
    for zxid in (2, 8, 12, EPOCH + 9):
        put(tmp_path, "znodes_checkpoint", [{"path": "/", "zxid": zxid, "zxid_upto": zxid}])
    now = [Interval(5, 9, 8), Interval(EPOCH + 1, EPOCH + 2), Interval(EPOCH + 8, EPOCH + 9, EPOCH + 9)]
    assert basis.now(tmp_path) == now
    assert basis.recorded(tmp_path) is None
    basis.adopt(tmp_path)
    assert basis.recorded(tmp_path) == now
    put(tmp_path, "coverage", [{"zxid_from": 10, "zxid_upto": 10}])
    basis.adopt(tmp_path)
    assert basis.recorded(tmp_path) == now


def a_change(zxid: int) -> dict[str, Any]:
    return {"zxid": zxid, "zxid_after": zxid - 1, "zxid_upto": zxid, "source": "txnlog", "type": "setData"}
