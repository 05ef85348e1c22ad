"""The difference between two renderings of a page, and how differences add up. Pure: no loop, no threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from zkdash.live.parts import Part, Rendered, Row, Table

# Over this many elements, or characters of HTML, a part is sent whole instead.
MOST_ELEMENTS = 200
MOST_CHARACTERS = 256 * 1024

# What is to be sent of one part: None for the whole of it, else row id -> newest HTML.
Patch = Mapping[str, str] | None
# Part id -> patch. Shared between sockets, therefore never changed in place.
Patches = Mapping[str, Patch]

RowHtml = Callable[[Row], str]


class Delta(NamedTuple):
    """What one rendering changed: `rendered` reuses the earlier part objects that are equal.

    `restructured` is True where the page has other parts than before: no patch can tell that.
    """

    rendered: Rendered
    patches: Patches
    restructured: bool = False


def compare(before: Rendered, after: Rendered, row_html: RowHtml) -> Delta:
    """Find what changed, rendering only changed rows."""
    parts_before = {part.id: part for part in before.parts}
    if list(parts_before) != [part.id for part in after.parts]:
        return Delta(after, {}, restructured=True)
    patches: dict[str, Patch] = {}
    parts: list[Part] = []
    for part in after.parts:
        old = parts_before[part.id]
        if old == part:
            parts.append(old)
            continue
        parts.append(part)
        patches[part.id] = _patch(old, part, row_html)
    return Delta(Rendered(tuple(parts), after.revision, after.zxid, after.as_of), patches)


def _patch(old: Part, new: Part, row_html: RowHtml) -> Patch:
    """Rows one by one where the same rows stand in the same order, else the whole part."""
    if not isinstance(old, Table) or not isinstance(new, Table) or old.empty != new.empty:
        return None
    if len(old.rows) != len(new.rows):
        return None
    changed = []
    for was, row in zip(old.rows, new.rows, strict=True):
        if was.id != row.id:
            return None
        if was is not row and was.values != row.values:
            changed.append(row)
    if len(changed) > MOST_ELEMENTS:
        return None
    return _bounded({row.id: row_html(row) for row in changed})


def merge(older: Patches, newer: Patches) -> Patches:
    """Add newer patches to held ones: the newest HTML of each element wins, nothing is lost."""
    merged: dict[str, Patch] = dict(older)
    for part, patch in newer.items():
        if part not in merged:
            merged[part] = patch
            continue
        earlier = merged[part]
        merged[part] = None if earlier is None or patch is None else _bounded({**earlier, **patch})
    return merged


def everything(rendered: Rendered) -> Patches:
    """All parts whole: for a page whose revision is not known to be this one."""
    return {part.id: None for part in rendered.parts}


def _bounded(rows: dict[str, str]) -> Patch:
    if len(rows) > MOST_ELEMENTS or sum(map(len, rows.values())) > MOST_CHARACTERS:
        return None
    return rows
