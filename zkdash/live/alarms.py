"""The findings that stand, as the database remembers them: one thread writes and asks, once a second.

Knows no database itself: who keeps it is an argument, and may raise `UnavailableError`. Watchers never wait
for it: they show what was read last.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Protocol

from zkdash.actions.reading.entries import UnavailableError
from zkdash.alarms.open_alarms import EMPTY, Alarms, Seen
from zkdash.live import snapshot_registry
from zkdash.live.polled import Polled
from zkdash.live.snapshot import Snapshot
from zkdash.zk.connection.session import Phase


class Keeper(Protocol):
    """Who remembers findings; called from one thread, which may wait for it."""

    def turn(self, seen: Mapping[str, Seen], now: datetime.datetime, /) -> Mapping[str, Alarms]: ...


class KeptFindings(Polled[Alarms]):
    """The open alarms: once a second the keeper is given the findings of every cluster. Without one, none."""

    def __init__(self, keeper: Keeper | None = None, clusters: Sequence[str] = ()) -> None:
        super().__init__("Keeping the findings", EMPTY, idle=keeper is None)
        self._keeper = keeper
        self._clusters = tuple(clusters)

    def turn(self) -> None:
        """Have written down what is seen now, and take what stands, once."""
        if self._keeper is None:
            return
        snapshots = [snapshot for name in self._clusters if (snapshot := snapshot_registry.current(name))]
        seen = {
            snapshot.cluster: Seen(snapshot.observations, _is_current(snapshot)) for snapshot in snapshots
        }
        try:
            alarms_by_cluster = self._keeper.turn(seen, datetime.datetime.now(datetime.UTC))
        except UnavailableError as trouble:
            self._fail(seen, str(trouble))
            return
        self._failed = False
        for cluster, alarms in alarms_by_cluster.items():
            self._publish(cluster, alarms)


def _is_current(snapshot: Snapshot) -> bool:
    return snapshot.state.loaded and snapshot.session.phase is Phase.LIVE and not snapshot.stale
