"""The table of kinds and eras, cells.toml, and which of its cells a run plays."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests import full
from tests.lab.releases import RELEASES

# On these every cell is played in every run; a full run does so on the others too.
ALWAYS = ("1.1.1", "3.9.1")
# On these pages are compared with tools in every run.
_LIVES = ("0.8.2.2", *ALWAYS)
ABSENT = "not in this era: "


class Cell(NamedTuple):
    """A kind in an era, and what the table says of it."""

    era: str
    kind: str
    told: str
    smoke: bool

    @property
    def is_played(self) -> bool:
        """Whether this run plays it."""
        if self.told.startswith(ABSENT):
            return False
        return self.smoke or self.era in ALWAYS or full.is_full()


def lives() -> tuple[str, ...]:
    """The eras in which this run compares pages with Kafka's own tools."""
    return tuple(RELEASES) if full.is_full() else _LIVES


def read() -> list[Cell]:
    """All cells, in the table's order."""
    table = tomllib.loads((Path(__file__).parent / "cells.toml").read_text())
    return [
        Cell(era, kind, told, row.get("smoke", False))
        for kind, row in table.items()
        for eras, told in _cells(row).items()
        for era in eras.split(", ")
    ]


def _cells(row: Mapping[str, object]) -> dict[str, str]:
    return {eras: str(told) for eras, told in row.items() if eras != "smoke"}
