"""How much a run tries: what represents each promise in every run, all of it where FULL=1 (`make faults`)."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")


def is_full() -> bool:
    """Whether this run tries everything: the environment says FULL=1."""
    return os.environ.get("FULL") == "1"


def pick(every_run: T, full: T) -> T:
    """The value for this run: the first in every run, the second in a full one."""
    return full if is_full() else every_run
