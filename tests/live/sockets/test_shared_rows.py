"""Rows of live pages are kept once, for as long as a page holds them."""

from __future__ import annotations

import gc
from typing import Any

from zkdash.live.parts import Block, Rendered, Row, Table
from zkdash.live.sockets.shared_rows import SharedRows


def rendered(*values: Any, part: str = "rows") -> Rendered:
    rows = tuple(Row(f"row-{number}", value) for number, value in enumerate(values))
    parts = (Table(part, rows), Block("pager", "pager.html", ("1", "2")))
    return Rendered(parts, revision=7, zxid=None, as_of=None)


def rows(page: Rendered) -> tuple[Row, ...]:
    table = page.parts[0]
    assert isinstance(table, Table)
    return table.rows


def test_equal_rows_of_two_pages_are_one_object_and_others_are_not() -> None:
    shared = SharedRows()
    one, other = rendered("a", "b"), rendered("a", "c", part="others")
    first, second = shared.of(one), shared.of(other)
    assert (first, second) == (one, other)
    assert rows(first)[0] is rows(second)[0]
    assert rows(first)[1] != rows(second)[1]


def test_a_page_that_is_rendered_again_keeps_what_did_not_change() -> None:
    shared = SharedRows()
    before, after = shared.of(rendered("a", "b")), shared.of(rendered("a", "B"))
    assert [was is now for was, now in zip(rows(before), rows(after), strict=True)] == [True, False]


def test_a_row_is_gone_with_its_last_page() -> None:
    shared = SharedRows()
    kept, gone = shared.of(rendered("a")), shared.of(rendered("a", "b"))
    assert len(shared) == 2
    del gone
    gc.collect()
    assert (len(shared), rows(kept)[0].values) == (1, "a")


def test_what_has_no_hash_is_not_shared() -> None:
    shared = SharedRows()
    first, second = shared.of(rendered(["a"])), shared.of(rendered(["a"]))
    assert first == second
    assert rows(first)[0] is not rows(second)[0]
    assert len(shared) == 0
