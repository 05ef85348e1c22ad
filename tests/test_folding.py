"""The client that folds frames obeys the rules of the page's script."""

from __future__ import annotations

from tests import folding

PAGE = """<!doctype html><html><head><title>x</title></head>
<body>
<div id="socket" ws-connect="/live/?from=ab.7" data-revision="ab.7" data-as-of="1.5" hidden></div>
<p id="freshness">Revision 7</p>
<div id="banner" data-live></div>
<table><tbody id="rows" data-live>
<tr id="r1"><td>one</td></tr>
<tr id="r2"><td>two</td></tr>
</tbody></table></body></html>"""

ROW = '<template><tr id="r1" hx-swap-oob="true"><td>{}</td></tr></template>'
WHOLE = (
    '<template><tbody id="rows" data-live hx-swap-oob="true"><tr id="r2"><td>two</td></tr></tbody></template>'
)


def frame(sent: str, to: int, markup: str = "") -> folding.Frame:
    return folding.read(f'{{"from": {sent}, "to": {to}, "zxid": 1, "as_of": 2.0}}\n{markup}')


def test_a_page_without_frames_equals_itself() -> None:
    assert folding.differences(folding.Folded(PAGE), PAGE.replace("7", "9")) == []


def test_a_row_and_a_block_are_replaced_by_id() -> None:
    page = folding.Folded(PAGE)
    assert page.fold(frame("7", 8, ROW.format("1") + '<div id="banner" hx-swap-oob="true" data-live>!</div>'))
    assert page.revision == 8
    fresh = PAGE.replace("one", "1").replace("data-live></div>", "data-live>!</div>")
    assert folding.differences(page, fresh) == []
    assert len(folding.differences(page, PAGE)) == 2


def test_a_row_that_came_before_the_whole_table_is_gone_with_it() -> None:
    page = folding.Folded(PAGE)
    page.fold(frame("7", 8, ROW.format("1")))
    page.fold(frame("8", 9, WHOLE))
    assert folding.differences(page, PAGE.replace('<tr id="r1"><td>one</td></tr>', "")) == []


def test_a_row_that_came_after_the_whole_table_stays() -> None:
    page = folding.Folded(PAGE)
    page.fold(frame("7", 8, WHOLE.replace("two", "2").replace("r2", "r1")))
    page.fold(frame("8", 9, ROW.format("3")))
    fresh = PAGE.replace("one", "3").replace('<tr id="r2"><td>two</td></tr>', "")
    assert folding.differences(page, fresh) == []


def test_an_empty_frame_moves_the_revision_only() -> None:
    page = folding.Folded(PAGE)
    assert page.fold(frame("7", 12))
    assert page.revision == 12
    assert folding.differences(page, PAGE) == []


def test_a_gap_is_told() -> None:
    page = folding.Folded(PAGE)
    assert not page.fold(frame("8", 9, ROW.format("1")))
    assert page.revision == 7


def test_a_frame_from_nowhere_in_particular_holds_everything() -> None:
    page = folding.Folded(PAGE)
    assert page.fold(frame("null", 9, ROW.format("1")))
    assert page.revision == 9


def test_a_difference_outside_live_parts_is_found() -> None:
    assert folding.differences(folding.Folded(PAGE), PAGE.replace("<table>", "<h1>Else</h1><table>"))
