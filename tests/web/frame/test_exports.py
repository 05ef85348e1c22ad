from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.web.frame import exports
from zkdash.web.frame.page import View


def _rows(*values: object) -> list[list[str]]:
    view = View(title="", parts=(), fields=("a",), records=lambda: [{"a": value} for value in values])
    text = exports.as_csv(view, "demo").content.decode()
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "＝1"])
def test_a_spreadsheet_runs_nothing_of_ours(text: str) -> None:
    assert _rows(text)[1] == ["'" + text]


def test_numbers_lists_and_missing_values_are_plain() -> None:
    assert _rows(-1, [1, 2], None, "a,b\n") == [["a"], ["-1"], ["1 2"], [""], ["a,b\n"]]


@given(st.text())
def test_any_text_comes_back_as_it_was_or_quoted(text: str) -> None:
    ((_, *_), (found,)) = [row or [""] for row in _rows("x" + text)]
    assert found.replace("\r\n", "\n") == ("x" + text).replace("\r\n", "\n")
