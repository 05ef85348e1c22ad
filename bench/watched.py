"""A watcher as a serving process has it, alone in this process, with Django ready to render its pages."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable

import django
import msgspec

from zkdash import configuration
from zkdash.live import snapshot_registry
from zkdash.live.snapshot import ChangedAreas, Snapshot
from zkdash.zk import config

_LOOKS_S = 0.1


class Watched:
    """Watches the cluster at `address`, called `name`, once `start` is called; counts the revisions."""

    def __init__(self, address: str, name: str = "default") -> None:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "zkdash.settings")
        os.environ["ZKDASH_ANONYMOUS_READ"] = "1"
        django.setup()
        logging.getLogger("zkdash").setLevel(logging.WARNING)  # that it loads is what is measured
        from zkdash.live.watching.watcher import Watcher  # noqa: PLC0415 - after Django, as in a serving process

        environ = {"ZKDASH_ZOOKEEPER": address}
        (cluster,) = config.load(configuration.read(environ), environ)
        self.name = name
        self.revisions = 0
        self._moved = threading.Condition()
        self._listeners: list[Callable[[], None]] = []
        self._watcher = Watcher(msgspec.structs.replace(cluster, name=name), notify=self._notify)

    @property
    def snapshot(self) -> Snapshot:
        found = snapshot_registry.current(self.name)
        assert found
        return found

    def listen(self, listener: Callable[[], None]) -> None:
        """Have a listener called after every revision, on the apply thread."""
        self._listeners.append(listener)

    def start(self) -> None:
        self._watcher.start()

    def stop(self) -> None:
        self._watcher.stop()

    def wait(self, *, zxid: int = 0, limit_s: float) -> Snapshot:
        """The first whole snapshot that has this transaction. Raises TimeoutError."""
        with self._moved:
            if not self._moved.wait_for(lambda: self._has(zxid), limit_s):
                session = self.snapshot.session
                raise TimeoutError(f"{self.name} has not reached {zxid:#x} after {limit_s} s: {session}")
        return self.snapshot

    def settle(self, *, limit_s: float) -> None:
        """Wait until all groups were compared with their plans: some a second. Raises TimeoutError."""
        deadline = time.monotonic() + limit_s
        while not self._is_settled():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.name} has not compared all groups with plans after {limit_s} s")
            time.sleep(_LOOKS_S)

    def _is_settled(self) -> bool:
        snapshot = self.snapshot
        survey = snapshot.observations.survey
        return survey.seen[0] is snapshot.state.groups and not survey.waiting

    def _has(self, zxid: int) -> bool:
        state = self.snapshot.state
        return state.loaded and state.zxid >= zxid

    def _notify(self, _name: str, _revision: int, _touched: ChangedAreas) -> None:
        with self._moved:
            self.revisions += 1
            self._moved.notify_all()
        for listener in self._listeners:
            listener()
