"""The live parts that every page of a cluster has: the entries of the side bar, and the banner."""

from __future__ import annotations

from itertools import groupby

import msgspec

from zkdash.kafka.values import Layout
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import banners, cells, links
from zkdash.web.frame.page import Badge, Page

_NO_BADGE = Badge(0)


class Entry(msgspec.Struct, frozen=True):
    """One link of the side bar.

    `icon` is the name of its page, which frame/icons.html has a picture of. `count` is "" where there is
    nothing to count, `severity` a word where the count asks to be looked at. `current` is what `aria-current`
    takes: "page", "true" for the list of what is looked at, else "".
    """

    label: str
    href: str
    icon: str
    letter: str
    count: str
    severity: str
    current: str


class Section(msgspec.Struct, frozen=True):
    """Entries under one heading; "" is that of those on top."""

    heading: str
    entries: tuple[Entry, ...]


class Crumb(msgspec.Struct, frozen=True):
    """A step of the way to a page; `href` is "" where it leads nowhere."""

    text: str
    href: str


class Chrome(msgspec.Struct, frozen=True):
    """What the live chrome shows, apart from which page it is on: equal values need no new rendering."""

    badges: tuple[Badge, ...]
    layout: Layout
    banner: Block


# The chrome of each cluster's newest snapshot: asked for by every page at every revision.
_latest: dict[str, tuple[Snapshot, Chrome]] = {}
# Side bars by what they show: the numbers in them seldom change from one snapshot to the next.
_navs: dict[tuple[tuple[Badge, ...], Layout, str, str], Block] = {}
_NAVS = 512


def of(snapshot: Snapshot, pages: tuple[Page, ...]) -> Chrome:
    """The chrome of a snapshot, made once."""
    latest = _latest.get(snapshot.cluster)
    if latest is not None and latest[0] is snapshot:
        return latest[1]
    badges = tuple(page.badge(snapshot) if page.badge else _NO_BADGE for page in pages if page.label)
    chrome = Chrome(badges=badges, layout=snapshot.state.layout, banner=banners.block(snapshot))
    _latest[snapshot.cluster] = (snapshot, chrome)
    return chrome


def parts(chrome: Chrome, key: PageKey, pages: tuple[Page, ...]) -> tuple[Block, Block]:
    """The side bar's entries and the banner of the page `key`."""
    nav = (chrome.badges, chrome.layout, str(key.cluster), key.page)
    block = _navs.get(nav)
    if block is None:
        if len(_navs) >= _NAVS:
            _navs.clear()
        block = _navs[nav] = _nav(chrome, key, pages)
    return block, chrome.banner


def _nav(chrome: Chrome, key: PageKey, pages: tuple[Page, ...]) -> Block:
    labelled = [page for page in pages if page.label]
    list_page = _list_page(key, pages)
    sections = tuple(
        Section(
            heading,
            tuple(_entry(page, badge, key, list_page) for page, badge in pairs),
        )
        for heading, pairs in groupby(
            zip(labelled, chrome.badges, strict=True), key=lambda pair: pair[0].section
        )
    )
    layout = chrome.layout.value if chrome.layout in {Layout.V07, Layout.MIXED} else ""
    return Block(id="nav", template="frame/nav.html", values=(sections, layout), is_kept=True)


def _entry(page: Page, badge: Badge, key: PageKey, list_page: Page | None) -> Entry:
    return Entry(
        label=page.label,
        href=_href(key, page),
        icon=page.name,
        letter=page.letter,
        count=cells.grouped(badge.number) if badge.number else "",
        severity=badge.severity.value if badge.severity else "",
        current="page" if page.name == key.page else "true" if page is list_page else "",
    )


def trail(key: PageKey, title: str, pages: tuple[Page, ...]) -> tuple[Crumb, ...]:
    """The way to a page: its section, the list that it is of, and its own title."""
    own = next((page for page in pages if page.name == key.page and page.label), None)
    if own is not None:
        section = (Crumb(own.section, ""),) if own.section else ()
        return (*section, Crumb(own.label, ""))
    list_page = _list_page(key, pages)
    listed = (Crumb(list_page.label, _href(key, list_page)),) if list_page else ()
    return (*listed, Crumb(title, ""))


def _list_page(key: PageKey, pages: tuple[Page, ...]) -> Page | None:
    """The page whose address the address of this one goes on from, where the side bar has it."""
    route = next((page.route for page in pages if page.name == key.page), "")
    return next(
        (
            page
            for page in pages
            if page.label and page.route and route.startswith(page.route) and page.name != key.page
        ),
        None,
    )


def _href(key: PageKey, page: Page) -> str:
    return links.cluster(str(key.cluster), page.route.partition("<")[0])
