"""The engine answers at once, however many clusters it follows: their loads come a few at a time."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator

from tests.waiting import wait_for
from zkdash.live import snapshot_registry
from zkdash.live.engine import Engine
from zkdash.live.watching.starting import AT_ONCE
from zkdash.web.serving import renderer
from zkdash.zk.config import ClusterConfig

CLUSTERS = 12


@contextlib.contextmanager
def _silent() -> Iterator[int]:
    """A port that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=4 * CLUSTERS) as listener:
        yield listener.getsockname()[1]


def _loading() -> int:
    return sum(thread.name.startswith("zk-mirror-") for thread in threading.enumerate())


def test_clusters_are_loaded_a_few_at_a_time_and_all_have_a_page_at_once() -> None:
    asyncio.run(_followed())


async def _followed() -> None:
    with _silent() as port:
        configs = [
            ClusterConfig(f"small-{number}", (("127.0.0.1", port),), ask_brokers=False)
            for number in range(CLUSTERS)
        ]
        engine = Engine(configs, renderer.Renderer())
        await engine.start()
        try:
            assert len(snapshot_registry.names()) == CLUSTERS
            wait_for(lambda: _loading() == AT_ONCE)
        finally:
            await engine.stop()
        assert _loading() == 0
