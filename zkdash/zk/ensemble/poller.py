"""What is asked of one cluster's ensemble beside the mirror: one slow thread, which nobody waits for."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from zkdash.zk import acls
from zkdash.zk.aside import Aside
from zkdash.zk.config import ClusterConfig

ACLS_EVERY_S: Final = 60.0
# After a turn in which ZooKeeper did not answer.
_AGAIN_S = 2.0
_STEP_S = 0.5
_STOP_LIMIT_S = 5.0

log = logging.getLogger(__name__)


class Poller:
    """Reads the ACLs of the znodes `secured` every minute. `start` once, `stop` once.

    What it found is one pointer, which becomes another object only when something differs.
    """

    def __init__(
        self,
        config: ClusterConfig,
        aside: Aside,
        *,
        secured: Sequence[str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config, self._aside, self._secured, self._clock = config, aside, secured, clock
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"ensemble {config.name}", daemon=True)
        self._acls_at = float("-inf")
        self.acls: acls.Acls = {}

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask no more, and wait for the thread's end."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_LIMIT_S)

    def turn(self) -> None:
        """Ask what has become due."""
        if self._clock() >= self._acls_at:
            self._read_acls()

    def _run(self) -> None:
        while not self._stopping.wait(_STEP_S):
            try:
                self.turn()
            except Exception:
                log.exception("Asking the ensemble of %s failed", self._config.name)

    def _read_acls(self) -> None:
        found = acls.read(self._aside, self._config.chroot, self._secured)
        if found is not None and found != self.acls:
            self.acls = found
        self._acls_at = self._clock() + (_AGAIN_S if found is None else ACLS_EVERY_S)
