"""Audit: what happened to the queue and to znodes, newest first, straight from the database."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import msgspec

from zkdash.actions.reading import reader
from zkdash.actions.reading.reader import Search
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.actions import audit_rows
from zkdash.web.frame import links, row_selection, shapes, tables
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.parameters import Parameters, of_canonical

NAME = "audit"
SIZE = 100
_NUMBERS = ("action", "below")
_WORDS = ("who", "event")
_PARAMETERS = Parameters(frozenset({*_NUMBERS, *_WORDS}), most=20)


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """One page of lines: those below an id, so that the millionth costs what the first does."""
    search = _search(snapshot.cluster, canonical(key.query)[0])
    entries = reader.audit(search, SIZE + 1)
    lines, more = entries[:SIZE], len(entries) > SIZE
    older = _query(msgspec.structs.replace(search, below=lines[-1].id)) if more else ""
    return View(
        title="Audit",
        parts=(audit_rows.part("lines", audit_rows.COLUMNS, lines, _empty(search)),),
        context={
            "headings": tables.headings(audit_rows.COLUMNS, ""),
            "search": search,
            "older": f"?{older}" if older else "",
            "newest": f"?{_query(msgspec.structs.replace(search, below=None))}" if search.below else "",
            "shown": len(lines),
            "acts": row_selection.may_act(key),
            "verify": links.cluster(snapshot.cluster, "audit/verify/"),
        },
        fields=tables.fields(audit_rows.FIELDS),
        records=lambda: tables.records(audit_rows.FIELDS, lines),
        total=len(lines),
        extra=lambda: {"older": f"{links.audit(snapshot.cluster, older)}&format=json" if older else None},
        version=lines[:1],
    )


def look(_snapshot: Snapshot, _key: PageKey) -> View:
    """Nothing of it is live: what is told is not changed any more."""
    return View(title="Audit", parts=())


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """The query with what is not understood left out, and a sentence for each of these."""
    given = _PARAMETERS.read(raw)
    notes = given.notes
    kept: list[tuple[str, Any]] = []
    for name in (*_WORDS, *_NUMBERS):
        value = given.last(name).removeprefix("#")
        if not value:
            continue
        if name in _NUMBERS and not (value.isascii() and value.isdecimal() and len(value) <= 18):
            notes.append(f"“{value}” is not a number of {'an action' if name == 'action' else 'a line'}.")
        elif "\0" in value:
            notes.append("NUL is in no name of the audit.")
        else:
            kept.append((name, value))
    return urlencode(kept, errors="surrogatepass"), tuple(notes)


def _search(cluster: str, query: str) -> Search:
    given = of_canonical(query)
    return Search(
        cluster=cluster,
        who=given.get("who", ""),
        event=given.get("event", ""),
        action=int(given["action"]) if "action" in given else None,
        below=int(given["below"]) if "below" in given else None,
    )


def _query(search: Search) -> str:
    pairs = [(name, getattr(search, name)) for name in (*_WORDS, *_NUMBERS)]
    return urlencode([(name, value) for name, value in pairs if value not in {"", None}])


def _empty(search: Search) -> str:
    if search.who or search.event or search.action is not None or search.below is not None:
        return "No line of this cluster’s audit is asked for by that."
    return "Nothing was told of this cluster yet."


PAGE = Page(
    name=NAME,
    route="audit/",
    template="actions/audit.html",
    look=look,
    canonical=canonical,
    shape=shapes.Shape(
        (audit_rows.FIELDS,),
        {"older": shapes.TEXT_OR_NULL},
        parameters={"who": shapes.TEXT, "event": shapes.TEXT, "action": shapes.COUNT, "below": shapes.COUNT},
    ),
    whole=whole,
    no_past="The audit holds everything since the beginning; there is no other of the past.",
)
