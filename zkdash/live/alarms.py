"""The findings that stand, as the database remembers them: one thread writes and asks, once a second.

Knows no database itself: who keeps it is an argument, and may raise `UnavailableError`. Watchers never wait
for it: they show what was read last.
"""

from __future__ import annotations

import datetime
import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from zkdash.actions.reading.entries import UnavailableError
from zkdash.alarms.open_alarms import EMPTY, Alarms, Seen
from zkdash.live import snapshot_registry
from zkdash.live.snapshot import Snapshot
from zkdash.zk.connection.session import Phase

log = logging.getLogger(__name__)

INTERVAL_S = 1.0

_known: dict[str, Alarms] = {}
_wake = threading.Event()


class Keeper(Protocol):
    """Who remembers findings; called from one thread, which may wait for it."""

    def turn(self, seen: Mapping[str, Seen], now: datetime.datetime, /) -> Mapping[str, Alarms]: ...


def current(cluster: str) -> Alarms:
    """What was read last; the same object until something changes."""
    return _known.get(cluster, EMPTY)


def poke() -> None:
    """Something was just acknowledged by this process: read it now. From any thread, returns at once."""
    _wake.set()


def clear() -> None:
    """Forget everything (when the engine stops)."""
    _known.clear()


class Poller:
    """The thread that writes and asks. The database may be away: only what is told of alarms gets old."""

    def __init__(self, keeper: Keeper, clusters: Sequence[str]) -> None:
        self._keeper = keeper
        self._clusters = tuple(clusters)
        self._over = False
        self._failed = False
        self._thread = threading.Thread(target=self._run, name="alarms", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, limit_s: float = 5.0) -> None:
        """End the thread; one that waits for a database that hangs is left to end with the process."""
        self._over = True
        _wake.set()
        self._thread.join(limit_s)
        clear()

    def turn(self) -> None:
        """Have written down what is seen now, and take what stands, once."""
        snapshots = [snapshot for name in self._clusters if (snapshot := snapshot_registry.current(name))]
        seen = {one.cluster: Seen(one.observations, _is_current(one)) for one in snapshots}
        try:
            found = self._keeper.turn(seen, datetime.datetime.now(datetime.UTC))
        except UnavailableError as trouble:
            if not self._failed:
                log.warning("%s", trouble)
            self._failed = True
            for cluster in seen:
                _publish(cluster, msgspec.structs.replace(current(cluster), trouble=str(trouble)))
            return
        self._failed = False
        for cluster, alarms in found.items():
            _publish(cluster, alarms)

    def _run(self) -> None:
        while not self._over:
            try:
                self.turn()
            except Exception:
                log.exception("Keeping the findings failed")
            _wake.wait(INTERVAL_S)
            _wake.clear()


def _is_current(snapshot: Snapshot) -> bool:
    return snapshot.state.loaded and snapshot.session.phase is Phase.LIVE and not snapshot.stale


def _publish(cluster: str, found: Alarms) -> None:
    """Equal values are no news: the object stays the same."""
    if _known.get(cluster) != found:
        _known[cluster] = found
