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
from zkdash.web.frame.page import Badge, Page, View
from zkdash.web.frame.tables import Column, Empty

Entry = tuple[Snapshot, CheckRow]

_PASSES = "the check does not fail"
_WHY = {
    Verdict.PASSES: _PASSES,
    Verdict.WAITS: "it has yet to hold for long enough to be a finding",
    Verdict.UNKNOWN: "nothing is checked before the first load",
}


def look(snapshot: Snapshot, key: PageKey) -> View:
    query, _ = SPEC.read(key.query)
    selection = check_rows.select(snapshot.state, snapshot.observations, query)
    table = tables.part(
        "all-checks-rows",
        COLUMNS,
        ((links.element_id("check", row.check), row.status, (snapshot, row)) for row in selection.rows),
        Empty(f"No check matches {listing.words(query)}.", "?", "Clear filter"),
    )
    return View(
        title="Checks",
        parts=(table, *listing.blocks(SPEC, query, selection, "checks")),
        context={
            **listing.context(SPEC, query, COLUMNS, "Filter: words or id"),
            "try_alerts": links.cluster(snapshot.cluster, "alerts/test/") if _administers(key) else "",
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, ((snapshot, row) for row in selection.rows)),
        total=selection.matched,
    )


def _administers(key: PageKey) -> bool:
    return Right.ADMINISTER in Role(key.rights).rights


def _why(row: CheckRow) -> str:
    """Why there is nothing to count where a check does not fail."""
    return row.why or _WHY[row.verdict]


def _status(row: CheckRow) -> Cell:
    is_plain = row.verdict in {Verdict.FAILS, Verdict.UNKNOWN}
    return cells.Status(row.status, row.status.value if is_plain else row.verdict.value)


def _since(entry: Entry) -> Cell:
    snapshot, row = entry
    finding = next((raised for raised in snapshot.findings if raised.check == row.check), None)
    if finding is None:
        return cells.absent(_why(row))
    return cells.Moment(first_seen(finding, snapshot.alarms.standing.get(row.check)))


def _acknowledged(alarms: Alarms, row: CheckRow) -> Cell:
    standing = alarms.standing.get(row.check)
    if row.verdict is not Verdict.FAILS:
        return cells.absent(_why(row))
    if standing is None or not standing.acknowledgements:
        return cells.absent("not acknowledged")
    names = ", ".join(dict.fromkeys(acknowledgement.by for acknowledgement in standing.acknowledgements))
    part = "" if row.check in alarms.acknowledged else ", in part"
    return cells.Text(f"by {names}{part}")


COLUMNS: tuple[Column[Entry], ...] = (
    Column("status", "Status", lambda entry: _status(entry[1])),
    Column(
        "sentence",
        "Check",
        lambda entry: cells.Name(entry[1].sentence, links.check(entry[0].cluster, entry[1].check)),
    ),
    Column("check", "Id", lambda entry: cells.Text(entry[1].check)),
    Column(
        "count",
        "Count",
        lambda entry: (
            cells.absent(_why(entry[1])) if entry[1].count is None else cells.Number(entry[1].count)
        ),
        is_number=True,
    ),
    Column("since", "Since", _since),
    Column(
        "acknowledged",
        "Acknowledged",
        lambda entry: _acknowledged(entry[0].alarms, entry[1]),
        is_sortable=False,
    ),
)
SPEC = listing.Spec(sorts=tuple(column.name for column in COLUMNS if column.is_sortable))


def _badge(snapshot: Snapshot) -> Badge:
    """How many fail that nobody took note of, in the severity of the worst."""
    worst = min(
        (finding.severity for finding in snapshot.leading), key=lambda severity: severity.rank, default=None
    )
    return Badge(len(snapshot.leading), worst)


PAGE = Page(
    name="checks",
    route="checks/",
    template="checks/checks.html",
    look=look,
    areas=frozenset({"findings", "session"}),
    canonical=SPEC.canonical,
    shape=shapes.Shape((COLUMNS,)),
    section="Attention",
    label="Checks",
    letter="c",
    badge=_badge,
)
