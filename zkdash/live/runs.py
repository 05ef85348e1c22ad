"""The runs of the pipeline as of about now, of clusters whose Pipeline page is open: one query a second each.

Knows no database itself: what reads it is an argument, and may raise `UnavailableError`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from zkdash.actions.reading.entries import UnavailableError
from zkdash.live.polled import Clock, Polled, Wanted


class Run(msgspec.Struct, frozen=True):
    """One run as `zkdash.pipeline.models.Run` describes it; times in epoch ms, None where not yet."""

    id: int
    job: str
    state: str
    by: str
    queued_ms: int
    started_ms: int | None
    ended_ms: int | None
    rows: int
    problems: int
    zxid_upto: int | None
    progress: int
    sentence: str
    lag_ms: int | None


class Runs(msgspec.Struct, frozen=True):
    """The runs of a cluster, newest first. `read` is False before the first look.

    `trouble` says why they cannot be read now, and then the rest is as it was.
    """

    runs: tuple[Run, ...] = ()
    read: bool = False
    trouble: str = ""


EMPTY = Runs()
Reader = Callable[[str], tuple[Run, ...]]


class PipelineRuns(Polled[Runs]):
    """The runs of clusters whose page is open, by one query a second each; without a reader, none."""

    def __init__(self, reader: Reader | None = None, clock: Clock = time.monotonic) -> None:
        super().__init__("Reading the runs", EMPTY, idle=reader is None, clock=clock)
        self._reader = reader
        self._wanted = Wanted[str](clock)

    def want(self, cluster: str) -> None:
        """Somebody looks at the runs of a cluster: they are read for half a minute from now."""
        if self._reader is not None:
            self._wanted.want(cluster)

    def hold(self, cluster: str, runs: tuple[Run, ...]) -> None:
        """Publish runs that a request has just read, for the page that is about to open."""
        self._publish(cluster, Runs(runs, read=True))
        self.want(cluster)

    def turn(self) -> None:
        """Read the runs of every cluster that is looked at, once."""
        if self._reader is None:
            return
        for cluster in self._wanted.standing(lambda gone: self._known.pop(gone, None)):
            try:
                self._publish(cluster, Runs(self._reader(cluster), read=True))
            except UnavailableError as trouble:
                self._say((cluster,), str(trouble))

    def _forget(self) -> None:
        super()._forget()
        self._wanted.clear()
