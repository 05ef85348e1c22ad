"""What a watcher knows of its cluster's ensemble: it takes over what the poller found, and judges it.

The poller asks on other threads; what it found comes to the snapshot at the watcher's next tick.
"""

from __future__ import annotations

from zkdash.cluster.ensemble import health
from zkdash.cluster.ensemble.values import UNKNOWN, Ensemble, Thresholds
from zkdash.formats.ensemble.values import Look
from zkdash.kafka import secure_root_paths
from zkdash.zk.config import ClusterConfig
from zkdash.zk.ensemble.poller import Poller
from zkdash.zk.reader.acls import Acls
from zkdash.zk.wire.side_requests import SideRequests


class Surveying:
    """The poller of one cluster, and what its looks one after another add up to."""

    def __init__(self, config: ClusterConfig, aside: SideRequests) -> None:
        self._poller = Poller(config, aside, secured=secure_root_paths.PATHS)
        self._history = health.History()
        self._limits = Thresholds()
        self._ensemble = UNKNOWN

    def start(self) -> None:
        self._poller.start()

    def stop(self) -> None:
        self._poller.stop()

    def want(self) -> None:
        """Somebody looks at the ensemble; from any thread."""
        self._poller.want()

    @property
    def acls(self) -> Acls:
        """The ACLs of the znodes of `kafka.secured`, as they were read last."""
        return self._poller.acls

    def ensemble(self) -> Ensemble:
        """What is known now: the same object until there is another look. For one thread."""
        self.take(self._poller.look)
        return self._ensemble

    def take(self, look: Look) -> None:
        """Judge a look, unless it is the one that was judged last."""
        if look.at != self._ensemble.look.at:
            self._history, ailments = health.examine(self._history, look, self._limits)
            self._ensemble = Ensemble(look, ailments)
