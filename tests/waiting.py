"""Waiting for what another thread, process or browser does: on a condition, and with a limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_for(
    condition: Callable[[], T],
    limit_s: float = 5.0,
    message: str | Callable[[], object] = "",
    *,
    every_s: float = 0.005,
) -> T:
    """Return the first true value of `condition`, looked at every 5 ms: more seldom where looking costs much.

    Raises AssertionError after `limit_s`, with `message` (called only then, when it can be called).
    """
    deadline = time.monotonic() + limit_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            told = message() if callable(message) else message
            raise AssertionError(f"not within {limit_s:g} s: {told or 'the condition stayed false'}")
        time.sleep(every_s)
