"""How many calls something makes: a cost that neither a busy machine nor a slow one changes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType


def calls(action: Callable[[], object]) -> int:
    """Count the calls that `action` makes, those of functions written in C too.

    What is remembered from one time to the next must be warm: have it done once before.
    """
    count = 0

    def counting(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    was_collecting, before = gc.isenabled(), sys.getprofile()
    gc.disable()  # whoever listens to the collector would be counted
    sys.setprofile(counting)
    try:
        action()
    finally:
        sys.setprofile(before)
        if was_collecting:
            gc.enable()
    return count - 1  # the last one is that of setprofile
