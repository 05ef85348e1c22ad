"""The recorders of a process: one a cluster, which share a thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Any, Final, cast

from django.conf import settings
from django.db import connection

from zkdash.history.recorder.recorder import FLUSH_S, Recorder
from zkdash.history.recorder.rounds import Rounds
from zkdash.history.store import directories
from zkdash.live.watching.watcher import Sink
from zkdash.web.past.asked import At
from zkdash.zk.config import ClusterConfig

# Whoever asks for a moment waits so long at most for it to be written. So many wait at once; others take what
# is there.
_REACH_S: Final = 2.0
_MOST_REACHING: Final = 4


def forgo_numpy() -> None:
    """Have Arrow go without numpy in this process, unless it is there already.

    Arrow takes it as optional. With it, it looks whether a list may be of pandas, and imports all of that for
    it: 75 MB, for rows of which none is of either. psycopg looks once whether numpy is there, at its first
    integer, and would take what is left here for it: so it has its first one now.
    """
    if connection.vendor == "postgresql":
        from psycopg.adapt import Transformer  # noqa: PLC0415 - of an extra

        Transformer().as_literal(0)
    sys.modules.setdefault("numpy", cast("Any", None))


class Recorders:
    """The recorders of some clusters, which write every `flush_s` seconds below ZKDASH_HISTORY."""

    def __init__(self, clusters: Sequence[ClusterConfig], *, flush_s: float = FLUSH_S) -> None:
        root = settings.ZKDASH_HISTORY
        self._recorders = {
            cluster.name: Recorder(cluster.name, directories.directory(root, cluster.name), flush_s=flush_s)
            for cluster in clusters
        }
        self._rounds = Rounds(tuple(self._recorders.values()))
        self._reaching = threading.BoundedSemaphore(_MOST_REACHING)

    def of(self, cluster: str) -> Sequence[Sink]:
        """Who is to hear of a cluster."""
        return [self._recorders[cluster]] if cluster in self._recorders else []

    def reach(self, cluster: str, at: At) -> None:
        """Have a moment written that is not yet, where this process records the cluster."""
        recorder = self._recorders.get(cluster)
        if recorder is None:
            return
        status = recorder.status
        of_time = (at.time_ms, status.wrote_ms)
        of_zxid = (at.zxid, status.zxid_upto)
        if any(at is not None and upto is not None and at <= upto for at, upto in (of_time, of_zxid)):
            return
        if self._reaching.acquire(blocking=False):
            try:
                self._rounds.write(recorder, _REACH_S)
            finally:
                self._reaching.release()

    def start(self) -> None:
        self._rounds.start()

    def stop(self) -> None:
        """Write what is left."""
        self._rounds.stop()
