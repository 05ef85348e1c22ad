"""One check: what it says in both states, how it is found out, what causes it, and who took note of it."""

from __future__ import annotations

from typing import Final

import msgspec

from zkdash.alarms.open_alarms import first_seen
from zkdash.cluster import checks
from zkdash.cluster.checks import About, Check, Finding, Thresholds
from zkdash.cluster.checks.observations import CheckResult
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables import cause_rows, topic_queries
from zkdash.kafka.documents.document import quote
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.checks import cause_cells, findings_panel
from zkdash.web.frame import links, listing, row_selection, shapes, tables, times
from zkdash.web.frame.cells import Record
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Column, Empty
from zkdash.zk.connection.session import Phase

NAME = "check"
# The parameter that a chosen cause is sent as.
CAUSE = "cause"
# How long an acknowledgement may hold: seconds, "" for as long as the finding stands.
SPANS = (
    ("", "as long as it stands"),
    ("3600", "for an hour"),
    ("28800", "for 8 hours"),
    ("86400", "for a day"),
    ("604800", "for a week"),
)
_NOTHING = CheckResult(0.0, None)


class Threshold(msgspec.Struct, frozen=True):
    """What a check goes by: a key of `[checks]` in the configuration file."""

    key: str
    value: str


class Note(msgspec.Struct, frozen=True):
    """One acknowledgement as the page shows it; `about` says what it covers."""

    id: int
    by: str
    at: int
    until: int | None
    reason: str
    about: str


def look(snapshot: Snapshot, key: PageKey) -> View:
    name = key.args[0]
    check = checks.BY_ID.get(name)
    if check is None:
        return _gone(name)
    query, _ = SPEC.read(key.query)
    looked = snapshot.observations.looked.get(name, _NOTHING)
    selection = cause_rows.select(check, looked, snapshot.state, query)
    boxed = check.about is not About.CLUSTER and row_selection.may_act(key)
    entries = tuple((snapshot, check, row) for row in selection.rows)
    shown = (_PICK, *COLUMNS) if boxed else COLUMNS
    table = tables.part(
        "causes-rows",
        shown,
        ((links.element_id("cause", entry[2].name), entry[2].status, entry) for entry in entries),
        _empty(snapshot, name, query),
    )
    failing = finding(snapshot, name)
    return View(
        title=f"{name}: {check.passing}",
        parts=(
            findings_panel.one(snapshot, failing, key, _otherwise(snapshot, name)),
            _occurrence(snapshot, name),
            _notes(snapshot, key, name),
            table,
            *listing.blocks(SPEC, query, selection, "causes"),
        ),
        context={
            **listing.context(SPEC, query, shown, "Filter: name or detail"),
            "check": check,
            "example": check.failing(2, 2),
            "thresholds": thresholds(check, snapshot.observations.thresholds),
            "acts": row_selection.may_act(key),
            "boxed": boxed,
            "spans": SPANS,
            "acknowledge": links.check(snapshot.cluster, name, "acknowledge/"),
            "list": links.cluster(snapshot.cluster, f"{check.page}/", check.query) if check.page else "",
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, entries),
        total=selection.matched,
        extra=lambda: {"check": _record(snapshot, check, failing)},
    )


def finding(snapshot: Snapshot, check: str) -> Finding | None:
    """What the check holds against the cluster, None where it fails nothing."""
    return next((finding for finding in snapshot.findings if finding.check == check), None)


def passes(snapshot: Snapshot, check: str) -> bool:
    """Whether it is known now that the check holds nothing against the cluster."""
    return is_known(snapshot) and check in snapshot.passing


def is_known(snapshot: Snapshot) -> bool:
    """Whether ZooKeeper is followed: what is shown of the cluster is how it is."""
    return snapshot.state.loaded and snapshot.session.phase is Phase.LIVE and not snapshot.stale


def thresholds(check: Check, values: Thresholds) -> tuple[Threshold, ...]:
    """What applies to a check, with its values."""
    return tuple(Threshold(key, f"{getattr(values, key):.12g}") for key in ("confirm", *check.thresholds))


def _gone(name: str) -> View:
    sentence = f"There is no check {quote(name[:100])}. The list of checks names all."
    return View(title="No such check", parts=(), gone=sentence)


def _render_key(snapshot: Snapshot, key: PageKey) -> object:
    """Causes come, go and change while the sentence stays."""
    looked = snapshot.observations.looked.get(key.args[0])
    return None if looked is None else (looked.causes, looked.held, looked.silence)


def _empty(snapshot: Snapshot, check: str, query: topic_queries.Query) -> Empty:
    looked = snapshot.observations.looked.get(check, _NOTHING)
    if looked.causes:
        return Empty(f"No cause matches {listing.words(query)}.", "?", "Clear filter")
    return Empty("Nothing fails this check." if looked.causes is not None else _otherwise(snapshot, check)[1])


def _otherwise(snapshot: Snapshot, check: str) -> tuple[Severity, str]:
    """What stands where the check does not fail: no good news of what is not known to be so now."""
    title = checks.TITLES[check]
    if not snapshot.state.loaded:
        return Severity.UNKNOWN, f"{title}? Nothing is checked before the first load."
    looked = snapshot.observations.looked.get(check, _NOTHING)
    if looked.silence is not None:
        return Severity.UNKNOWN, f"{title}? {looked.silence.why}."
    if looked.causes and check not in snapshot.passing:
        return Severity.INFO, f"{title}? Something was seen, and has yet to hold for long enough."
    if check not in snapshot.passing:
        return Severity.UNKNOWN, f"{title}? It was not looked at yet."
    if snapshot.session.phase is not Phase.LIVE:
        return Severity.UNKNOWN, f"{title}, in the last known state."
    return Severity.OK, f"{title}."


def _occurrence(snapshot: Snapshot, check: str) -> Block:
    """Which occurrence is shown: what is acknowledged is that one and no later."""
    standing = snapshot.alarms.standing.get(check)
    values = (None if standing is None else standing.number, snapshot.alarms.trouble)
    return Block(id="occurrence", template="checks/occurrence.html", values=values)


def _notes(snapshot: Snapshot, key: PageKey, check: str) -> Block:
    standing = snapshot.alarms.standing.get(check)
    acknowledgements = () if standing is None else standing.acknowledgements
    notes = tuple(
        Note(
            acknowledgement.id,
            acknowledgement.by,
            acknowledgement.at,
            acknowledgement.until,
            acknowledgement.reason,
            _about(acknowledgement.whole, len(acknowledgement.covers)),
        )
        for acknowledgement in acknowledgements
    )
    withdraw = links.check(snapshot.cluster, check, "withdraw/") if row_selection.may_act(key) else ""
    return Block(id="acknowledgements", template="checks/acknowledgements.html", values=(notes, withdraw))


def _about(is_whole: bool, count: int) -> str:
    return "the finding" if is_whole else f"{count} cause{'' if count == 1 else 's'}"


def _record(snapshot: Snapshot, check: Check, failing: Finding | None) -> Record:
    standing = snapshot.alarms.standing.get(check.id)
    return {
        "id": check.id,
        "severity": check.severity.value,
        "status": failing.severity.value if failing else "ok" if passes(snapshot, check.id) else "unknown",
        "sentence": failing.sentence if failing else check.passing,
        "since": times.utc_text(first_seen(failing, standing)) if failing else None,
        "occurrence": standing.number if standing else None,
        "acknowledged": check.id in snapshot.alarms.acknowledged,
        "computed": check.computed,
        "remedy": check.remedy,
        "thresholds": {
            threshold.key: getattr(snapshot.observations.thresholds, threshold.key)
            for threshold in thresholds(check, snapshot.observations.thresholds)
        },
    }


COLUMNS: tuple[Column[cause_cells.Entry], ...] = cause_cells.COLUMNS
# In front, for who may acknowledge: no action on the cluster, so offered whoever owns its metadata.
_PICK: Column[cause_cells.Entry] = Column(
    "pick", "Pick", lambda entry: row_selection.Box(CAUSE, entry[2].name), is_sortable=False
)
SPEC = listing.Spec(sorts=("status", "name", "count", "since", "why"))

RECORD: Final = shapes.fields(
    id=shapes.TEXT,
    severity=shapes.TEXT,
    status=shapes.TEXT,
    sentence=shapes.TEXT,
    since=shapes.TEXT_OR_NULL,
    occurrence=shapes.INTEGER_OR_NULL,
    acknowledged=shapes.WHETHER,
    computed=shapes.TEXT,
    remedy=shapes.TEXT,
    thresholds=shapes.named(shapes.NUMBER),
)


PAGE = Page(
    name=NAME,
    route="checks/<name:check>/",
    template="checks/check.html",
    look=look,
    areas=frozenset({"findings", "session"}),
    canonical=SPEC.canonical,
    shape=shapes.Shape((COLUMNS,), {"check": RECORD}),
    render_key=_render_key,
)
