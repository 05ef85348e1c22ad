"""Tables and live text as HTML. Written out here and not in templates: a page has some hundreds of pieces."""

from __future__ import annotations

from collections.abc import Iterable

from zkdash.live.parts import Row, Table, Text
from zkdash.live.sockets.pace import breathing
from zkdash.web.frame.markup import escape
from zkdash.web.frame.tables import Heading

_OOB = ' hx-swap-oob="true"'


def row(shown: Row, *, oob: bool = False) -> str:
    """A `<tr>`; `oob` where it stands alone in a frame."""
    line = shown.values
    cells = "".join([cell.html() for cell in line.cells])
    return (
        f'<tr id="{shown.id}" tabindex="-1" data-severity="{line.severity.value}"{_OOB if oob else ""}>'
        f"{cells}</tr>"
    )


def body(table: Table, *, oob: bool = False) -> str:
    """The `<tbody>`: the rows, or why there is none."""
    rows = "".join([f"{row(shown)}\n" for shown in breathing(table.rows)]) or _empty(table)
    return f'<tbody id="{table.id}" data-live{_OOB if oob else ""}>\n{rows}</tbody>'


def text(part: Text, *, oob: bool = False) -> str:
    return f'<span id="{part.id}" data-live{_OOB if oob else ""}>{escape(part.text)}</span>'


def head(headings: Iterable[Heading]) -> str:
    """The `<thead>`."""
    shown = "".join([f"\n{_heading(heading)}\n" for heading in headings])
    return f"<thead>\n<tr>\n{shown}\n</tr>\n</thead>"


def sheet(
    label: str,
    headings: Iterable[Heading],
    bodies: Iterable[str],
    *,
    scrolls: bool = False,
    wide: bool = False,
) -> str:
    """A whole table in its frame, which the keyboard can scroll too.

    `bodies` are HTML. One that `scrolls` may be wider than the page at any width; one that is `wide` takes
    all of the page's.
    """
    name, frame, room = escape(label), " wide" if scrolls else "", ' class="wide"' if wide else ""
    return (
        f'<div class="sheet{frame}" tabindex="0" role="region" aria-label="{name}, table">'
        f'<table{room} aria-label="{name}">'
        f"{head(headings)}{''.join(bodies)}</table></div>"
    )


def _heading(heading: Heading) -> str:
    shown = escape(heading.text)
    if heading.href:
        arrow = f'&nbsp;<span aria-hidden="true">{heading.arrow}</span>' if heading.arrow else ""
        shown = f'<a href="{escape(heading.href)}">{shown}{arrow}</a>'
    quiet = " data-quiet" if heading.is_quiet else ""
    kind = ' class="num"' if heading.is_number else ""
    sort = f' aria-sort="{heading.aria}"' if heading.aria else ""
    title = f' title="{escape(heading.title)}"' if heading.title else ""
    return f'<th scope="col"{quiet}{kind}{sort}{title}>{shown}</th>'


def _empty(table: Table) -> str:
    empty, width = table.empty
    sentence, link = "", ""
    if empty is not None:
        sentence = escape(empty.sentence)
        link = f'\n<a href="{escape(empty.href)}">{escape(empty.link)}</a>' if empty.href else ""
    return f'<tr id="{table.id}-empty" class="empty">\n<td colspan="{width}">{sentence}{link}</td>\n</tr>\n'
