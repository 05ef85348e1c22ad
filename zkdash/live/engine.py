"""Watchers and hub of one serving process: started and stopped by the ASGI lifespan on its event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from zkdash.cluster.checks import Thresholds
from zkdash.configuration.limits import Limits
from zkdash.live import alarms, database_probe, pollers, runs, snapshot_registry
from zkdash.live.pollers import Pollers
from zkdash.live.queue import Reader
from zkdash.live.sockets.hub import Hub
from zkdash.live.sockets.protocols import Renderer
from zkdash.live.watching.starting import Starting
from zkdash.live.watching.watcher import Sink, Watcher
from zkdash.zk.config import ClusterConfig


class Engine:
    """Everything live in one process.

    `actions` reads the queue, `recent` the runs of the pipeline, `keeper` remembers findings, `prober` tells
    what is wrong with the database; what nobody is given for stays unknown. `sinks` tells who else hears of a
    cluster by its name, `thresholds` what counts as too long there. `limits` are those of live pages.
    """

    def __init__(
        self,
        configs: Sequence[ClusterConfig],
        renderer: Renderer,
        *,
        actions: Reader | None = None,
        sinks: Callable[[str], Sequence[Sink]] = lambda _cluster: (),
        recent: runs.Reader | None = None,
        keeper: alarms.Keeper | None = None,
        prober: database_probe.Prober | None = None,
        thresholds: Callable[[str], Thresholds] = lambda _cluster: Thresholds(),
        limits: Limits | None = None,
    ) -> None:
        self.hub = Hub(renderer, limits)
        self._configs = configs
        self._sinks = sinks
        self._starting: Starting | None = None
        self._thresholds = thresholds
        names = [config.name for config in configs]
        self.polled = pollers.of(names, actions=actions, recent=recent, keeper=keeper, prober=prober)

    async def start(self) -> None:
        """Start the hub on the running loop, and have a watcher a cluster started; nobody waits for them."""
        self.hub.start(asyncio.get_running_loop())
        for poller in self.polled:
            poller.start()
        watchers = [
            Watcher(
                config,
                notify=self.hub.notify,
                sinks=self._sinks(config.name),
                thresholds=self._thresholds(config.name),
                polled=self.polled,
            )
            for config in self._configs
        ]
        self._starting = Starting(watchers)
        self._starting.start()

    async def stop(self) -> None:
        """Close every socket with 1012 (service restart), then end the sessions side by side."""
        await self.hub.stop()
        ends: list[Callable[[], object]] = [poller.stop for poller in self.polled]
        if self._starting is not None:
            ends.append(self._starting.stop)
        await asyncio.gather(*map(asyncio.to_thread, ends))
        snapshot_registry.clear()


_engine: Engine | None = None


def configure(engine: Engine | None) -> None:
    """Name the engine that the ASGI lifespan starts; None (the default) starts nothing."""
    global _engine  # noqa: PLW0603 - one engine a process, by design
    _engine = engine


def configured() -> Engine | None:
    return _engine


def polled() -> Pollers:
    """What the engine polls; nothing where there is none."""
    return pollers.NONE if _engine is None else _engine.polled
