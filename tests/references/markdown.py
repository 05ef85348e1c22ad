"""Tables of Markdown, as the pages of reference have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

UNKNOWN = "–"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The table, with a line break behind it; "" of no rows. An empty cell is a dash."""
    lines = ["| " + " | ".join(_cell(text) for text in row) + " |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(headings)} |", "|---" * len(headings) + "|", *lines, ""])


def code(text: str) -> str:
    """As it is typed; "" of nothing."""
    return f"`{text}`" if text else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|") or UNKNOWN
