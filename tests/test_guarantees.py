"""docs/guarantees.md names, for every promise, tests that there are, and says what these try."""

from __future__ import annotations

import ast
import functools
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import promises
from tests.faults import rounds

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "guarantees.md").read_text()
# A bound is added by a row: they are only to be numbered.
BOUNDS = tuple(f"B{number}" for number, _ in enumerate(re.findall(r"^\| B\d+ ", PAGE, re.MULTILINE), 1))
PROMISES = (
    *(f"M{number}" for number in range(1, 6)),
    *(f"A{number}" for number in range(1, 9)),
    "L1",
    *(f"S{number}" for number in range(1, 10)),
    *(f"P{number}" for number in range(1, 11)),
    *BOUNDS,
    "W1",
    "W2",
    "O1",
    "O2",
    "O3",
)
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))


def _rows() -> dict[str, list[str]]:
    """The cells of each promise's row by its id."""
    lines = [line for line in PAGE.splitlines() if re.match(r"\| [A-Z]\d+ ", line)]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {row[0]: row for row in cells}


@functools.cache
def _tests(path: str) -> frozenset[str]:
    """The names of the test functions of a module, those of its classes too."""
    return frozenset(
        node.name
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    )


def test_every_promise_has_a_row_of_its_own_with_a_test() -> None:
    rows = _rows()
    assert BOUNDS
    assert tuple(rows) == PROMISES
    assert len(re.findall(r"^\| [A-Z]\d+ ", PAGE, re.MULTILINE)) == len(PROMISES)
    for promise, cells in rows.items():
        assert len(cells) == 5, promise
        assert all(cells), promise
        assert "`tests/" in cells[2] or "the same" in cells[2], promise


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_every_test_that_is_named_is_there(path: str, name: str) -> None:
    assert (ROOT / path).is_file(), path
    assert name in _tests(path)


@pytest.mark.parametrize("part", rounds.PARTS)
def test_what_is_done_in_full_is_named(part: str) -> None:
    for test in rounds.PARTS[part]:
        path, _, name = test.partition("::")
        assert any(path == one and name in {"", other} for one, other in NAMED), test


def test_a_page_that_says_what_is_not_tried_is_told_and_written_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "guarantees.md"
    page.write_text(PAGE.replace("| the same |", "| 1 000 in full |", 1))
    assert promises.main(["--check"], page) == 1
    assert "run `python -m tests.promises`\n| " in capsys.readouterr().out
    assert page.read_text() != PAGE
    assert promises.main([], page) == 0
    assert page.read_text() == PAGE


@pytest.mark.parametrize("promise", PROMISES)
def test_each_number_is_one_that_the_tests_of_the_promise_use(promise: str) -> None:
    told = promises.declared()[promise]
    references = promises.references(told)
    words = told["tried"] + told.get("in_full", "")
    assert not re.search(r"(?<![A-Z])\d", words)  # but "as M1"
    assert set(re.findall(r"{(\w+)}", words)) == references.keys()
    named = {path for path, _ in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", _rows()[promise][2])}
    for reference in [one for where in references.values() for one in where]:
        path, _, name = reference.rpartition(" ")[2].partition("::")
        assert any(name in _used(one) for one in named) if name.isupper() else path in named, reference


def _used(path: str) -> set[str]:
    """The names that a module reads, of its own or of a module that it imports."""
    nodes = list(ast.walk(ast.parse((ROOT / path).read_text())))
    names = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    return names | {one.attr for one in nodes if isinstance(one, ast.Attribute)}


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("other", range(2))
@settings(max_examples=7, suppress_health_check=[HealthCheck.differing_executors])
@given(st.none())
def test_cases_and_examples_are_counted(seed: int, other: int, nothing: None) -> None:
    here = "tests/test_guarantees.py::test_cases_and_examples_are_counted"
    assert promises.number(f"cases {here}") == 6
    assert promises.number(f"cases seed {here}") == 3
    assert promises.number(f"examples {here}") == 7


def test_constants_are_numbers_or_counted() -> None:
    assert promises.number("tests/test_guarantees.py::PROMISES") == len(PROMISES)
    assert promises.number("tests/faults/test_kills.py::KILLS") > 1
    for wrong in (
        "tests/test_guarantees.py::NOTHING",
        "tests/test_guarantees.py::ROOT",
        "cases tests/test_guarantees.py::test_constants_are_numbers_or_counted",
        "cases wrong tests/test_guarantees.py::test_cases_and_examples_are_counted",
        "examples tests/test_guarantees.py::test_constants_are_numbers_or_counted",
        "how many tests/test_guarantees.py::PROMISES",
    ):
        with pytest.raises(LookupError):
            promises.number(wrong)


def test_nothing_that_is_named_is_left_out_by_a_marker() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["markers"]
    assert {one.partition(":")[0] for one in known} == {"spark", "zk", "kafka", "browser"}
    for path in {path for path, _ in NAMED}:
        assert not re.search(r"pytest\.(mark\.)?(skip|xfail|skipif)\b", (ROOT / path).read_text()), path
