"""The current snapshot of each cluster: one pointer each, swapped by its watcher, read by everybody."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Mapping

import msgspec

from zkdash.live.snapshot import Snapshot

STALE_AFTER_S = 3.0
# Names this process in what leaves it: a revision of another process means nothing here.
STARTED = secrets.token_hex(4)

Want = Callable[[Collection[str], Mapping[str, Collection[str]]], None]

_snapshots: dict[str, Snapshot] = {}
_wants: dict[str, Want] = {}
_want_listings: dict[str, Callable[[], None]] = {}


def names() -> tuple[str, ...]:
    """The clusters that this process watches, in the order of the configuration."""
    return tuple(_snapshots)


def is_running() -> bool:
    """False where no watcher runs in this process (runserver, plain ASGI): pages then say so."""
    return bool(_snapshots)


def current(name: str, now: float | None = None) -> Snapshot | None:
    """The newest snapshot of a cluster, None for a cluster that is not configured.

    Staleness is judged here and not by the watcher, so that a watcher that hangs cannot look alive.
    """
    snapshot = _snapshots.get(name)
    if snapshot is None:
        return None
    stale = is_stale(snapshot.as_of, time.time() if now is None else now)
    return snapshot if stale == snapshot.stale else msgspec.structs.replace(snapshot, stale=stale)


def is_stale(as_of: float | None, now: float) -> bool:
    return as_of is None or now - as_of > STALE_AFTER_S


def publish(name: str, snapshot: Snapshot) -> None:
    """Make a snapshot the current one."""
    _snapshots[name] = snapshot


def serve_wants(name: str, want: Want, want_listing: Callable[[], None]) -> None:
    """Say who takes note of what is looked at in a cluster."""
    _wants[name] = want
    _want_listings[name] = want_listing


def want(name: str, topics: Collection[str] = (), groups: Mapping[str, Collection[str]] = {}) -> None:
    """Somebody looks at these topics' logs, and these groups' commits (with the topics that each uses).

    Brokers are asked about them for half a minute from now; from any thread, returns at once.
    """
    if name in _wants:
        _wants[name](topics, groups)


def want_listing(name: str) -> None:
    """Somebody looks at the groups that the brokers of a cluster know; as `want`."""
    if name in _want_listings:
        _want_listings[name]()


def clear() -> None:
    """Forget every cluster (when the engine stops)."""
    _snapshots.clear()
    _wants.clear()
    _want_listings.clear()
