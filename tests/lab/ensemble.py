"""Several real ZooKeeper servers that elect a leader; for tests."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from zkdash.demo.runtime import ports
from zkdash.demo.zookeeper.server import NotServingError, Server, start_with_ports


class Ensemble:
    """Several servers that elect a leader; the same arguments as Server, for each of them.

    `servers` are settled once `start` returned.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        size: int = 3,
        tick_time_ms: int = 2000,
        heap_mb: int = 128,
        config: Mapping[str, str] = {},
        java_options: Sequence[str] = (),
        classpath: Sequence[Path] = (),
    ) -> None:
        self.data_dir = data_dir
        self._size = size
        # At least 10 s to join and 4 s of silence, however short a tick is.
        limits = {"initLimit": max(10, 10_000 // tick_time_ms), "syncLimit": max(5, 4_000 // tick_time_ms)}
        self._config = {key: str(ticks) for key, ticks in limits.items()} | dict(config)
        self._server = functools.partial(
            Server,
            tick_time_ms=tick_time_ms,
            heap_mb=heap_mb,
            java_options=java_options,
            classpath=classpath,
        )
        self._is_settled = False
        self._choose_ports()

    @property
    def address(self) -> str:
        """The connection string of all servers."""
        return ",".join(server.address for server in self.servers)

    def start(self) -> None:
        """Start all servers, and return once each serves clients. Raises NotServingError."""

        def start() -> None:
            try:
                for server in self.servers:
                    server.launch()
                for server in self.servers:
                    server.wait_until_ready()
            except NotServingError:
                self.stop()
                raise

        start_with_ports(start, None if self._is_settled else self._choose_ports)
        self._is_settled = True

    def stop(self) -> None:
        for server in self.servers:
            server.stop()

    def kill(self) -> None:
        """Take all processes away without a warning, as `Server.kill`."""
        for server in self.servers:
            server.kill()

    def leader(self, *, limit_s: float = 60.0) -> Server:
        """Return the server that leads now; waits for an election. Raises NotServingError after `limit_s`."""
        return self._first("leader", limit_s)

    def follower(self, *, limit_s: float = 60.0) -> Server:
        """Return a server that follows now. Raises NotServingError after `limit_s`."""
        return self._first("follower", limit_s)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _choose_ports(self) -> None:
        numbers = range(1, self._size + 1)
        chosen = iter(ports.free(3 * self._size))
        peers = {f"server.{number}": f"127.0.0.1:{next(chosen)}:{next(chosen)}" for number in numbers}
        servers = []
        for number in numbers:
            directory = self.data_dir / str(number)
            directory.mkdir(parents=True, exist_ok=True)
            (directory / "myid").write_text(f"{number}\n")
            servers.append(self._server(directory, port=next(chosen), config=self._config | peers))
        self.servers = tuple(servers)

    def _first(self, mode: str, limit_s: float) -> Server:
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            for server in self.servers:
                if server.mode == mode:
                    return server
            time.sleep(0.02)
        raise NotServingError(f"none of {self.address} is a {mode} after {limit_s:g} s")
