"""What of a page changed between two renderings, and how changes add up."""

from __future__ import annotations

import itertools
import string

from hypothesis import given
from hypothesis import strategies as st

from zkdash.live.parts import Block, Rendered, Row, Table
from zkdash.live.sockets import delta

NAMES = st.lists(st.sampled_from(string.ascii_lowercase), unique=True, max_size=6)


def table(rows: dict[str, object], empty: object = None) -> Table:
    return Table("t", tuple(Row(k, v) for k, v in rows.items()), empty)


def page(*parts: Table | Block, revision: int = 1) -> Rendered:
    return Rendered(parts, revision, None, None)


def row_html(row: Row) -> str:
    return f"<{row.id}={row.values}>"


def test_an_equal_part_is_kept_as_the_same_object_and_sends_nothing() -> None:
    before, after = page(table({"a": 1})), page(table({"a": 1}), revision=2)
    found = delta.compare(before, after, row_html)
    assert found.patches == {}
    assert found.rendered.parts[0] is before.parts[0]
    assert found.rendered.revision == 2


def test_only_changed_rows_are_rendered() -> None:
    found = delta.compare(page(table({"a": 1, "b": 2})), page(table({"a": 1, "b": 3})), row_html)
    assert found.patches == {"t": {"b": "<b=3>"}}


def test_rows_that_came_went_or_moved_send_the_whole_table() -> None:
    before = page(table({"a": 1, "b": 2}))
    for rows in ({"a": 1}, {"a": 1, "b": 2, "c": 3}, {"b": 2, "a": 1}, {}):
        assert delta.compare(before, page(table(dict(rows))), row_html).patches == {"t": None}


def test_another_empty_state_sends_the_whole_table() -> None:
    before, after = page(table({}, empty="nothing exists")), page(table({}, empty="nothing matches"))
    assert delta.compare(before, after, row_html).patches == {"t": None}


def test_a_changed_block_is_sent_whole() -> None:
    before, after = page(Block("b", "b.html", 1)), page(Block("b", "b.html", 2))
    assert delta.compare(before, after, row_html).patches == {"b": None}


def test_other_parts_than_before_cannot_be_patched() -> None:
    found = delta.compare(page(Block("b", "b.html", 1)), page(table({})), row_html)
    assert found.restructured
    assert found.patches == {}


def test_too_many_changed_rows_become_the_whole_part() -> None:
    size = delta.MOST_ELEMENTS + 1
    before, after = (page(table({f"r{i}": version for i in range(size)})) for version in (1, 2))
    assert delta.compare(before, after, row_html).patches == {"t": None}


def test_held_rows_that_grow_too_long_become_the_whole_part() -> None:
    long = "x" * (delta.MOST_CHARACTERS // 2 + 1)
    assert delta.merge({"t": {"a": long}}, {"t": {"b": long}}) == {"t": None}


def test_merging_changes_neither_side() -> None:
    held, newer = {"t": {"a": "1"}, "u": None}, {"t": {"a": "2", "b": "3"}, "u": {"x": "1"}, "v": {"y": "1"}}
    assert delta.merge(held, newer) == {"t": {"a": "2", "b": "3"}, "u": None, "v": {"y": "1"}}
    assert held == {"t": {"a": "1"}, "u": None}


@given(st.lists(st.tuples(NAMES, st.integers(0, 3)), min_size=2, max_size=8))
def test_folding_merged_patches_gives_the_last_rendering(steps: list[tuple[list[str], int]]) -> None:
    """However many renderings a slow socket missed, what it gets makes its page the newest one."""
    pages = [page(table({name: (value, name < "m") for name in names})) for names, value in steps]
    held: delta.Patches = {}
    shown = {row.id: row.values for row in pages[0].parts[0].rows}  # type: ignore[union-attr]
    newest: dict[str, str] = {}
    for before, after in itertools.pairwise(pages):
        held = delta.merge(held, delta.compare(before, after, row_html).patches)
    last = pages[-1].parts[0]
    assert isinstance(last, Table)
    if "t" in held:
        patch = held["t"]
        newest = {r.id: row_html(r) for r in last.rows} if patch is None else dict(patch)
    result = {
        row.id: newest.get(row.id, f"<{row.id}={shown[row.id]}>" if row.id in shown else "")
        for row in last.rows
    }
    assert result == {row.id: row_html(row) for row in last.rows}
