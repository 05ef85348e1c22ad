"""The current snapshot of each cluster: one pointer each, swapped by its watcher, read by everybody."""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Mapping
from typing import Protocol

import msgspec

from zkdash.live.snapshot import Snapshot
from zkdash.live.tree.znodes import Znodes

STALE_AFTER_S = 3.0
# Names this process in what leaves it: a revision of another process means nothing here.
STARTED = secrets.token_hex(4)

_snapshots: dict[str, Snapshot] = {}
_askers: dict[str, Asker] = {}
_surveyors: dict[str, Surveyor] = {}
_znodes: dict[str, Znodes] = {}


class Asker(Protocol):
    """Who takes note of what is looked at in a cluster, and has its brokers asked."""

    def want(self, topics: Collection[str], groups: Mapping[str, Collection[str]]) -> None: ...

    def want_listing(self) -> None: ...


class Surveyor(Protocol):
    """Who takes note that somebody looks at a cluster's ensemble, and has its servers asked more often."""

    def want(self) -> None: ...


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
    if snapshot is None or snapshot.past is not None:
        return snapshot
    stale = is_stale(snapshot.as_of, time.time() if now is None else now)
    return snapshot if stale == snapshot.stale else msgspec.structs.replace(snapshot, stale=stale)


def is_stale(as_of: float | None, now: float) -> bool:
    return as_of is None or now - as_of > STALE_AFTER_S


def publish(name: str, snapshot: Snapshot) -> None:
    """Make a snapshot the current one."""
    _snapshots[name] = snapshot


def appoint(name: str, asker: Asker) -> None:
    """Register the sampler that asks a cluster's brokers."""
    _askers[name] = asker


def want(name: str, topics: Collection[str] = (), groups: Mapping[str, Collection[str]] = {}) -> None:
    """Somebody looks at these topics' logs, and these groups' commits (with the topics that each uses).

    Brokers are asked about them for half a minute from now; from any thread, returns at once.
    """
    if name in _askers:
        _askers[name].want(topics, groups)


def want_listing(name: str) -> None:
    """Somebody looks at the groups that the brokers of a cluster know; as `want`."""
    if name in _askers:
        _askers[name].want_listing()


def lend(name: str, znodes: Znodes) -> None:
    """Register the znodes of a cluster."""
    _znodes[name] = znodes


def znodes_of(name: str) -> Znodes | None:
    """Who knows the znodes of a cluster, None for a cluster that is not watched here."""
    return _znodes.get(name)


def appoint_surveyor(name: str, surveyor: Surveyor) -> None:
    """Register the poller that asks the servers of a cluster's ensemble."""
    _surveyors[name] = surveyor


def want_ensemble(name: str) -> None:
    """Somebody looks at the ensemble of a cluster; as `want`."""
    if name in _surveyors:
        _surveyors[name].want()


def clear() -> None:
    """Forget every cluster (when the engine stops)."""
    _snapshots.clear()
    _askers.clear()
    _surveyors.clear()
    _znodes.clear()
