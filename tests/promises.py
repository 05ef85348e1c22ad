"""What the tests of each promise try, read from the tests: `python -m tests.promises` writes it.

The last two columns of docs/guarantees.md are made of tests/promises.toml and of what is found in the modules
of the tests, by a process that imports them as every run does, and by one that does so with FULL=1. With
`--check` nothing is written, and it ends with 1 where the page says something else (`make check`).
"""

from __future__ import annotations

import functools
import importlib
import json
import math
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sized
from pathlib import Path
from typing import Any, Final

import django

from tests.faults import rounds

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "guarantees.md"
WORDS: Final = frozenset({"tried", "in_full", "not_yet"})
_ROW: Final = re.compile(r"^\| ([A-Z]\d+) \| (.*) \|$", re.MULTILINE)
_REFERENCE: Final = re.compile(r"(?:(cases|examples) (?:(\w+) )?)?(tests/[\w/]+)\.py::(\w+)")
_LIMIT_S: Final = 300


def declared() -> dict[str, dict[str, Any]]:
    """What tests/promises.toml says of each promise."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def references(promise: Mapping[str, Any]) -> dict[str, list[str]]:
    """Where the factors of each of its numbers are found, by the number's name."""
    found = {name: where for name, where in promise.items() if name not in WORDS}
    return {name: where if isinstance(where, list) else [where] for name, where in found.items()}


def written(page: str) -> str:
    """The page with its last two columns as they are true."""
    told, every_run, full = declared(), _numbers(full="0"), _numbers(full="1")

    def row(match: re.Match[str]) -> str:
        name, (says, tests, *_) = match[1], match[2].split(" | ")
        promise = told[name]
        now = promise["tried"].format_map(every_run[name])
        then = promise.get("in_full", promise["tried"]).format_map(full[name])
        if then == now:
            then = "the same"
        elif parts := [f"`ONLY={part}`" for part, some in rounds.PARTS.items() if _names(tests, some)]:
            then += f" ({', '.join(parts)})"
        if "not_yet" in promise:
            then += f"; not yet: {promise['not_yet']}"
        return f"| {' | '.join([name, says, tests, now, then])} |"

    return _ROW.sub(row, page)


def _names(cell: str, tests: Iterable[str]) -> bool:
    """Whether a cell of the page names one of these tests, or a test of one of these modules."""
    return any(f"`{test}`" in cell or f"`{test}::" in cell for test in tests)


@functools.cache
def _numbers(*, full: str) -> dict[str, dict[str, str]]:
    """What the names of each promise stand for, as a process finds it for which FULL is this."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.promises", "--numbers"],
        cwd=ROOT,
        env={**os.environ, "FULL": full},
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )
    if done.returncode:
        raise LookupError(f"the numbers of tests/promises.toml cannot be read:\n{done.stderr}")
    found: dict[str, dict[str, str]] = json.loads(done.stdout)
    return found


def _found_here() -> dict[str, dict[str, str]]:
    """The same, as this process imports the tests."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "zkdash.settings")
    django.setup()
    importlib.import_module("tests.conftest")  # whose profile says how many examples Hypothesis makes
    return {
        name: {what: _told(math.prod(map(number, where))) for what, where in references(promise).items()}
        for name, promise in declared().items()
    }


def number(reference: str) -> float:
    """What a reference of tests/promises.toml stands for. Raises LookupError where there is no such thing."""
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise LookupError(f"not a reference: {reference}")
    how, argument, module, name = match.groups()
    found = getattr(importlib.import_module(module.replace("/", ".")), name, None)
    if how == "cases":
        return _cases(found, argument)
    if how == "examples":
        found = getattr(getattr(found, "_hypothesis_internal_use_settings", None), "max_examples", None)
    match found:
        case int() | float():
            return found
        case Sized():
            return len(found)
        case _:
            raise LookupError(f"{reference} is {found!r}")


def _cases(test: object, argument: str | None) -> int:
    """How many cases pytest makes of a test by its marks, or by the one of them that is of this argument."""
    marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    counts = [len(list(mark.args[1])) for mark in marks if argument in {None, mark.args[0]}]
    if not counts:
        raise LookupError(f"{test!r} has no cases of {argument}")
    return math.prod(counts)


def _told(value: float) -> str:
    """A number as the page tells it: "10 000", "0.1"."""
    return f"{value:,}".replace(",", " ").removesuffix(".0")


def main(arguments: list[str], page: Path = PAGE) -> int:
    """The exit code: 1 where `--check` found that the page differs."""
    if arguments == ["--numbers"]:
        sys.stdout.write(json.dumps(_found_here()))
        return 0
    told = page.read_text(encoding="utf-8")
    true = written(told)
    if arguments != ["--check"]:
        page.write_text(true, encoding="utf-8")
        return 0
    stale = [
        before for before, now in zip(told.splitlines(), true.splitlines(), strict=True) if before != now
    ]
    for row in stale:
        print(f"docs/{page.name} says what its tests do not: run `python -m tests.promises`\n{row}")  # noqa: T201
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
