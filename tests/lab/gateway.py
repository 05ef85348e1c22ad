"""A JVM whose objects a test holds by Py4J, whose jar PySpark brings."""

from __future__ import annotations

import importlib.util
import signal
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from py4j.java_gateway import GatewayParameters, JavaGateway

from tests.lab.listening import free_port
from tests.waiting import wait_for
from zkdash import java
from zkdash.demo.runtime import child_process

READY_LIMIT_S = 60.0
END_LIMIT_S = 60.0


class Jvm:
    """A JVM with these jars beside Py4J's own; what it prints is appended to `log`. Use it as a context.

    An answer may take `limit_s`; there is no limit without.
    """

    def __init__(
        self,
        log: Path,
        jars: Sequence[Path] = (),
        *,
        options: Sequence[str] = (),
        heap_mb: int = 96,
        limit_s: float | None = None,
    ) -> None:
        self.log = log
        self._jars = jars
        self._options = options
        self._heap_mb = heap_mb
        self._limit_s = limit_s

    def freeze(self) -> None:
        """Freeze all its threads (SIGSTOP), until `thaw`."""
        self._process.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.signal(signal.SIGCONT)

    def __enter__(self) -> Self:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        port = free_port()
        command = [
            str(java.find().path),
            f"-Xmx{self._heap_mb}m",
            "-Djava.net.preferIPv4Stack=true",
            *self._options,
            "-cp",
            ":".join(map(str, [jar(), *self._jars])),
            "py4j.GatewayServer",
            str(port),
        ]
        self._process = child_process.ChildProcess(command, log=self.log)
        self._wait(port)
        # Without Py4J's own memory management: nothing may be sent to a JVM that is frozen.
        parameters = GatewayParameters(port=port, enable_memory_management=False, read_timeout=self._limit_s)
        self.gateway: Any = JavaGateway(gateway_parameters=parameters)
        return self

    def __exit__(self, *_: object) -> None:
        self.gateway.close()
        self._process.signal(signal.SIGKILL)
        self._process.wait(limit_s=END_LIMIT_S)

    def _wait(self, port: int) -> None:
        def listens() -> bool:
            assert self._process.alive, self.log.read_text()[-2000:]
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        wait_for(listens, READY_LIMIT_S, self.log.read_text)


def jar() -> Path:
    """Py4J's jar; found, not imported: no Spark in this process."""
    spec = importlib.util.find_spec("pyspark")
    assert spec
    assert spec.origin
    (found,) = Path(spec.origin).parent.glob("jars/py4j-*.jar")
    return found
