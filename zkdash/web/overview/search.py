"""Search: everything that one can go to by a part of its name, also as one types (`limit`).

The only thing of exactly that name is gone to at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final
from urllib.parse import urlencode

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables import search
from zkdash.cluster.tables.search import Hit, Hits
from zkdash.live.parts import PageKey, Table, Text
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, page, shapes, tables
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.parameters import Parameters, of_canonical
from zkdash.web.frame.tables import Column, Empty
from zkdash.web.overview import destinations

Entry = tuple[str, Hit]  # where it leads, and what matches

_PARAMETERS: Final = Parameters(frozenset({"q", "limit"}))
# Kinds in the order of the page, each with its heading and its noun.
_KINDS: Final = {
    search.TOPIC: ("Topics", "topic"),
    search.GROUP: ("Groups", "group"),
    search.BROKER: ("Brokers", "broker"),
    search.CHECK: ("Checks", "check"),
    search.OPTION: ("Configuration options", "option"),
    destinations.PAGE: ("Pages", "page"),
    destinations.ACTION: ("Actions", "action"),
    destinations.ZNODE: ("Znodes", "znode"),
    destinations.CLUSTER: ("Other clusters", "cluster"),
}
# What is always listed, if only to say that there is none.
_ALWAYS = (search.TOPIC, search.GROUP, search.BROKER)


def look(declared: Sequence[Page], snapshot: Snapshot, key: PageKey) -> View:
    """The page, which can lead to each page that is `declared`."""
    given = of_canonical(key.query)
    text, limit = given.get("q", ""), int(given.get("limit", search.MOST))
    addresses = destinations.pages(declared, key)
    matches = {
        **search.find(snapshot.state, snapshot.observations, text, limit),
        **destinations.find(addresses, snapshot, key, text, limit),
    }

    def entries(hits: Hits) -> tuple[Entry, ...]:
        cluster = snapshot.cluster
        return tuple((destinations.address(hit, cluster, addresses), hit) for hit in hits.shown)

    # What begins like a path means one.
    kinds = sorted(_KINDS, key=lambda kind: text.startswith("/") and kind != destinations.ZNODE)
    by_kind = {kind: entries(matches[kind]) for kind in kinds}
    every = tuple(entry for kind in kinds for entry in by_kind[kind])
    exact = [where for where, hit in every if hit.exact]
    tallies = tuple(Text(f"tally-{kind}", _tally(matches[kind])) for kind in _KINDS)
    lists = tuple(_table(snapshot, kind, by_kind[kind], text) for kind in _KINDS)
    return View(
        title=f"Search: {text}" if text else "Search",
        parts=(*lists, *tallies),
        context={
            "headings": tables.headings(COLUMNS[1:], ""),
            "text": text,
            "kinds": tuple(
                (_KINDS[kind][0], f"{kind}-rows", f"tally-{kind}")
                for kind in kinds
                if kind in _ALWAYS or by_kind[kind]
            ),
        },
        fields=tables.fields(FIELDS),
        records=lambda: tables.records(FIELDS, every),
        total=sum(hits.total for hits in matches.values()),
        elsewhere=exact[0] if len(exact) == 1 else "",
    )


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """The text that is looked for, and how many of each kind are wanted where that is not the usual."""
    given = _PARAMETERS.read(raw)
    text, limit = given.last("q"), given.last("limit")
    kept = {"q": text} if text else {}
    if _is_limit(limit):
        kept["limit"] = limit
    elif limit:
        given.notes.append(f"“{limit}” is not a limit: 1 to {search.MOST} of each kind can be asked for.")
    return urlencode(kept, errors="surrogatepass"), tuple(given.notes)


def _is_limit(text: str) -> bool:
    return (
        text.isascii()
        and text.isdecimal()
        and len(text) <= len(str(search.MOST))
        and (1 <= int(text) <= search.MOST)
    )


def _tally(hits: Hits) -> str:
    if len(hits.shown) < hits.total:
        return f"first {len(hits.shown)} of {cells.grouped(hits.total)}"
    return cells.grouped(hits.total)


def _table(snapshot: Snapshot, kind: str, entries: Sequence[Entry], text: str) -> Table:
    rows = (
        (links.element_id(kind, entry[1].name), entry[1].status or _NO_STATUS, entry) for entry in entries
    )
    return tables.part(f"{kind}-rows", COLUMNS[1:], rows, _empty(snapshot, kind, text))


def _empty(snapshot: Snapshot, kind: str, text: str) -> Empty:
    heading, noun = _KINDS[kind]
    if not snapshot.state.loaded:
        return Empty(f"{heading} are not known before the first load from ZooKeeper.")
    if not text:
        return Empty("Type part of a name above.")
    where = "id or host" if kind == search.BROKER else "name"
    return Empty(f"No {noun} has “{text}” in its {where}.")


def _status(entry: Entry) -> cells.Cell:
    hit = entry[1]
    if hit.status is None:
        return cells.absent(f"{hit.kind}s have no status")
    return cells.Status(hit.status, hit.words)


_NO_STATUS: Final = Severity.OK
COLUMNS: tuple[Column[Entry], ...] = (
    Column("kind", "Kind", lambda entry: cells.Text(entry[1].kind)),
    Column("status", "Status", _status),
    Column("name", "Name", lambda entry: cells.Name(entry[1].name, entry[0])),
    Column("about", "About", lambda entry: cells.Text(entry[1].about)),
)
# JSON and CSV say where each leads.
FIELDS: tuple[Column[Entry], ...] = (
    *COLUMNS,
    Column("address", "Address", lambda entry: cells.Text(entry[0])),
)


def declare(others: Sequence[Page]) -> Page:
    """The page, which leads to all others."""
    return Page(
        name=page.SEARCH,
        route="search/",
        template="overview/search.html",
        look=partial(look, others),
        areas=frozenset({"topics", "groups", "brokers", "configs", "findings"}),
        canonical=canonical,
        shape=shapes.Shape((FIELDS,), parameters={"q": shapes.TEXT, "limit": shapes.COUNT}),
    )
