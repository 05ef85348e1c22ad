"""A recorder that is killed again and again told all that it says it saw, once, and nothing else."""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests import forking, full
from tests.conftest import Chroot
from tests.faults.rounds import rounds
from tests.history.writing import held
from tests.waiting import wait_for
from zkdash.history.queries import moment
from zkdash.history.store import schemas, watching
from zkdash.history.store.delta import Table
from zkdash.history.store.tables import Tables

pytestmark = pytest.mark.zk

# In a round; of the twenty in full there are five rounds.
KILLS: Final = full.pick(2, 4)
LIMIT_S: Final = 120.0
TOPICS: Final = "/brokers/topics"
# A recorder begins within a few hundred of these writes, and writes what it saw every second.
PAUSE_S: Final = 0.01
MOST_WRITES: Final = 500
# Of the moments that a stretch tells so many are looked at, beside its first and its last.
MOMENTS: Final = 8


class Write(NamedTuple):
    """A znode that was made or set: no znode is both within one stretch, or set twice."""

    zxid: int
    path: str
    data: bytes


class Writer:
    """Somebody who makes topics, and sets those that he made long ago, for as long as he is not stopped."""

    def __init__(self, chroot: Chroot) -> None:
        self.writes: list[Write] = []
        self._client = chroot.client
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)
        # Those made before the process began that may see them set.
        self.old: list[str] = []

    @contextmanager
    def at_work(self) -> Iterator[None]:
        self._client.ensure_path(TOPICS)
        self._thread.start()
        try:
            yield
        finally:
            self._stop.set()
            self._thread.join()

    def age(self) -> None:
        """Let all that was made so far be set, once."""
        written = Counter(write.path for write in self.writes)
        self.old = [path for path, times in written.items() if times == 1]

    def _write(self) -> None:
        number = 0
        while not self._stop.wait(PAUSE_S):
            number += 1
            data = b'{"version":1,"partitions":{"0":[%d]}}' % number
            if number % 3 == 0 and self.old:
                path = self.old.pop()
                stat = self._client.set(path, data)
                self.writes.append(Write(stat.mzxid, path, data))
            else:
                path = f"{TOPICS}/topic-{number}"
                _, stat = self._client.create(path, data, include_data=True)
                self.writes.append(Write(stat.czxid, path, data))


@contextmanager
def recording(chroot: Chroot, data: Path) -> Iterator[forking.Process]:
    environ = {**os.environ, "ZKDASH_ZOOKEEPER": chroot.address, "ZKDASH_DATA": str(data)}
    with (data / "printed").open("ab") as printed:
        process = forking.Process(
            ["manage.py", "record", "--every", "1"], env=environ, stdout=printed, stderr=printed
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait(LIMIT_S)


@pytest.mark.parametrize("seed", rounds("recorder", ci=1, full=5))
def test_a_killed_recorder_told_all_that_it_says_it_saw(chroot: Chroot, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a replay, no secret
    tables = tmp_path / "history" / "default"
    writer = Writer(chroot)
    with writer.at_work():
        for _ in range(KILLS):
            writer.age()
            with recording(chroot, tmp_path) as process:
                enough = len(writer.writes) + chance.randrange(MOST_WRITES)
                wait_for(lambda: len(writer.writes) >= enough, LIMIT_S)  # noqa: B023 - it is waited for here
                assert process.poll() is None, (tmp_path / "printed").read_text()
        writer.age()
        with recording(chroot, tmp_path) as process:
            begun = writer.writes[-1].zxid
            wait_for(lambda: reached(tables) > begun, LIMIT_S, (tmp_path / "printed").read_text)
            process.terminate()
            assert process.wait(LIMIT_S) == 0
    check(tables, writer.writes, chance)


def reached(tables: Path) -> int:
    """The last transaction that is told."""
    return max((each["zxid_upto"] for each in held(tables, watching.NAME)), default=0)


def check(directory: Path, writes: list[Write], chance: random.Random) -> None:
    """A moment of a stretch is the tree of then, each change is told once; what was not seen is unknown."""
    stretches = watching.stretches(Table(directory / watching.NAME))
    assert stretches
    seen = [write for write in writes if any(each.first <= write.zxid <= each.last for each in stretches)]
    told = Counter(row["zxid"] for row in changes(directory))
    assert {write.zxid: told[write.zxid] for write in seen} == {write.zxid: 1 for write in seen}
    with Tables(directory, schemas.TABLES) as opened:
        for each in stretches:
            # a checkpoint that was read while somebody wrote tells no moment before the last of these writes
            settled = moment.settled(opened, each.first - 1)
            zxids = [write.zxid for write in seen if settled <= write.zxid <= each.last]
            for zxid in sorted({*zxids[:1], *zxids[-1:], *chance.sample(zxids, min(MOMENTS, len(zxids)))}):
                assert topics(moment.read(opened, zxid).znodes) == after(writes, zxid), hex(zxid)
        lost = [write.zxid for write in writes if write not in seen and write.zxid > stretches[0].first]
        for zxid in chance.sample(lost, min(MOMENTS, len(lost))):
            if not any(zxid == each.first - 1 for each in stretches):
                with pytest.raises(moment.MomentError):
                    moment.read(opened, zxid)


def changes(directory: Path) -> list[dict[str, Any]]:
    rows = held(directory, "changes")
    return [row for row in rows if row["path"].startswith(f"{TOPICS}/") and row["source"] == "watch"]


def topics(znodes: Mapping[str, Any]) -> dict[str, bytes]:
    return {path: znode.data for path, znode in znodes.items() if path.startswith(f"{TOPICS}/")}


def after(writes: list[Write], zxid: int) -> dict[str, bytes]:
    return {write.path: write.data for write in writes if write.zxid <= zxid}
