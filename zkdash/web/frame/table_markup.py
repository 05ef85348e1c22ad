"""Live tables as HTML. Written out here and not in a template: a page has some hundreds of cells."""

from __future__ import annotations

from zkdash.live.parts import Row, Table
from zkdash.live.sockets.pace import breathing
from zkdash.web.frame.markup import escape

_OOB = ' hx-swap-oob="true"'


def row(one: Row, *, oob: bool = False) -> str:
    """A `<tr>`; `oob` where it stands alone in a frame."""
    line = one.values
    cells = "".join([cell.html() for cell in line.cells])
    return (
        f'<tr id="{one.id}" tabindex="-1" data-severity="{line.severity.value}"{_OOB if oob else ""}>'
        f"{cells}</tr>"
    )


def body(table: Table, *, oob: bool = False) -> str:
    """The `<tbody>`: the rows, or why there is none."""
    rows = "".join([f"{row(one)}\n" for one in breathing(table.rows)]) or _empty(table)
    return f'<tbody id="{table.id}" data-live{_OOB if oob else ""}>\n{rows}</tbody>'


def _empty(table: Table) -> str:
    empty, width = table.empty
    sentence, link = "", ""
    if empty is not None:
        sentence = escape(empty.sentence)
        link = f'\n<a href="{escape(empty.href)}">{escape(empty.link)}</a>' if empty.href else ""
    return f'<tr id="{table.id}-empty" class="empty">\n<td colspan="{width}">{sentence}{link}</td>\n</tr>\n'
