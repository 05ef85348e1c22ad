"""A history that a recorder would have left of a generated tree: days of changes, a checkpoint a day."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa

from bench import tree
from bench.sizes import Shape
from zkdash.history.recorder import arrow_rows
from zkdash.history.recorder.sighting import Seen
from zkdash.history.store import files, schemas
from zkdash.history.store.delta import Table
from zkdash.time_units import DAY_MS
from zkdash.znode import Znode

# 2026-01-01T00:00Z
BEGAN: Final = 1_767_225_600_000
_CHUNK: Final = 100_000


class History(NamedTuple):
    """What was written: the transactions and the times of the first change and the last."""

    first: int
    last: int
    from_ms: int
    to_ms: int


def write(directory: Path, shape: Shape, changes: int, days: int) -> History:
    """The tables of `changes` to the tree of this shape, spread evenly over `days`.

    Every second one is a commit, the others move leaders.
    """
    znodes = dict(tree.tree(**shape._asdict()))
    states = [path for path in znodes if path.endswith("/state")]
    offsets = [path for path in znodes if "/offsets/" in path and path.count("/") == 5]
    first = zxid = len(znodes)
    a_day = changes // days
    for day in range(days):
        begins = BEGAN + day * DAY_MS
        name = f"2026-01-{day + 1:02}"
        checkpoint = arrow_rows.of_znodes(znodes, zxid, zxid)
        files.append(Table(directory / "znodes_checkpoint"), checkpoint)
        seen = _day(znodes, (states, offsets), zxid, begins, a_day)
        for rows in _chunks(seen):
            table = Table(directory / "changes")
            table.append(files.write(table, rows, day=name))
        watched = {
            "zxid_from": zxid + 1,
            "zxid_upto": zxid + a_day,
            "from_ms": begins,
            "to_ms": begins + DAY_MS,
            "why": None if day else "the recorder was not running",
            "is_caught_up": False,
        }
        intervals = pa.Table.from_pylist([watched], schema=schemas.WATCHED)
        files.append(Table(directory / "watched"), intervals)
        zxid += a_day
    return History(first + 1, zxid, BEGAN, BEGAN + days * DAY_MS)


def _day(
    znodes: dict[str, Znode], written: tuple[list[str], list[str]], after: int, begins: int, count: int
) -> Iterator[Seen]:
    """A day's changes, each made in `znodes`, of which those that are `written` are states and offsets."""
    states, offsets = written
    for number in range(count):
        zxid, time = after + 1 + number, begins + number * DAY_MS // count
        if number % 2:
            path, data = offsets[zxid % len(offsets)], str(zxid).encode()
        else:
            path = states[zxid * 7 % len(states)]
            data = tree.state(1 + zxid % tree.BROKERS, [1 + zxid % tree.BROKERS], leader_epoch=zxid)
        before = znodes[path].stat
        stat = before._replace(mzxid=zxid, mtime=time, version=before.version + 1, data_length=len(data))
        znodes[path] = Znode.of(data, stat)
        yield Seen("setData", path, znodes[path], zxid, zxid - 1, zxid, time)


def _chunks(seen: Iterator[Seen]) -> Iterator[pa.Table]:
    some: list[Seen] = []
    for each in seen:
        some.append(each)
        if len(some) == _CHUNK:
            yield arrow_rows.of_changes(some)
            some = []
    if some:
        yield arrow_rows.of_changes(some)
