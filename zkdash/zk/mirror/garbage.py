"""The garbage collector, off while a mirror loads: it would walk half a million new objects over and over."""

from __future__ import annotations

import gc
import threading

_lock = threading.Lock()
_loading = 0


def pause() -> None:
    """Switch the collector off until every mirror that paused it has resumed it."""
    global _loading  # noqa: PLW0603 - the collector itself is one per process
    with _lock:
        _loading += 1
        gc.disable()


def resume(*, freeze: bool) -> None:
    """Undo one `pause`; `freeze` first exempts what is now held from all later collections."""
    global _loading  # noqa: PLW0603 - the collector itself is one per process
    with _lock:
        _loading -= 1
        if freeze:
            gc.freeze()
        if not _loading:
            gc.enable()
