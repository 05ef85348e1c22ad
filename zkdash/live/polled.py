"""What zkdash's own database tells of each cluster, as of about now: a thread asks, so that nobody waits."""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

import msgspec

log = logging.getLogger(__name__)

INTERVAL_S = 1.0
# An open page says every 2 s that it is looked at.
_WANTED_FOR_S = 30.0

T = TypeVar("T", bound=msgspec.Struct)
K = TypeVar("K", bound=Hashable)
Clock = Callable[[], float]


class Polled(ABC, Generic[T]):
    """One value a cluster, read every `every_s` seconds. The database may hang or be away: then it gets old.

    `name` names the thread, and in the log what failed; one that is `idle` has none. A value is a Struct with
    `trouble`, a sentence that says why it cannot be read now, and then the rest of it is as it was.
    """

    def __init__(
        self,
        name: str,
        empty: T,
        *,
        idle: bool = False,
        every_s: float = INTERVAL_S,
        clock: Clock = time.monotonic,
    ) -> None:
        self._name, self._empty, self._idle, self._every_s, self._clock = name, empty, idle, every_s, clock
        self._known: dict[str, T] = {}
        self._wake = threading.Event()
        self._stopping = False
        self._failed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @abstractmethod
    def turn(self) -> None:
        """Read once, and publish the values."""

    def current(self, cluster: str) -> T:
        """What was read last; the same object until something changes."""
        return self._last(cluster)

    def poke(self) -> None:
        """Something was just changed by this process: read it now. From any thread, returns at once."""
        self._wake.set()

    def start(self) -> None:
        if not self._idle:
            self._thread.start()

    def stop(self, limit_s: float = 5.0) -> None:
        """End the thread and forget all; one that waits for a database that hangs ends with the process."""
        self._stopping = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(limit_s)
        self._forget()

    def _forget(self) -> None:
        self._known.clear()

    def _last(self, cluster: str) -> T:
        return self._known.get(cluster, self._empty)

    def _publish(self, cluster: str, value: T) -> None:
        """Equal values are no news: the object stays the same."""
        if self._known.get(cluster) != value:
            self._known[cluster] = value

    def _fail(self, clusters: Iterable[str], trouble: str) -> None:
        """Say of these clusters that they cannot be read; the log hears of the first time only."""
        if not self._failed:
            log.warning("%s", trouble)
        self._failed = True
        self._say(clusters, trouble)

    def _say(self, clusters: Iterable[str], trouble: str) -> None:
        for cluster in clusters:
            self._publish(cluster, msgspec.structs.replace(self._last(cluster), trouble=trouble))

    def _run(self) -> None:
        while not self._stopping:
            try:
                self.turn()
            except Exception:
                log.exception("%s failed", self._name)
            self._wake.wait(self._every_s)
            self._wake.clear()


class Wanted(Generic[K]):
    """What somebody looks at, each for half a minute since it was said last. From any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[K, float] = {}

    def want(self, key: K) -> None:
        self._until[key] = self._clock() + _WANTED_FOR_S

    def standing(self, forget: Callable[[K], object]) -> tuple[K, ...]:
        """What is wanted now; `forget` is told of what no longer is."""
        now, standing = self._clock(), []
        for key, until in tuple(self._until.items()):
            if until < now:
                del self._until[key]
                forget(key)
            else:
                standing.append(key)
        return tuple(standing)

    def clear(self) -> None:
        self._until.clear()
