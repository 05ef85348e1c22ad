"""A real ZooKeeper server, 3.9 from the jars that PySpark brings where none are named.

For the demo and for tests. It listens on 127.0.0.1 only, forgets durability for speed (a killed server
loses nothing, a machine that loses power may), and dies with the process that started it.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from zkdash.demo.runtime import child_process, ports
from zkdash.demo.zookeeper import jvm

_READY_LIMIT_S = 60.0
_STOP_LIMIT_S = 10.0
_ATTEMPTS = 5


class NotServingError(RuntimeError):
    """The server did not come up; the message ends with the tail of its log."""


class _PortTakenError(NotServingError):
    pass


class Server:
    """One ZooKeeper server on a data directory of its own.

    `version-2` in `data_dir` holds its snapshots and transaction logs; a snapshot written there before
    the first start is served. Without `port` a free one is chosen; the address is settled once the
    first `start` returned, and the same after every later one. `tick_time_ms` rules sessions: at
    least two ticks long, looked at once a tick. `config` is added to `zoo.cfg`. `classpath` holds the jars of
    another release; a server that is stopped may be given others before it starts again.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        port: int | None = None,
        tick_time_ms: int = 2000,
        heap_mb: int = 128,
        config: Mapping[str, str] = {},
        java_options: Sequence[str] = (),
        classpath: Sequence[Path] = (),
    ) -> None:
        self.data_dir = data_dir
        self.classpath = tuple(classpath)
        self.port = port or ports.free()[0]
        self._is_settled = port is not None
        self._tick_time_ms = tick_time_ms
        self._heap_mb = heap_mb
        self._config = dict(config)
        self._java_options = tuple(java_options)
        self._process: child_process.ChildProcess | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The process id of the Java process. Raises NotServingError where none runs."""
        return self._running().pid

    @property
    def is_running(self) -> bool:
        """Whether the process lives, serving or not."""
        return self._process is not None and self._process.alive

    @property
    def log(self) -> Path:
        return self.data_dir / "zookeeper.log"

    @property
    def mode(self) -> str | None:
        """What `srvr` tells: "standalone", "leader" or "follower", None while the server serves nobody."""
        try:
            lines = srvr("127.0.0.1", self.port).splitlines()
        except OSError:
            return None
        return next((line.removeprefix("Mode: ") for line in lines if line.startswith("Mode: ")), None)

    def start(self) -> None:
        """Start, and return once clients are served. Raises NotServingError with the tail of the log."""

        def start() -> None:
            self.launch()
            self.wait_until_ready()

        start_with_ports(start, None if self._is_settled else self._choose_port)
        self._is_settled = True

    def launch(self) -> None:
        """Start without waiting: the first half of `start`, for servers that wait for each other."""
        if self.is_running:
            raise NotServingError(f"ZooKeeper on {self.data_dir} runs already, process {self.pid}")
        self.kill()  # nothing but tidying up after one that ended by itself
        if not ports.is_free(self.port):
            raise _PortTakenError(f"ZooKeeper on {self.data_dir} cannot have port {self.port}: it is taken")
        self.data_dir.mkdir(parents=True, exist_ok=True)
        config = self.data_dir / "zoo.cfg"
        config.write_text("".join(f"{key}={value}\n" for key, value in self._settings().items()))
        self.log.write_bytes(b"")
        command = jvm.zookeeper(
            config, heap_mb=self._heap_mb, options=self._java_options, classpath=self.classpath
        )
        self._process = child_process.ChildProcess(command, log=self.log)

    def wait_until_ready(self) -> None:
        """Return once clients are served: the second half of `start`. Raises NotServingError."""
        process = self._running()
        deadline = time.monotonic() + _READY_LIMIT_S
        while process.alive and time.monotonic() < deadline:
            if self.mode:
                return
            time.sleep(0.02)
        what = f"was not ready within {_READY_LIMIT_S:.0f} s" if process.alive else "ended at once"
        self.kill()
        tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])
        kind = _PortTakenError if "Address already in use" in tail else NotServingError
        raise kind(f"ZooKeeper on {self.data_dir}, port {self.port}, {what}. Its log ends:\n{tail}")

    def wait_until_ended(self) -> None:
        """Return when the process has ended, however it did."""
        self._running().wait()

    def stop(self) -> None:
        """Stop cleanly and wait; one that does not run is fine."""
        if self._process:
            self._process.signal(signal.SIGTERM)
            self._process.signal(signal.SIGCONT)
            try:
                self._process.wait(limit_s=_STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    def kill(self) -> None:
        """Take the process away without a warning (SIGKILL) and wait until it is gone."""
        if self._process:
            self._process.signal(signal.SIGKILL)
            self._process.wait(limit_s=_STOP_LIMIT_S)
            self._process = None

    def pause(self) -> None:
        """Freeze the process (SIGSTOP): its connections stay open and silent."""
        self._running().signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._running().signal(signal.SIGCONT)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _running(self) -> child_process.ChildProcess:
        if self._process is None:
            raise NotServingError(f"no ZooKeeper was started on {self.data_dir}")
        return self._process

    def _choose_port(self) -> None:
        self.port = ports.free()[0]

    def _settings(self) -> dict[str, str]:
        return {
            "dataDir": str(self.data_dir),
            "clientPort": str(self.port),
            "clientPortAddress": "127.0.0.1",
            "tickTime": str(self._tick_time_ms),
            "maxSessionTimeout": "60000",
            "maxClientCnxns": "0",
            "admin.enableServer": "false",
            "4lw.commands.whitelist": "*",
            "preAllocSize": "64",  # KiB: the default reserves 64 MiB a log
            "forceSync": "no",
        } | self._config


def srvr(host: str, port: int, *, limit_s: float = 2.0) -> str:
    """Return the answer to the four-letter word `srvr`. Raises OSError where none comes."""
    with socket.create_connection((host, port), timeout=limit_s) as connection:
        connection.sendall(b"srvr")
        with contextlib.closing(connection.makefile("rb")) as answer:
            return answer.read().decode(errors="replace")


def start_with_ports(start: Callable[[], None], choose_ports: Callable[[], None] | None) -> None:
    """Call `start`, again with other ports while somebody else took one and we may choose."""
    for _ in range(_ATTEMPTS - 1):
        try:
            start()
        except _PortTakenError:
            if choose_ports is None:
                raise
            choose_ports()
        else:
            return
    start()
