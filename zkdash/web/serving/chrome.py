"""The live parts that every page of a cluster has: the navigation with its counts, and the banner."""

from __future__ import annotations

import msgspec

from zkdash.kafka.values import Layout
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import banners, cells, links
from zkdash.web.frame.page import Page


class Entry(msgspec.Struct, frozen=True):
    """One link of the navigation; `count` is "" where there is nothing to count."""

    label: str
    href: str
    letter: str
    count: str
    is_current: bool


class Chrome(msgspec.Struct, frozen=True):
    """What the live chrome shows, apart from which page it is on: equal values need no new rendering."""

    counts: tuple[int, ...]
    layout: Layout
    banner: Block


# The chrome of each cluster's newest snapshot: asked for by every page at every revision.
_latest: dict[str, tuple[Snapshot, Chrome]] = {}


def of(snapshot: Snapshot, pages: tuple[Page, ...]) -> Chrome:
    """The chrome of a snapshot, made once."""
    known = _latest.get(snapshot.cluster)
    if known is not None and known[0] is snapshot:
        return known[1]
    counts = tuple(page.count(snapshot) if page.count else 0 for page in pages if page.label)
    chrome = Chrome(counts=counts, layout=snapshot.state.layout, banner=banners.block(snapshot))
    _latest[snapshot.cluster] = (snapshot, chrome)
    return chrome


def parts(chrome: Chrome, key: PageKey, pages: tuple[Page, ...]) -> tuple[Block, Block]:
    """The navigation and the banner of the page `key`."""
    named = [page for page in pages if page.label]
    entries = tuple(
        Entry(
            label=page.label,
            href=links.cluster(str(key.cluster), page.route.partition("<")[0]),
            letter=page.letter,
            count=cells.grouped(count) if count else "",
            is_current=page.name == key.page,
        )
        for page, count in zip(named, chrome.counts, strict=True)
    )
    layout = chrome.layout.value if chrome.layout in {Layout.V07, Layout.MIXED} else ""
    return Block(id="nav", template="frame/nav.html", values=(entries, layout)), chrome.banner
