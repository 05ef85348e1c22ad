"""Timeline: what changed in a cluster, a topic, a broker, a group or a znode, as far back as tables reach.

What a watcher keeps came after `Feed.begins`; of the tables only what came until then is shown: so no change
is there twice, and none is left out between them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from zkdash.cluster.incidents import Incident, Incidents, Kind
from zkdash.cluster.model.severity import Severity
from zkdash.history.queries.lanes import Past
from zkdash.history.queries.timeline import Entry, Found, Place
from zkdash.history.queries.window import Span
from zkdash.live.parts import Block, PageKey, Table
from zkdash.live.snapshot import Snapshot
from zkdash.time_units import HOUR_MS
from zkdash.web.frame import links, shapes, tables, times
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.panels import change_table, incident_list
from zkdash.web.frame.tables import Empty
from zkdash.web.history import timeline_lanes, timeline_past, timeline_query
from zkdash.web.history.timeline_query import AREAS, NEWEST, OF, TimelineQuery, canonical

NAME = "timeline"
SIZE: Final = 50
# So many incidents are listed.
_STORIES: Final = 30


class About(msgspec.Struct, frozen=True):
    """How a page leads to the timeline of what it is about, and to its newest part, which it shows."""

    href: str
    newest: str
    what: str


def about(snapshot: Snapshot, kind: str, name: str) -> About:
    """The timeline of a topic, a broker, a group or the znode of a path; of the past, up to then."""
    pairs = [(kind, name)]
    if snapshot.past is not None:
        pairs.append(("before", str(Place(snapshot.past.instant.time_ms + 1, 0, 0))))
    return About(
        href=_address(snapshot.cluster, pairs),
        newest=_address(snapshot.cluster, [*pairs, ("most", str(NEWEST))]),
        what="this znode" if kind == "path" else f"this {kind}",
    )


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """One page of it: what is older than `before`."""
    query = timeline_query.understood(canonical(key.query)[0])
    size = NEWEST if query.is_short else SIZE
    read = (
        timeline_past.changes(snapshot, query.search, size)
        if query.is_short
        else timeline_past.everything(snapshot, key, query.search, size, _window(snapshot, query))
    )
    recorded_changes = read.changes
    merged = timeline_past.merged(snapshot, query.search, size, recorded_changes)
    entries = merged.entries
    live = entries[: merged.from_memory] if query.is_newest else ()
    last = str(entries[-1].place) if merged.more and entries else ""
    older = _address(snapshot.cluster, [*query.pairs, ("before", last)]) if last else ""
    return View(
        title="Timeline",
        parts=(
            *_live_parts(snapshot, query, live, read.past),
            _table(
                "recorded-rows",
                snapshot.cluster,
                entries[len(live) :],
                read.trouble or _empty(recorded_changes, query, live),
            ),
            _happened("earlier", snapshot, query, read.earlier, ""),
        ),
        context={
            "of": " ".join(value for pair in query.pairs if pair[0] in OF for value in pair)
            or snapshot.cluster,
            "trouble": read.trouble,
            "reach": recorded_changes.reach_ms,
            "gap": timeline_past.has_gap(snapshot, recorded_changes),
            "headings": tables.headings(change_table.COLUMNS, ""),
            "given": dict(query.pairs),
            "areas": AREAS,
            "action": links.cluster(snapshot.cluster, "timeline/"),
            "older": older,
            "first": _address(snapshot.cluster, query.pairs) if query.search.before else "",
            "pipeline": links.cluster(snapshot.cluster, "pipeline/"),
        },
        fields=tables.fields(change_table.COLUMNS),
        records=lambda: tables.records(change_table.COLUMNS, [entry.change for entry in entries]),
        total=len(entries),
        extra=lambda: {
            "older": f"{older}&format=json" if older else None,
            "recorded_up_to": None
            if recorded_changes.reach_ms is None
            else times.utc_text(recorded_changes.reach_ms),
            "incidents": [
                incident_list.record(incident, incident_list.actions(snapshot.queue))
                for incident in (
                    *_meant(snapshot.incidents.newest, query),
                    *_meant(read.earlier.newest, query),
                )
            ],
            **({"error": read.trouble} if read.trouble else {}),
        },
        version=(recorded_changes, read.earlier, snapshot.revision),
    )


def look(snapshot: Snapshot, key: PageKey) -> View:
    """What of it goes on: what a watcher keeps."""
    query = timeline_query.understood(canonical(key.query)[0])
    size = NEWEST if query.is_short else SIZE
    entries = timeline_past.newest_kept(snapshot, query.search, size) if query.is_newest else ()
    return View(title="Timeline", parts=_live_parts(snapshot, query, entries, timeline_past.kept(key)))


def _live_parts(
    snapshot: Snapshot, query: TimelineQuery, entries: tuple[Entry, ...], past: Past
) -> tuple[Block | Table, ...]:
    return (
        _lanes(snapshot, query, past),
        _happened("happened", snapshot, query, snapshot.incidents, "Nothing happened since zkdash watches."),
        _table("latest-rows", snapshot.cluster, entries, ""),
    )


def _window(snapshot: Snapshot, query: TimelineQuery) -> Span:
    """From when to when lanes are drawn; the last hour, to the newest sample, where nothing is chosen."""
    to_ms = query.search.to_ms or _known_at(snapshot)
    from_ms = query.search.from_ms if query.search.from_ms is not None else to_ms - HOUR_MS
    return Span(min(from_ms, to_ms - 1), to_ms)


def _known_at(snapshot: Snapshot) -> int:
    """The newest moment that is drawn (epoch ms): it moves with the samples, not each second."""
    known_at = snapshot.recent[-1].at if snapshot.recent else snapshot.as_of or time.time()
    return int(known_at * 1000)


def _lanes(snapshot: Snapshot, query: TimelineQuery, past: Past) -> Block:
    drawn = _window(snapshot, query)
    window = timeline_lanes.window(
        snapshot.cluster, drawn.from_ms, drawn.to_ms, query.pairs, _known_at(snapshot)
    )
    picture = timeline_lanes.picture(snapshot, snapshot.incidents.newest, window, past)
    return Block(id="lanes", template="history/lanes.html", values=picture)


def _happened(part: str, snapshot: Snapshot, query: TimelineQuery, incidents: Incidents, empty: str) -> Block:
    meant = tuple(_meant(incidents.newest, query))[:_STORIES]
    ours = incident_list.actions(snapshot.queue)
    return incident_list.block(
        part,
        (incident_list.story(snapshot.cluster, incident, ours) for incident in meant),
        empty if not meant else "",
    )


def _meant(incidents: Iterable[Incident], query: TimelineQuery) -> Iterator[Incident]:
    """The incidents of the window, and of what the page is about: by any of the changes that they keep."""
    search = msgspec.structs.replace(query.search, from_ms=None, to_ms=None, before=None)
    for incident in incidents:
        until = incident.last if incident.ended is None else incident.ended
        if query.search.from_ms is not None and until < query.search.from_ms and incident.ended is not None:
            continue
        if query.search.to_ms is not None and incident.heard >= query.search.to_ms:
            continue
        if (incident.kind is Kind.REBALANCE and search.group == incident.subject) or any(
            timeline_query.is_meant(change, search) for change in incident.rows
        ):
            yield incident


def _address(cluster: str, pairs: Iterable[tuple[str, str]]) -> str:
    return links.cluster(cluster, "timeline/", links.query(pairs))


def _table(part: str, cluster: str, entries: Iterable[Entry], empty: str) -> Table:
    rows = (
        (f"change-{entry.place}-{number}", Severity.OK, entry.change) for number, entry in enumerate(entries)
    )
    return tables.part(part, change_table.of_cluster(cluster), rows, Empty(empty))


def _empty(recorded_changes: Found, query: TimelineQuery, live: tuple[Entry, ...]) -> str:
    if live:
        return ""
    if recorded_changes.reach_ms is None:
        return "Nothing is recorded of this cluster yet."
    return "Nothing of it changed in what is recorded." if query.pairs else "Nothing older is recorded."


PAGE = Page(
    name=NAME,
    route="timeline/",
    template="history/timeline.html",
    look=look,
    areas=frozenset({"changes", "recent", "actions"}),
    canonical=canonical,
    shape=shapes.Shape(
        (change_table.COLUMNS,),
        {
            "older": shapes.TEXT_OR_NULL,
            "recorded_up_to": shapes.TEXT_OR_NULL,
            "incidents": shapes.many(incident_list.RECORD),
        },
        parameters={
            "topic": shapes.TEXT,
            "broker": shapes.COUNT,
            "group": shapes.TEXT,
            "path": shapes.TEXT,
            "area": {"type": "string", "enum": list(AREAS)},
            "q": shapes.TEXT,
            "from": shapes.INSTANT,
            "to": shapes.INSTANT,
            "before": shapes.TEXT,
        },
    ),
    section="History",
    label="Timeline",
    letter="h",
    whole=whole,
    no_past="The Timeline tells of the past already: choose from when to when on it.",
)
