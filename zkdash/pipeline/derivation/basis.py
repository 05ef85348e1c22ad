"""Of which transactions the derived tables were made, so that what comes late is not missing in them.

A derivation goes on where the tables are. Where transactions came since of before that, or an older snapshot
that tells what was there before the first of them, the tables are made anew of all that is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import pyarrow as pa

from zkdash.history.places.location import Location
from zkdash.history.store import coverage, files, schemas
from zkdash.history.store.coverage import LEAST, Stretch
from zkdash.history.store.delta import Table

NAME: Final = "derived_of"


class Interval(NamedTuple):
    """Transactions that were read, exactly.

    `checkpoint` tells what was there before the first one; None where none is asked, or none is there.
    """

    first: int
    last: int
    checkpoint: int | None = None


def now(directory: Location) -> list[Interval]:
    """What there is to derive from."""
    intervals = coverage.intervals(Table(directory / "coverage"))
    begins = {each.first for each in coverage.joined(intervals) if not coverage.follows(0, each.first)}
    zxids = sorted(_checkpoints(Table(directory / "znodes_checkpoint"))) if begins else []
    return [
        Interval(first, last, _checkpoint(zxids, first) if first in begins else None)
        for first, last in intervals
    ]


def recorded(directory: Location) -> list[Interval] | None:
    """What the tables were made of, as it was noted last; None where it never was."""
    table = Table(directory / NAME)
    version = table.read()
    if version.version < 0:
        return None
    read = files.each(table, version)
    intervals = (
        Interval(**each) for rows in read for each in rows.rename_columns(Interval._fields).to_pylist()
    )
    return sorted(intervals, key=lambda each: each.first)


def adopt(directory: Location) -> None:
    """Before anything is loaded, note it of tables that an earlier release derived."""
    if recorded(directory) is None and (intervals := now(directory)):
        record(directory, intervals)


def record(directory: Location, intervals: Sequence[Interval]) -> None:
    """Note what the tables are made of. Raises delta.ConflictError."""
    table = Table(directory / NAME)
    base = table.read()
    rows = [dict(zip(schemas.DERIVED_OF.names, each, strict=True)) for each in intervals]
    written = files.write(table, pa.Table.from_pylist(rows, schema=schemas.DERIVED_OF))
    table.replace(base, base.files, written)


def late(before: Sequence[Interval], after: Sequence[Interval], upto: int) -> int | None:
    """The first transaction up to `upto` that is told now and was not before, or otherwise; None for none."""
    derived = [Stretch(each.first, each.last) for each in before]
    new = coverage.without([(each.first, each.last) for each in after], derived)
    checkpoints = {each.first: each.checkpoint for each in before}
    firsts = [each.first for each in new]
    firsts += [
        each.first
        for each in after
        if each.first in checkpoints and _is_better(checkpoints[each.first], each.checkpoint)
    ]
    return min((first for first in firsts if first <= upto), default=None)


def _is_better(before: int | None, after: int | None) -> bool:
    return after is not None and (before is None or after < before)


def _checkpoint(zxids: Sequence[int], first: int) -> int | None:
    """As `inputs` chooses it."""
    return next((zxid for zxid in zxids if zxid >= first - 1), None)


def _checkpoints(table: Table) -> Iterator[int]:
    for file in table.read().files:
        least, most = file.bounds.get("zxid", (LEAST, -LEAST))
        if least == most:
            yield least
        else:
            yield from set(files.read(table, file, columns=("zxid",))["zxid"].to_pylist())
