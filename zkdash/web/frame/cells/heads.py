"""Cells of what a row is about: its name, its number, its znode's path."""

from __future__ import annotations

from django.utils.safestring import SafeString

from zkdash.web.frame import links
from zkdash.web.frame.cells.cell import Cell
from zkdash.web.frame.markup import format_html


class Name(Cell, frozen=True):
    """The name that the row is about, with its page."""

    text: str
    href: str

    @property
    def plain(self) -> str:
        return self.text

    def html(self) -> SafeString:
        return format_html(
            '<th scope="row" class="name"><a href="{}"><bdi>{}</bdi></a></th>', self.href, self.text
        )


class RowName(Cell, frozen=True):
    """The name that the row is about, which has no page of its own."""

    text: str

    @property
    def plain(self) -> str:
        return self.text

    def html(self) -> SafeString:
        return format_html('<th scope="row" class="name"><bdi>{}</bdi></th>', self.text)


class Head(Cell, frozen=True):
    """The number that the row is about (a partition, a broker)."""

    number: int

    @property
    def plain(self) -> int:
        return self.number

    def html(self) -> SafeString:
        return format_html('<th scope="row" class="num">{}</th>', self.number)


class Path(Cell, frozen=True):
    """A znode's path, with its copy button; `is_head` where the row is about the znode itself.

    Where its `cluster` is named it leads to the browser.
    """

    path: str
    is_head: bool = False
    cluster: str = ""

    @property
    def plain(self) -> str:
        return self.path

    def html(self) -> SafeString:
        shown = path_html(self.path, links.znode(self.cluster, self.path) if self.cluster else "")
        if self.is_head:
            return format_html('<th scope="row" class="path">{}</th>', shown)
        return format_html('<td class="path">{}</td>', shown)


def path_html(path: str, href: str = "") -> SafeString:
    shown = format_html("<code><bdi>{}</bdi></code>", path)
    return format_html(
        '{} <button type="button" class="copy" data-copy="{}" aria-label="Copy {}">Copy</button>',
        format_html('<a href="{}">{}</a>', href, shown) if href else shown,
        path,
        path,
    )
