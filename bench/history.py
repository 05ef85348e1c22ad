"""A history that a recorder would have left of a generated tree: days of changes, a checkpoint a day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
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
    checkpoints = _Checkpoints(znodes)
    written: set[str] = set()
    for day in range(days):
        begins = BEGAN + day * DAY_MS
        name = f"2026-01-{day + 1:02}"
        files.append(Table(directory / "znodes_checkpoint"), checkpoints.after(zxid, written))
        written.clear()
        for some in _chunks(_day(znodes, (states, offsets), zxid, begins, a_day)):
            table = Table(directory / "changes")
            table.append(files.write(table, arrow_rows.of_changes(some), day=name))
            written.update(each.path for each in some)
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


class _Checkpoints:
    """One a day: of all znodes only the rows of those that were written since are made anew."""

    def __init__(self, znodes: dict[str, Znode]) -> None:
        self._znodes = znodes
        self._places = {path: place for place, path in enumerate(znodes)}
        self._rows: pa.Table | None = None

    def after(self, zxid: int, written: Iterable[str]) -> pa.Table:
        """What the recorder writes of all of them after this transaction, in its order."""
        if self._rows is None:
            self._rows = arrow_rows.of_znodes(self._znodes, zxid, zxid)
            return self._rows
        new = {path: self._znodes[path] for path in written}
        rows = pa.concat_tables([self._rows, arrow_rows.of_znodes(new, zxid, zxid)])
        order = np.arange(len(self._places))
        order[[self._places[path] for path in new]] = len(order) + np.arange(len(new))
        self._rows = rows.take(order).combine_chunks()
        for name in ("zxid", "zxid_upto"):
            at = self._rows.schema.get_field_index(name)
            same = pa.repeat(pa.scalar(zxid, self._rows.schema.field(at).type), len(order))
            self._rows = self._rows.set_column(at, self._rows.schema.field(at), same)
        return self._rows


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


def _chunks(seen: Iterator[Seen]) -> Iterator[list[Seen]]:
    some: list[Seen] = []
    for each in seen:
        some.append(each)
        if len(some) == _CHUNK:
            yield some
            some = []
    if some:
        yield some
