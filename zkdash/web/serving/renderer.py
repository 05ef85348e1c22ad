"""Live parts as values and as HTML: what the hub asks of the pages.

Everything but `is_affected` runs on the hub's render threads, or in the thread of a request. The database is
read in the latter alone (`whole`).
"""

from __future__ import annotations

from collections import OrderedDict

import msgspec
from django.template import loader

from zkdash import live
from zkdash.live.parts import Block, PageKey, Part, Rendered, Row, Table, Text
from zkdash.live.snapshot import ChangedAreas, Snapshot
from zkdash.live.sockets.pace import breathe
from zkdash.web import pages
from zkdash.web.frame import table_markup
from zkdash.web.frame.page import View
from zkdash.web.overview import clusters
from zkdash.web.serving import chrome
from zkdash.web.serving.kept_markup import KeptMarkup

# Pages whose chrome is remembered; one that was forgotten is only rendered once more than needed.
_REMEMBERED = 10_000
_kept_markup = KeptMarkup(most_characters=8_000_000)


class Renderer:
    """The renderer of one process."""

    def __init__(self) -> None:
        self._shown: OrderedDict[PageKey, tuple[chrome.Chrome, object]] = OrderedDict()

    def parts(self, key: PageKey) -> Rendered:
        """The live parts of a page, all read from one snapshot."""
        if key.cluster is None:
            return clusters.rendered(key.args)
        snapshot = live.current(key.cluster)
        if snapshot is None:
            return Rendered(parts=(), revision=0, zxid=None, as_of=None)
        self._remember(key, _render_key(snapshot, key))
        return rendered(look(snapshot, key), snapshot)

    def html(self, part: Part, *, oob: bool) -> str:
        return html(part, oob=oob)

    def row(self, row: Row, *, oob: bool) -> str:
        breathe()
        return _wrapped(_sendable(table_markup.row(row, oob=oob)), oob=oob)

    def keep_alive(self, key: PageKey) -> None:
        """Have the brokers asked what a page shows of them, as long as somebody looks at it."""
        snapshot = live.current(key.cluster) if key.cluster is not None else None
        if snapshot is not None:
            _want(snapshot, key)

    def is_affected(self, key: PageKey, cluster: str, touched: ChangedAreas) -> bool:
        """Whether a revision may show on a page: by what the page says, or in the counts above it."""
        if key.cluster is None:
            return cluster in key.args
        if key.cluster != cluster:
            return False
        if touched.everything or "session" in touched.areas or pages.BY_NAME[key.page].shows(key, touched):
            return True
        snapshot = live.current(cluster)
        return snapshot is not None and self._shown.get(key) != _render_key(snapshot, key)

    def forget(self, key: PageKey) -> None:
        """Nobody looks at a page any more."""
        self._shown.pop(key, None)

    def _remember(self, key: PageKey, shown: tuple[chrome.Chrome, object]) -> None:
        self._shown[key] = shown
        self._shown.move_to_end(key)
        if len(self._shown) > _REMEMBERED:
            self._shown.popitem(last=False)


def _render_key(snapshot: Snapshot, key: PageKey) -> tuple[chrome.Chrome, object]:
    """What of a page is compared and not told: its chrome, and what the page itself names."""
    page = pages.BY_NAME[key.page]
    return chrome.of(snapshot, pages.PAGES), page.render_key(snapshot, key) if page.render_key else None


def look(snapshot: Snapshot, key: PageKey, *, whole: bool = False) -> View:
    """A page of a cluster, with the live chrome in front of its own parts; `whole` may read the database."""
    page = pages.BY_NAME[key.page]
    _want(snapshot, key)
    view = page.whole(snapshot, key) if whole and page.whole else page.look(snapshot, key)
    above = chrome.parts(chrome.of(snapshot, pages.PAGES), key, pages.PAGES)
    parts = (*above, *view.parts)
    return msgspec.structs.replace(
        view, parts=tuple(part for part in parts if not key.only or part.id in key.only)
    )


def _want(snapshot: Snapshot, key: PageKey) -> None:
    page = pages.BY_NAME[key.page]
    if page.keep_alive is not None:
        page.keep_alive(key)
    if page.lists_kafka_groups:
        live.want_listing(snapshot.cluster)
    if page.broker_demand is not None:
        topics, groups = page.broker_demand(snapshot, key)
        live.want(snapshot.cluster, topics, groups)


def rendered(view: View, snapshot: Snapshot) -> Rendered:
    return Rendered(
        parts=view.parts, revision=snapshot.revision, zxid=snapshot.state.zxid, as_of=snapshot.as_of
    )


def html(part: Part, *, oob: bool = False) -> str:
    """A whole part. In a frame a table's part stands in a template, or the parser would drop it."""
    if isinstance(part, Table):
        return _wrapped(_sendable(table_markup.body(part, oob=oob)), oob=oob)
    if isinstance(part, Text):
        return _sendable(table_markup.text(part, oob=oob))
    if part.is_kept:
        return _kept_markup.get(part, oob, _block)
    return _block(part, oob)


def _block(part: Block, oob: bool) -> str:
    return _sendable(loader.get_template(part.template).render({"block": part, "oob": oob}).strip())


def _wrapped(markup: str, *, oob: bool) -> str:
    return f"<template>{markup}</template>" if oob else markup


def _sendable(markup: str) -> str:
    """Lone surrogates cannot be sent as UTF-8, so they are written out."""
    return markup.encode("utf-8", "backslashreplace").decode()
