"""The times of which the derived tables tell everything, kept so that no look at a chart reads the changes.

A stretch of transactions without a gap lasts from its first change to its last: of a quiet time before and
behind it nobody can say how long it was. Where no log was read, it is what the recorder watched, up to the
end of the minute of the last change that was derived.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, Final

import pyarrow as pa

from zkdash.history.store import coverage, derived, files, watching
from zkdash.history.store.coverage import Stretch
from zkdash.history.store.delta import Table, TableVersion
from zkdash.pipeline.derivation.inputs import AS_OF, Facts
from zkdash.pipeline.derivation.targets import Targets
from zkdash.time_units import MINUTE_MS

NAME: Final = "covered_times"

Row = dict[str, Any]


def add(targets: Targets, stretch: Stretch, *, are_logged: bool) -> int:
    """Add what was derived of a stretch; how many rows there are then. Raises delta.ConflictError."""
    table, now = targets.table(NAME), targets.table(NAME).read()
    begun = targets.has_begun(now)
    facts = targets.of(NAME, stretch).facts
    last = max(facts.last_ms, (now.position(AS_OF) or 0) if begun else 0)
    rows = (
        logged(_rows(table, now) if begun else [], stretch, facts)
        if are_logged
        else watched(_rows(targets.table(watching.NAME)), last)
    )
    written = files.write(table, pa.Table.from_pylist(rows, schema=derived.TABLES[NAME]))
    table.replace(now, now.files, written, positions=targets.at(stretch) | {AS_OF: last})
    return len(rows)


def logged(before: Iterable[Row], stretch: Stretch, facts: Facts) -> list[Row]:
    """The rows with what was derived of a stretch since; where it goes on from the last of them, that one
    grows.
    """
    rows = sorted(before, key=itemgetter("from_zxid"))
    if not facts.changes:
        return rows
    new = _row(facts.first_ms, facts.last_ms, stretch.first, stretch.last)
    if rows and coverage.follows(rows[-1]["to_zxid"], stretch.first):
        return [*rows[:-1], _joined(rows[-1], new)]
    return [*rows, new]


def watched(intervals: Iterable[Row], last_ms: int) -> list[Row]:
    """Rows of the recorder's intervals; one without a reason to begin goes on with the one before."""
    reach = last_ms - last_ms % MINUTE_MS + MINUTE_MS - 1
    rows: list[Row] = []
    for each in sorted(intervals, key=itemgetter("from_ms", "zxid_from")):
        new = _row(each["from_ms"], each["to_ms"], each["zxid_from"], each["zxid_upto"])
        rows = [*rows[:-1], _joined(rows[-1], new)] if rows and each["why"] is None else [*rows, new]
    return [{**row, "to_ms": min(row["to_ms"], reach)} for row in rows if row["from_ms"] <= reach]


def _joined(before: Row, after: Row) -> Row:
    least, most = min(before["from_ms"], after["from_ms"]), max(before["to_ms"], after["to_ms"])
    return _row(least, most, before["from_zxid"], after["to_zxid"])


def _row(from_ms: int, to_ms: int, from_zxid: int, to_zxid: int) -> Row:
    return {"from_ms": from_ms, "to_ms": to_ms, "from_zxid": from_zxid, "to_zxid": to_zxid}


def _rows(table: Table, version: TableVersion | None = None) -> list[Row]:
    return [row for rows in files.each(table, version) for row in rows.to_pylist()]
