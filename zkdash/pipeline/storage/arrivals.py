"""What of ZooKeeper's files is in the tables: asked before they are read, noted after it.

Transactions are told by `coverage`, a snapshot by its rows. Beside these it is remembered which files were
read and how they were then, so that one that holds nothing more is not opened each time; where that is lost,
files are read once more.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from typing import Final

import pyarrow as pa

from zkdash.cluster.changes import row
from zkdash.history.places.location import Location
from zkdash.history.store import coverage, files, schemas
from zkdash.history.store.coverage import Stretch
from zkdash.history.store.delta import File, Table, TableVersion
from zkdash.pipeline.sources.files import Found

# Positions: which run, and which batch of the stream, is in a table.
LOAD: Final = "load"
STREAM: Final = "stream"
# Clocks of file systems tick at worst every two seconds: what is written twice in one tick looks the same.
SETTLED_NS: Final = 10 * 1_000_000_000
_GAPS_AT_ONCE: Final = 50


def prepare(directory: Location, *streams: str) -> None:
    """Take back what a killed run added to changes and did not cover, so that it is read again.

    `streams` are the positions of those who may have been killed; none of them may run now.
    """
    changes, covered = (Table(directory / name) for name in ("changes", "coverage"))
    now, base = changes.read(), covered.read()
    if base.position(coverage.FLOOR) is None:
        _set_floor(covered, base)
    ahead = {name: _at(base.position(name)) for name in streams}
    ahead = {name: reached for name, reached in ahead.items() if _at(now.position(name)) > reached}
    if ahead:
        gaps = _gaps(now.files, coverage.intervals(covered, base))
        for start in range(0, len(gaps), _GAPS_AT_ONCE):
            several = gaps[start : start + _GAPS_AT_ONCE]
            between = " OR ".join(
                f"(zxid_upto >= {first} AND zxid_upto <= {last})" for first, last in several
            )
            changes.delete(f"source = '{row.LOGGED}' AND ({between})")
        changes.append([], positions=ahead)


def loaded(directory: Location) -> list[Stretch]:
    """The transactions that need not be read, as `coverage.exact` makes them."""
    table = Table(directory / "coverage")
    version = table.read()
    floor = version.position(coverage.FLOOR) or 0
    return coverage.exact([(coverage.LEAST, floor), *coverage.intervals(table, version)])


def loaded_snapshots(directory: Location, zxids: Collection[int]) -> set[int]:
    """Which of these snapshots are in the tables, or older than all that is kept."""
    if not zxids:
        return set()
    floor = Table(directory / "coverage").read().position(coverage.FLOOR) or 0
    there = {zxid for zxid in zxids if zxid < floor}
    table = Table(directory / "znodes_checkpoint")
    for file in table.read().files:
        least, most = file.bounds.get("zxid", (coverage.LEAST, 1 << 63))
        if any(least <= zxid <= most for zxid in zxids):
            # a recorder's checkpoint has no root
            roots = files.read(table, file, columns=("zxid",), where=("path", "=", "/"))
            there.update(roots["zxid"].to_pylist())
    return there & set(zxids)


def doubtful(problems: Table) -> set[str]:
    """The places of which problems are told."""
    parts = files.each(problems, columns=("file",))
    return {place for part in parts for place in part["file"].to_pylist()}


class Seen:
    """The files that were read, as they were then."""

    def __init__(self, directory: Location) -> None:
        self._table = Table(directory / "files_read")
        self._base = self._table.read()
        noted = self._base.position(LOAD)
        covered = Table(directory / "coverage").read().position(LOAD)
        # without what was loaded of them, nothing was read
        is_so = noted is not None and covered is not None and noted <= covered
        rows = [
            each
            for part in (files.each(self._table, self._base) if is_so else ())
            for each in part.to_pylist()
        ]
        self._looked_ns = time.time_ns()
        self._files = {each["place"]: (each["size"], each["modified_ns"]) for each in rows}

    def __call__(self, file: Found) -> bool:
        """Whether it was read as it is now."""
        return self._files.get(file.place) == (file.size, file.modified_ns)

    def note(self, read: Iterable[Found], listed: Iterable[Found], number: int) -> None:
        """Remember what run `number` read of what is there. Raises delta.ConflictError."""
        after = dict(self._files)
        for file in read:
            if file.modified_ns is not None and file.modified_ns < self._looked_ns - SETTLED_NS:
                after[file.place] = file.size, file.modified_ns
            else:
                after.pop(file.place, None)
        there = {file.place for file in listed}
        after = {place: size_and_time for place, size_and_time in after.items() if place in there}
        if after != self._files:
            rows = [
                {"place": place, "size": size, "modified_ns": modified_ns}
                for place, (size, modified_ns) in after.items()
            ]
            written = files.write(self._table, pa.Table.from_pylist(rows, schema=schemas.FILES_READ))
            self._table.replace(self._base, self._base.files, written, positions={LOAD: number})


def _at(position: int | None) -> int:
    return -1 if position is None else position


def _set_floor(covered: Table, base: TableVersion) -> None:
    """What lies before tables that an earlier release began is not read: it may have been deleted."""
    first = next(iter(coverage.intervals(covered, base)), Stretch(1, 0)).first
    covered.append([], positions={coverage.FLOOR: first - 1})


def _gaps(changed: Sequence[File], covered: Sequence[Stretch]) -> list[Stretch]:
    """What is not covered and may be in one of the files."""
    bounds = [file.bounds["zxid_upto"] for file in changed if "zxid_upto" in file.bounds]
    return coverage.without(bounds, covered)
