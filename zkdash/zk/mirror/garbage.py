"""The garbage collector, off while a mirror loads: it would walk half a million new objects over and over."""

from __future__ import annotations

import atexit
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
    """Undo one `pause`; `freeze` first exempts what is now held from all later collections but the last.

    At the interpreter's end all of it is freed like everything else: extension modules such as DuckDB's
    would complain at length of what they hold of it.
    """
    global _loading  # noqa: PLW0603 - the collector itself is one per process
    with _lock:
        _loading -= 1
        if freeze:
            atexit.unregister(gc.unfreeze)
            atexit.register(gc.unfreeze)
            gc.freeze()
        if not _loading:
            gc.enable()
