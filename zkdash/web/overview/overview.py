"""Overview: is the cluster healthy, what is wrong and where, what changed last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from zkdash.actions.reading import queries
from zkdash.actions.reading.entries import Entry
from zkdash.alarms.open_alarms import first_seen
from zkdash.cluster.analysis import kraft
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.tone import Tone
from zkdash.cluster.tables.brokers import rows as broker_rows
from zkdash.kafka.values import Controller, Layout
from zkdash.live.parts import Block, PageKey, Table
from zkdash.live.snapshot import Snapshot
from zkdash.web.actions import actions
from zkdash.web.actions import cells as action_cells
from zkdash.web.checks import findings_panel
from zkdash.web.frame import cells, change_table, links, page, row_selection, shapes, tables, times
from zkdash.web.frame.cells import Record
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Column, Empty
from zkdash.web.overview import facts
from zkdash.zk.connection.session import Phase

NAME = "overview"
_LAST = 10
_ACTION_LINKS = (
    ("Elect preferred leaders…", "elect-preferred", ()),
    ("Balance replicas…", "reassign", (("way", "balance"),)),
    ("Elect the controller anew…", "reelect-controller", ()),
)
FIELDS = ("check", "status", "sentence", "count", "since", "acknowledged", "remedy")
_NOT_LOADED = "not loaded from ZooKeeper yet"


class Metric(msgspec.Struct, frozen=True):
    """One number of the strip."""

    label: str
    shown: str
    note: str = ""
    since: int | None = None
    href: str = ""
    tone: Tone | None = None


def look(snapshot: Snapshot, key: PageKey) -> View:
    changes = _changes(snapshot)
    return View(
        title="Overview",
        parts=(
            findings_panel.every(snapshot, key, _all_well(snapshot)),
            _strip(snapshot),
            facts.block(snapshot.cluster, snapshot.state),
            _actions(snapshot),
            changes,
        ),
        context={
            "headings": tables.headings(change_table.COLUMNS, ""),
            "action_headings": tables.headings(ACTIONS, ""),
            "action_links": _action_links(snapshot, key),
        },
        fields=FIELDS,
        records=lambda: _records(snapshot),
        total=len(snapshot.findings),
        extra={
            "numbers": _numbers(snapshot),
            "address": snapshot.address,
            "kept": facts.record(snapshot.state),
        },
    )


def _all_well(snapshot: Snapshot) -> tuple[Tone, str]:
    """What stands where no check fails: silence is only good news while ZooKeeper is followed."""
    if snapshot.findings:
        return Tone.INFO, "Nothing fails that nobody took note of."
    if not snapshot.state.loaded:
        return Tone.UNKNOWN, "Nothing is checked before the first load."
    if snapshot.session.phase is not Phase.LIVE:
        return Tone.UNKNOWN, "No check failed in the last known state."
    return Tone.OK, "No check fails."


def _strip(snapshot: Snapshot) -> Block:
    return Block(id="strip", template="frame/strip.html", values=_facts(snapshot))


def _facts(snapshot: Snapshot) -> tuple[Metric, ...]:
    state, counts = snapshot.state, snapshot.state.counts
    if not state.loaded:
        labels = ("Brokers", "Controller", "Topics", "Partitions", "Under-replicated", "Offline")
        return tuple(Metric(label, "unknown", note=_NOT_LOADED) for label in labels)
    topics, brokers = (links.cluster(snapshot.cluster, f"{page}/") for page in ("topics", "brokers"))
    alarm = None if state.brokers else Tone.WARNING
    everywhere = (
        Metric("Brokers", cells.grouped(len(state.brokers)), href=brokers, tone=alarm),
        Metric("Topics", cells.grouped(counts.topics), href=topics),
        Metric("Partitions", cells.grouped(counts.partitions)),
    )
    if state.layout is Layout.V07:  # no controller, no replicas
        return everywhere
    return (
        everywhere[0],
        _controller(snapshot),
        *everywhere[1:],
        _bad("Under-replicated", counts.under_replicated, Tone.WARNING, f"{topics}?sort=-under_replicated"),
        _bad("Offline", counts.offline, Tone.CRITICAL, f"{topics}?sort=-offline"),
    )


def _bad(label: str, count: int, tone: Tone, href: str) -> Metric:
    return Metric(label, cells.grouped(count), href=href if count else "", tone=tone if count else None)


def _controller(snapshot: Snapshot) -> Metric:
    seen, epoch = snapshot.state.controller, snapshot.state.controller_epoch
    note = f"epoch {epoch.value}" if epoch is not None and isinstance(epoch.value, int) else "epoch unknown"
    if seen is None:
        tone = None if snapshot.state.layout is Layout.NONE else Tone.CRITICAL
        return Metric("Controller", "none", note=note, tone=tone)
    if not isinstance(seen.value, Controller):
        return Metric("Controller", "?", note=seen.value.reason, tone=Tone.UNKNOWN)
    since = None if seen.znode is None else seen.znode.ctime
    number = seen.value.broker_id
    known = number in broker_rows.ids(snapshot.state)
    href = links.broker(snapshot.cluster, number) if known else ""
    if kraft.owner(snapshot.state) is not None:  # which is no broker
        href = links.cluster(snapshot.cluster, "kraft/")
    return Metric("Controller", str(number), note=note, since=since, href=href)


NUMBERS: Final = shapes.fields(
    brokers=shapes.INTEGER_OR_NULL,
    topics=shapes.INTEGER_OR_NULL,
    partitions=shapes.INTEGER_OR_NULL,
    under_replicated=shapes.INTEGER_OR_NULL,
    offline=shapes.INTEGER_OR_NULL,
    controller=shapes.INTEGER_OR_NULL,
    controller_epoch=shapes.INTEGER_OR_NULL,
)


def _numbers(snapshot: Snapshot) -> Record:
    """The strip for JSON; null, with its reason, where ZooKeeper does not say."""
    state, counts = snapshot.state, snapshot.state.counts
    numbers = {
        "brokers": len(state.brokers),
        "topics": counts.topics,
        "partitions": counts.partitions,
        "under_replicated": counts.under_replicated,
        "offline": counts.offline,
    }
    record: Record = dict(numbers) if state.loaded else {}
    for name in () if state.loaded else numbers:
        record |= _null(name, _NOT_LOADED)
    return record | _controller_numbers(state)


def _controller_numbers(state: ClusterState) -> Record:
    seen, epoch = state.controller, state.controller_epoch
    record: Record = {}
    if seen is None:
        record |= _null("controller", "no /controller in ZooKeeper" if state.loaded else _NOT_LOADED)
    elif isinstance(seen.value, Controller):
        record["controller"] = seen.value.broker_id
    else:
        record |= _null("controller", seen.value.reason)
    if epoch is None:
        record |= _null(
            "controller_epoch", "no /controller_epoch in ZooKeeper" if state.loaded else _NOT_LOADED
        )
    elif isinstance(epoch.value, int):
        record["controller_epoch"] = epoch.value
    else:
        record |= _null("controller_epoch", epoch.value.reason)
    return record


def _null(name: str, why: str) -> Record:
    return {name: None, f"{name}_reason": why}


def _records(snapshot: Snapshot) -> Iterable[Record]:
    for finding in snapshot.findings:
        since = first_seen(finding, snapshot.alarms.standing.get(finding.check))
        yield {
            "check": finding.check,
            "status": finding.tone.value,
            "sentence": finding.sentence,
            "count": finding.count,
            "since": times.utc_text(since),
            "acknowledged": finding.check in snapshot.alarms.acknowledged,
            "remedy": finding.remedy,
        }


def _changes(snapshot: Snapshot) -> Table:
    empty = Empty("Nothing has changed since zkdash began to watch this cluster.")
    rows = []
    seen: dict[str, int] = {}
    for change in snapshot.changes[:_LAST]:
        name = f"{change.when} {change.zxid} {change.path} {change.what} {change.after}"
        again = seen[name] = seen.get(name, 0) + 1
        rows.append((links.element_id("change", f"{name} {again}"), Tone.OK, change))
    return tables.part("changes-rows", change_table.COLUMNS, rows, empty)


def _actions(snapshot: Snapshot) -> Table:
    """What waits or works."""
    return tables.part(
        "actions-rows",
        ACTIONS,
        ((f"action-{one.id}", queries.tone(one), one) for one in snapshot.queue.in_flight),
        Empty(snapshot.queue.trouble or "No action waits or is at work."),
    )


def _action_links(snapshot: Snapshot, key: PageKey) -> tuple[row_selection.ActionLink, ...]:
    """What can be asked of the whole cluster; 0.7 has neither replicas nor a controller."""
    asked = () if snapshot.state.layout is Layout.V07 else _ACTION_LINKS
    return (*row_selection.action_links(key, *asked), *row_selection.every(key))


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
        {"brokers", "controller", "topics", "findings", "changes", "session", "actions", "notifications"}
    ),
    canonical=page.without_query,
    shape=shapes.Shape((FIELDS,), {"numbers": NUMBERS, "address": shapes.TEXT, "kept": facts.RECORD}),
    label="Overview",
    letter="o",
)
