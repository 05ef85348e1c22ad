"""Checks: all that zkdash holds against a cluster or for it, each with its page."""

from __future__ import annotations

from zkdash.access.roles import Right, Role
from zkdash.alarms.open_alarms import Alarms, first_seen
from zkdash.cluster.tables import check_rows
from zkdash.cluster.tables.check_rows import CheckRow, Verdict
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, listing, shapes, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Column, Empty

Entry = tuple[Snapshot, CheckRow]

_PASSES = "the check does not fail"
_WHY = {
    Verdict.PASSES: _PASSES,
    Verdict.WAITS: "it has yet to hold for long enough to be a finding",
    Verdict.SILENT: "the check has nothing to say of such a cluster, or cannot know",
    Verdict.UNKNOWN: "nothing is checked before the first load",
}


def look(snapshot: Snapshot, key: PageKey) -> View:
    query, _ = SPEC.read(key.query)
    found = check_rows.select(snapshot.state, snapshot.observations, query)
    table = tables.part(
        "all-checks-rows",
        COLUMNS,
        ((links.element_id("check", row.check), row.status, (snapshot, row)) for row in found.rows),
        Empty(f"No check matches {listing.words(query)}.", "?", "Clear filter"),
    )
    return View(
        title="Checks",
        parts=(table, *listing.blocks(SPEC, query, found, "checks")),
        context={
            **listing.context(SPEC, query, COLUMNS, "Filter: id or sentence"),
            "try_alerts": links.cluster(snapshot.cluster, "alerts/test/") if _administers(key) else "",
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, ((snapshot, row) for row in found.rows)),
        total=found.matched,
    )


def _administers(key: PageKey) -> bool:
    return Right.ADMINISTER in Role(key.rights).rights


def _status(row: CheckRow) -> Cell:
    is_plain = row.verdict in {Verdict.FAILS, Verdict.UNKNOWN}
    return cells.Status(row.status, row.status.value if is_plain else row.verdict.value)


def _since(one: Entry) -> Cell:
    snapshot, row = one
    finding = next((found for found in snapshot.findings if found.check == row.check), None)
    if finding is None:
        return cells.absent(_WHY[row.verdict])
    return cells.Moment(first_seen(finding, snapshot.alarms.standing.get(row.check)))


def _acknowledged(alarms: Alarms, row: CheckRow) -> Cell:
    standing = alarms.standing.get(row.check)
    if row.verdict is not Verdict.FAILS:
        return cells.absent(_WHY[row.verdict])
    if standing is None or not standing.acknowledgements:
        return cells.absent("nobody took note of it")
    names = ", ".join(dict.fromkeys(one.by for one in standing.acknowledgements))
    part = "" if row.check in alarms.acknowledged else ", in part"
    return cells.Text(f"by {names}{part}")


COLUMNS: tuple[Column[Entry], ...] = (
    Column("status", "Status", lambda one: _status(one[1])),
    Column("check", "Check", lambda one: cells.Name(one[1].check, links.check(one[0].cluster, one[1].check))),
    Column("sentence", "What it says", lambda one: cells.Text(one[1].sentence)),
    Column(
        "count",
        "Count",
        lambda one: (
            cells.absent(_WHY.get(one[1].verdict, _PASSES))
            if one[1].count is None
            else cells.Number(one[1].count)
        ),
        is_number=True,
    ),
    Column("since", "Since", _since),
    Column(
        "acknowledged",
        "Acknowledged",
        lambda one: _acknowledged(one[0].alarms, one[1]),
        is_sortable=False,
    ),
)
SPEC = listing.Spec(sorts=tuple(column.name for column in COLUMNS if column.is_sortable))

PAGE = Page(
    name="checks",
    route="checks/",
    template="checks/checks.html",
    look=look,
    areas=frozenset({"findings", "session"}),
    canonical=SPEC.canonical,
    shape=shapes.Shape((COLUMNS,)),
    label="Checks",
    count=lambda snapshot: len(snapshot.leading),
)
