"""What the bench does just now, on stderr: figures go to stdout."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

_EVERY_S = 5.0


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """Say what begins, every five seconds that it goes on, and how long it took."""
    started = time.monotonic()
    done = threading.Event()

    def tick() -> None:
        while not done.wait(_EVERY_S):
            _say(f"{what}: {time.monotonic() - started:.0f} s so far")

    ticker = threading.Thread(target=tick, daemon=True)
    _say(what)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()
        _say(f"{what}: {time.monotonic() - started:.1f} s")


def _say(line: str) -> None:
    sys.stderr.write(f"  {line}\n")
    sys.stderr.flush()
