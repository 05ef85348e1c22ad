"""Bookmarks: the moments, and the times from one to another, that people keep of a cluster."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from zkdash.access.models import Bookmark
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.bookmarks.places import MOST_NOTE
from zkdash.web.frame import cells, links, row_selection, shapes, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.parameters import Parameters, of_canonical
from zkdash.web.frame.tables import Column

NAME: Final = "bookmarks"
ROUTE: Final = "bookmarks/"
# What the form is filled in with: `from` and `at` would ask for the page as it was.
SINCE: Final = "since"
UNTIL: Final = "until"
_PARAMETERS: Final = Parameters(frozenset({SINCE, UNTIL}))


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """All of them, the newest first; their number is bounded when they are made."""
    given = of_canonical(key.query)
    listed = list(Bookmark.objects.filter(cluster=snapshot.cluster).order_by("-id"))
    return View(
        title="Bookmarks",
        parts=(),
        context={
            "listed": [
                (bookmark, [column.cell(bookmark) for column in COLUMNS if column.is_shown])
                for bookmark in listed
            ],
            "headings": tables.headings([column for column in COLUMNS if column.is_shown], ""),
            "acts": row_selection.may_act(key),
            "action": links.cluster(snapshot.cluster, f"{ROUTE}keep/"),
            "since": given.get(SINCE, ""),
            "until": given.get(UNTIL, ""),
            "most": MOST_NOTE,
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, listed),
        total=len(listed),
        version=[(bookmark.pk, bookmark.bytes) for bookmark in listed],
    )


def look(_snapshot: Snapshot, _key: PageKey) -> View:
    """Nothing of it is live."""
    return View(title="Bookmarks", parts=())


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """The query with what is not understood left out, and a sentence for each of these."""
    given = _PARAMETERS.read(raw)
    pairs = [(name, text) for name in (SINCE, UNTIL) if (text := given.last(name))]
    return urlencode(pairs, errors="surrogatepass"), tuple(given.notes)


def _address(bookmark: Bookmark) -> str:
    """What it leads to: the cluster as it was then, or what differs."""
    at = links.at_zxid(bookmark.zxid)
    if bookmark.from_zxid is None:
        return links.was(bookmark.cluster, at)
    return links.differences(bookmark.cluster, links.at_zxid(bookmark.from_zxid), at)


def _since(bookmark: Bookmark) -> Cell:
    if bookmark.from_ms is None or bookmark.from_zxid is None:
        return cells.absent("a single moment is kept")
    return cells.Moment(bookmark.from_ms)


def _zxid(zxid: int | None, cluster: str) -> Cell:
    if zxid is None:
        return cells.absent("a single moment is kept")
    return cells.Id(zxid, href=links.was(cluster, links.at_zxid(zxid)))


def _bytes(bookmark: Bookmark) -> Cell:
    if bookmark.bytes is None:
        return cells.unknown("its tables were not written to their end")
    return cells.Number(bookmark.bytes)


COLUMNS: tuple[Column[Bookmark], ...] = (
    Column("id", "Bookmark", lambda each: cells.Id(each.pk), is_number=True, is_shown=False),
    Column("note", "Note", lambda each: cells.Name(each.note, _address(each))),
    Column("from", "From", _since),
    Column("from_zxid", "From zxid", lambda each: _zxid(each.from_zxid, each.cluster), is_number=True),
    Column("at", "At", lambda each: cells.Moment(each.time_ms)),
    Column("zxid", "zxid", lambda each: _zxid(each.zxid, each.cluster), is_number=True),
    Column("made_by", "Kept by", lambda each: cells.Text(each.made_by)),
    Column("made", "Kept", lambda each: cells.Moment(int(each.made_at.timestamp() * 1000))),
    Column("bytes", "Bytes", _bytes, is_number=True),
    Column("address", "Address", lambda each: cells.Text(_address(each)), is_shown=False),
)

PAGE = Page(
    name=NAME,
    route=ROUTE,
    template="bookmarks/bookmarks.html",
    look=look,
    whole=whole,
    canonical=canonical,
    shape=shapes.Shape((COLUMNS,), parameters={SINCE: shapes.TEXT, UNTIL: shapes.TEXT}),
    section="History",
    label="Bookmarks",
    no_past="Bookmarks are those of now: each of them leads to a moment of the past.",
)
