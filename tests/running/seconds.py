"""How long each part took when it was last run here; in a fresh clone, as measured on two quiet cores."""

from __future__ import annotations

import json
import math
from pathlib import Path

from tests.running.jobs import ROOT

MEASURED = Path(__file__).with_name("seconds.json")
KEPT = ROOT / "var" / "tests" / "seconds.json"


def of(part: str) -> float:
    """The seconds that a part should take: without end where nobody knows, so that it begins first."""
    return (_read(MEASURED) | _read(KEPT)).get(part, math.inf)


def keep(part: str, seconds: float) -> None:
    """Remember for the next run that the whole of this part took so long."""
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    known = _read(KEPT) | {part: round(seconds, 1)}
    KEPT.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _read(file: Path) -> dict[str, float]:
    """What a file says; nothing where it is not there, or was broken off."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return {str(part): float(seconds) for part, seconds in found.items()}
