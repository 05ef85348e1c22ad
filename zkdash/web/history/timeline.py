"""Timeline: what changed in a cluster, a topic, a broker, a group or a znode, as far back as tables reach."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import parse_qs, urlencode

import msgspec

from zkdash.cluster.changes import Change
from zkdash.cluster.model.tone import Tone
from zkdash.history.queries import timeline
from zkdash.history.queries.timeline import Entry, Found, Place, Search
from zkdash.kafka import paths
from zkdash.live.parts import PageKey, Table
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import change_table, links, page, shapes, tables, times
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Empty
from zkdash.web.history import recorded

NAME = "timeline"
SIZE: Final = 50
NEWEST: Final = 20
_LONGEST = 300
_MOST_FIELDS = 20
_OF = ("topic", "broker", "group", "path")
_KNOWN = {*_OF, "before", "most", "format", "from"}


class About(msgspec.Struct, frozen=True):
    """How a page leads to the timeline of what it is about, and to its newest part, which it shows."""

    href: str
    newest: str
    what: str


def about(cluster: str, kind: str, name: str) -> About:
    """The timeline of a topic, a broker, a group or the znode of a path."""
    return About(
        href=_address(cluster, [(kind, name)]),
        newest=_address(cluster, [(kind, name), ("most", str(NEWEST))]),
        what="this znode" if kind == "path" else f"this {kind}",
    )


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """One page of it: what is older than `before`."""
    given = dict(parse_qs(canonical(key.query)[0], keep_blank_values=True))
    pairs = [(name, given[name][-1]) for name in _OF if name in given]
    search = _search({name: values[-1] for name, values in given.items()})
    size = NEWEST if "most" in given else SIZE
    trouble, found = "", Found((), False, None)
    try:
        found = recorded.ask(
            snapshot.cluster,
            timeline.TABLES,
            (search, size),
            lambda asked: timeline.newest(asked, search, size),
        )
    except recorded.UnansweredError as error:
        trouble = str(error)
    last = str(found.entries[-1].place) if found.more else ""
    older = _address(snapshot.cluster, [*pairs, ("before", last)]) if last else ""
    return View(
        title="Timeline",
        parts=(_table(found.entries, trouble or _empty(found, pairs)),),
        context={
            "of": " ".join(value for pair in pairs for value in pair) or snapshot.cluster,
            "trouble": trouble,
            "reach": found.reach_ms,
            "headings": tables.headings(change_table.COLUMNS, ""),
            "older": older,
            "first": _address(snapshot.cluster, pairs) if search.before else "",
            "pipeline": links.cluster(snapshot.cluster, "pipeline/"),
        },
        fields=tables.fields(change_table.COLUMNS),
        records=lambda: tables.records(change_table.COLUMNS, map(_change, found.entries)),
        total=len(found.entries),
        extra={
            "older": f"{older}&format=json" if older else None,
            "recorded_up_to": None if found.reach_ms is None else times.utc_text(found.reach_ms),
            **({"error": trouble} if trouble else {}),
        },
        version=found,
    )


def look(_snapshot: Snapshot, _key: PageKey) -> View:
    """Nothing of it is live: what was is not changed any more."""
    return View(title="Timeline", parts=())


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """The query with what is not understood left out, and a sentence for each of these."""
    notes: list[str] = []
    given = page.asked(raw, _KNOWN, notes, longest=_LONGEST, most=_MOST_FIELDS)
    kept: list[tuple[str, Any]] = []
    for name in (*_OF, "before", "most"):
        value = given.get(name, [""])[-1]
        if not value:
            continue
        if name == "broker" and not paths.is_id(value):
            notes.append(f"“{value[:_LONGEST]}” is no broker’s id.")
        elif name == "before" and Place.read(value) is None:
            notes.append(f"“{value[:_LONGEST]}” is no place in the timeline; this is its newest part.")
        elif name == "most" and value != str(NEWEST):
            notes.append(f"“{value[:_LONGEST]}” is no length of this page; it may be {NEWEST}.")
        else:
            kept.append((name, value))
    return urlencode(kept), tuple(notes)


def _search(given: dict[str, str]) -> Search:
    return Search(
        topic=given.get("topic", ""),
        broker=int(given["broker"]) if "broker" in given else None,
        group=given.get("group", ""),
        path=given.get("path", ""),
        before=Place.read(given.get("before", "")),
    )


def _address(cluster: str, pairs: Iterable[tuple[str, str]]) -> str:
    return links.cluster(cluster, "timeline/", urlencode(list(pairs), errors="surrogatepass"))


def _table(entries: Iterable[Entry], empty: str) -> Table:
    rows = (
        (f"change-{entry.place}-{number}", Tone.OK, _change(entry)) for number, entry in enumerate(entries)
    )
    return tables.part("recorded-rows", change_table.COLUMNS, rows, Empty(empty))


def _empty(found: Found, pairs: list[tuple[str, str]]) -> str:
    if found.reach_ms is None:
        return "Nothing is recorded of this cluster yet."
    return "Nothing of it changed in what is recorded." if pairs else "Nothing older is recorded."


def _change(entry: Entry) -> Change:
    return Change(entry.time, entry.area, entry.what, entry.before, entry.after, entry.path, entry.zxid)


PAGE = Page(
    name=NAME,
    route="timeline/",
    template="history/timeline.html",
    look=look,
    canonical=canonical,
    shape=shapes.Shape(
        (change_table.COLUMNS,),
        {"older": shapes.TEXT_OR_NULL, "recorded_up_to": shapes.TEXT_OR_NULL},
        parameters={
            "topic": shapes.TEXT,
            "broker": shapes.COUNT,
            "group": shapes.TEXT,
            "path": shapes.TEXT,
            "before": shapes.TEXT,
        },
    ),
    whole=whole,
)
