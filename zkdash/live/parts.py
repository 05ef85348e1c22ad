"""What of a page is live: tables of rows and blocks, as plain values.

A part is compared by its values, so it holds no relative time, no token and nothing per user
(the browser words ages from timestamps). `web` renders them: blocks by the template that they name.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec


class PageKey(NamedTuple):
    """What makes two sockets see the same page: one render serves them all.

    `cluster` is None for pages over all clusters. `args` are the page's path arguments, `query` the canonical
    query string, `rights` the name of what the visitor may see. `only` names the live parts that are shown
    where not all of the page is: what is not named is not sent either.
    """

    cluster: str | None
    page: str
    args: tuple[str, ...] = ()
    query: str = ""
    rights: str = "viewer"
    only: tuple[str, ...] = ()


class Row(msgspec.Struct, frozen=True, weakref=True):
    """One table row: its element id (unique in the page, safe in a selector) and the values it shows."""

    id: str
    values: Any


class Table(msgspec.Struct, frozen=True):
    """A live <tbody>: rendered whole when its rows came, went or moved, else row by row.

    `empty` is what it shows where it has none.
    """

    id: str
    rows: tuple[Row, ...]
    empty: Any = None


class Block(msgspec.Struct, frozen=True):
    """A live element that is swapped whole: `template` renders it, with its id, from `block`.

    Of one that `is_kept` the HTML is kept by its values, which many pages show, and which are the same for
    long: they are hashable, and hold text that is yet to be escaped, and no HTML.
    """

    id: str
    template: str
    values: Any
    is_kept: bool = False


class Text(msgspec.Struct, frozen=True):
    """A live piece of running text."""

    id: str
    text: str


Part = Table | Block | Text


class Rendered(msgspec.Struct, frozen=True):
    """The live parts of one page as values, and the revision that they were all read from.

    `zxid` and `as_of` (epoch seconds) say up to when that revision is true; None where nothing is known yet.
    """

    parts: tuple[Part, ...]
    revision: int
    zxid: int | None
    as_of: float | None
