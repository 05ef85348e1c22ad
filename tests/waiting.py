"""Waiting for what another thread, process or browser does: on a condition, and with a limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_LONGEST_S = 0.25  # between two looks that cost much


def wait_for(
    condition: Callable[[], T],
    limit_s: float = 60.0,
    message: str | Callable[[], object] = "",
    *,
    every_s: float = 0.005,
) -> T:
    """Return the first true value of `condition`, looked at every 5 ms; less often where a look costs much.

    Between two looks as much time goes by as the last one took, so that waiting leaves the machine to others.

    Raises AssertionError after `limit_s`, with `message` (called only then, when it can be called).
    """
    deadline = time.monotonic() + limit_s
    while True:
        began = time.monotonic()
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            told = message() if callable(message) else message
            raise AssertionError(f"not within {limit_s:g} s: {told or 'the condition stayed false'}")
        time.sleep(max(every_s, min(time.monotonic() - began, _LONGEST_S)))
