"""What a run consists of: commands, each with the line that tells of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent.parent
BIN: Final = Path(sys.executable).parent
NOTED: Final = "NOTED"  # the variable that tells a part's pytest where to write the seconds of its tests


def _well(_printed: str) -> str:
    return "ok"


@dataclass(frozen=True)
class Job:
    """One command by a name of its own; `told` is what its line calls it, `again` what runs it once more.

    `environ` is added to ours. A command is well that ends with an exit code of `well`; `says` makes a word
    or two for its line of what it printed. That is told whole if it failed, and always where it `is_shown`.
    """

    name: str
    command: tuple[str | Path, ...]
    environ: Mapping[str, str] = field(default_factory=dict)
    suite: str = ""  # of which it is a part
    told: str = ""
    again: str = "make check"
    says: Callable[[str], str] = _well
    is_shown: bool = False
    well: frozenset[int] = frozenset({0})
