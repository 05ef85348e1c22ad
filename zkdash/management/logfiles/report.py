"""What a verb of `manage.py log` tells, as it comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from zkdash.formats.problems import Problem

Options = Mapping[str, Any]


class Report(NamedTuple):
    """Lines to print, and how many findings they tell; a finding that they do not tell, and its file; bytes
    that were read since the last one, of so many in all."""

    lines: Sequence[str] = ()
    finding: tuple[str, Problem] | None = None
    read: int = 0
    total: int = 0
    told: int = 0


def row_line(options: Options, row: dict[str, Any]) -> str:
    """A row in words, or as JSON."""
    if options["json"]:
        return msgspec.json.encode(row).decode()
    return " ".join(f"{name}: {value}" for name, value in row.items())
