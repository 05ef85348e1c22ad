"""How often a fault is tried: a few times in every run, in full by `make faults`, which can go on."""

from __future__ import annotations

import os
from pathlib import Path

DONE = Path("var/faults")


def rounds(part: str, *, ci: int, full: int) -> list[int]:
    """The seeds of a part's rounds; in full those that were not done yet."""
    first = int(os.environ.get("FAULTS_SEED", "1"))
    if os.environ.get("FAULTS") != "full":
        return list(range(first, first + ci))
    return list(range(first + done(part), first + full))


def done(part: str) -> int:
    """How many rounds of a part were done in full so far."""
    file = DONE / part
    return int(file.read_text()) if file.exists() else 0
