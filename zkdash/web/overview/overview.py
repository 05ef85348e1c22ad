"""Overview: is the cluster healthy, what is wrong and where, what changed last."""

from __future__ import annotations

from collections.abc import Iterable

from zkdash.actions.reading import queries
from zkdash.actions.reading.entries import Entry
from zkdash.alarms.open_alarms import first_seen
from zkdash.cluster.model.severity import Severity
from zkdash.history.queries import instants
from zkdash.kafka.values import Layout
from zkdash.live.parts import PageKey, Table
from zkdash.live.snapshot import Snapshot
from zkdash.time_units import MINUTE_MS
from zkdash.web.actions import actions
from zkdash.web.actions import cells as action_cells
from zkdash.web.brokers import cluster_map
from zkdash.web.checks import findings_panel
from zkdash.web.frame import page, row_selection, shapes, tables, times
from zkdash.web.frame.cells import Record
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.panels import incident_list
from zkdash.web.frame.tables import Column, Empty
from zkdash.web.overview import causes, facts, numbers
from zkdash.zk.connection.session import Phase

NAME = "overview"
_LAST = 10
_ACTION_LINKS = (
    ("Elect preferred leaders…", "elect-preferred", ()),
    ("Balance replicas…", "reassign", (("way", "balance"),)),
    ("Re-elect controller…", "reelect-controller", ()),
)
FIELDS = ("check", "status", "sentence", "count", "since", "acknowledged", "remedy")


def look(snapshot: Snapshot, key: PageKey) -> View:
    folded = causes.folded(snapshot)
    ours = incident_list.actions(snapshot.queue)
    return View(
        title="Overview",
        parts=(
            causes.block(snapshot, key),
            findings_panel.every(snapshot, key, _all_well(snapshot), folded),
            cluster_map.block(snapshot),
            numbers.block(snapshot),
            facts.block(snapshot.cluster, snapshot.state),
            _actions(snapshot),
            incident_list.block(
                "happened",
                incident_list.stories(
                    snapshot.cluster, snapshot.incidents.newest, snapshot.incidents.singles, _LAST, ours
                ),
                _nothing(snapshot),
            ),
        ),
        context={
            "action_headings": tables.headings(ACTIONS, ""),
            "action_links": _action_links(snapshot, key),
        },
        fields=FIELDS,
        records=lambda: _records(snapshot),
        total=len(snapshot.findings),
        extra=lambda: {
            "numbers": numbers.record(snapshot),
            "address": snapshot.address,
            "kept": facts.record(snapshot.state),
            "incidents": [incident_list.record(incident, ours) for incident in snapshot.incidents.newest],
            "causes": causes.records(snapshot),
        },
    )


def _nothing(snapshot: Snapshot) -> str:
    """What stands where nothing happened in what was looked at."""
    if snapshot.past is None:
        return "Nothing has changed since zkdash began to watch this cluster."
    minutes, changes = instants.LEAD_MS // MINUTE_MS, instants.LEAD_CHANGES
    return (
        f"No incident in what was looked at before this moment: {minutes} minutes, or {changes:,} changes "
        "where there were more. The Timeline tells of earlier ones."
    )


def _all_well(snapshot: Snapshot) -> tuple[Severity, str]:
    """What stands where no check fails: silence is only good news while ZooKeeper is followed."""
    if snapshot.causes:
        return Severity.INFO, "Nothing else fails."
    if snapshot.findings:
        return Severity.INFO, "Every finding is acknowledged."
    if not snapshot.state.loaded:
        return Severity.UNKNOWN, "Nothing is checked before the first load."
    if snapshot.session.phase is not Phase.LIVE:
        return Severity.UNKNOWN, "No check failed in the last known state."
    return Severity.OK, "No check fails."


def _records(snapshot: Snapshot) -> Iterable[Record]:
    for finding in snapshot.findings:
        since = first_seen(finding, snapshot.alarms.standing.get(finding.check))
        yield {
            "check": finding.check,
            "status": finding.severity.value,
            "sentence": finding.sentence,
            "count": finding.count,
            "since": times.utc_text(since),
            "acknowledged": finding.check in snapshot.alarms.acknowledged,
            "remedy": finding.remedy,
        }


def _actions(snapshot: Snapshot) -> Table:
    """What waits or works."""
    return tables.part(
        "actions-rows",
        ACTIONS,
        ((f"action-{entry.id}", queries.severity(entry), entry) for entry in snapshot.queue.in_flight),
        Empty(snapshot.queue.trouble or "No action waits or is at work."),
    )


def _action_links(snapshot: Snapshot, key: PageKey) -> tuple[row_selection.ActionLink, ...]:
    """What can be asked of the whole cluster; 0.7 has neither replicas nor a controller."""
    offered = () if snapshot.state.layout is Layout.V07 else _ACTION_LINKS
    return (*row_selection.action_links(key, *offered), *row_selection.every(key))


ACTIONS: tuple[Column[Entry], ...] = (
    *actions.WHICH,
    Column("progress", "Progress", action_cells.progress),
)

PAGE = Page(
    name=NAME,
    route="",
    template="overview/overview.html",
    look=look,
    areas=frozenset(
        {
            "brokers",
            "controller",
            "topics",
            "findings",
            "changes",
            "session",
            "actions",
            "notifications",
            "recent",
        }
    ),
    canonical=page.without_query,
    shape=shapes.Shape(
        (FIELDS,),
        {
            "numbers": numbers.RECORD,
            "address": shapes.TEXT,
            "kept": facts.RECORD,
            "incidents": shapes.many(incident_list.RECORD),
            "causes": shapes.many(causes.RECORD),
        },
    ),
    label="Overview",
    letter="o",
)
