"""Search: topics, groups and brokers by a part of their names; the only thing of that name is gone to."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode

from zkdash.cluster.tables import search
from zkdash.cluster.tables.search import Hit
from zkdash.live.parts import PageKey, Table
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, page, shapes, tables
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Column, Empty

Entry = tuple[str, Hit]  # the cluster's name, and what was found

_LONGEST = 200
_MOST_FIELDS = 100
_KNOWN = {"q", "format", "from"}
_KINDS = ("topics", "groups", "brokers")


def look(snapshot: Snapshot, key: PageKey) -> View:
    text = _text(key.query)
    found = search.find(snapshot.state, text)
    hits = (found.topics, found.groups, found.brokers)
    every = tuple((snapshot.cluster, hit) for kind in hits for hit in kind)
    tallies = tuple(
        page.text(f"tally-{kind}", _tally(len(shown), total))
        for kind, shown, total in zip(_KINDS, hits, found.totals, strict=True)
    )
    lists = tuple(_table(snapshot, kind, shown, text) for kind, shown in zip(_KINDS, hits, strict=True))
    return View(
        title=f"Search: {text}" if text else "Search",
        parts=(*lists, *tallies),
        context={
            "headings": tables.headings(COLUMNS[1:], ""),
            "text": text,
            "kinds": tuple((kind, f"{kind}-rows", f"tally-{kind}") for kind in _KINDS),
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, every),
        total=sum(found.totals),
        elsewhere=_address((snapshot.cluster, found.only)) if found.only else "",
    )


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """The text that is looked for, and nothing else."""
    try:
        given = parse_qs(raw, max_num_fields=_MOST_FIELDS, errors="replace")
    except ValueError:
        return "", (f"The address has more than {_MOST_FIELDS} parameters; none of them is read.",)
    notes = tuple(
        f"“{name[:_LONGEST]}” is no parameter of this page." for name in given if name not in _KNOWN
    )
    text = given.get("q", [""])[-1].strip()[:_LONGEST]
    return urlencode({"q": text}, errors="surrogatepass") if text else "", notes


def _text(query: str) -> str:
    return parse_qs(query, errors="surrogatepass").get("q", [""])[0]


def _tally(shown: int, total: int) -> str:
    if shown < total:
        return f"first {shown} of {cells.grouped(total)}"
    return cells.grouped(total)


def _table(snapshot: Snapshot, kind: str, hits: tuple[Hit, ...], text: str) -> Table:
    rows = ((links.element_id(hit.kind, hit.name), hit.status, (snapshot.cluster, hit)) for hit in hits)
    return tables.part(f"{kind}-rows", COLUMNS[1:], rows, _empty(snapshot, kind, text))


def _empty(snapshot: Snapshot, kind: str, text: str) -> Empty:
    if not snapshot.state.loaded:
        return Empty(f"{kind.capitalize()} are not known before the first load from ZooKeeper.")
    if not text:
        return Empty("Nothing is looked for yet: type a part of a name above.")
    where = "id or host" if kind == "brokers" else "name"
    return Empty(f"No {kind[:-1]} has “{text}” in its {where}.")


def _address(one: Entry) -> str:
    cluster, hit = one
    return links.cluster(cluster, f"{hit.kind}s/{links.segment(hit.name)}/")


COLUMNS: tuple[Column[Entry], ...] = (
    Column("kind", "Kind", lambda one: cells.Text(one[1].kind)),
    Column("status", "Status", lambda one: cells.Status(one[1].status, one[1].words)),
    Column("name", "Name", lambda one: cells.Name(one[1].name, _address(one))),
    Column("about", "About", lambda one: cells.Text(one[1].about)),
)

PAGE = Page(
    name="search",
    route="search/",
    template="overview/search.html",
    look=look,
    areas=frozenset({"topics", "groups", "brokers"}),
    canonical=canonical,
    shape=shapes.Shape((COLUMNS,), parameters={"q": shapes.TEXT}),
)
