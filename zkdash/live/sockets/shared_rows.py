"""Rows that several pages show are kept once: pages by different filters show mostly the same ones."""

from __future__ import annotations

from weakref import WeakKeyDictionary, ref

import msgspec

from zkdash.live.parts import Part, Rendered, Row, Table


class SharedRows:
    """The rows of all live pages of a process, each for as long as a page holds it.

    Used by several threads without a lock, for which they would queue row by row: where two of them put in
    equal rows at once, these are two objects, which is all that happens.
    """

    def __init__(self) -> None:
        self._rows: WeakKeyDictionary[Row, ref[Row]] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self._rows)

    def of(self, rendered: Rendered) -> Rendered:
        """The same rendering, with the rows of another page, or of this one before, where they are equal."""
        parts = tuple(self._part(part) for part in rendered.parts)
        return msgspec.structs.replace(rendered, parts=parts)

    def _part(self, part: Part) -> Part:
        if not isinstance(part, Table):
            return part
        return msgspec.structs.replace(part, rows=tuple(self._row(row) for row in part.rows))

    def _row(self, row: Row) -> Row:
        try:
            kept = self._rows.get(row)
            shared = kept() if kept is not None else None
            if shared is not None:
                return shared
            self._rows[row] = ref(row)
        except TypeError:
            pass  # it holds something that has no hash, and stays the page's own
        return row
