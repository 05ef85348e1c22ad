"""The engine room: a watcher per cluster, the current snapshots, and the hub that pushes them.

Knows nothing of templates: the hub gets its renderer from `web` as an argument.
"""

from zkdash.live.snapshot_registry import (
    STARTED,
    clear,
    current,
    is_running,
    lend,
    names,
    publish,
    want,
    want_ensemble,
    want_listing,
    znodes_of,
)

__all__ = [
    "STARTED",
    "clear",
    "current",
    "is_running",
    "lend",
    "names",
    "publish",
    "want",
    "want_ensemble",
    "want_listing",
    "znodes_of",
]
