"""Real old (ZooKeeper) consumers of one release in a JVM of their own, moved from Python through Py4J.

The classes are Kafka's own, kafka.javaapi.consumer.ConsumerConnector of the release's jars. The JVM listens
on 127.0.0.1 only and dies with the process that started it.
"""

from __future__ import annotations

import importlib.util
import signal
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from py4j.java_gateway import GatewayParameters, JavaGateway

from tests.lab.kafka import LOGGING, classpath
from tests.lab.releases import RELEASES
from tests.waiting import wait_for
from zkdash import java
from zkdash.demo import guard, ports
from zkdash.kafka.values import Pattern

READY_LIMIT_S = 30.0
# Short, so that tests need not wait; more tries than by default, because a busy machine takes its time.
OPTIONS = {
    "zookeeper.session.timeout.ms": "3000",
    "zookeeper.connection.timeout.ms": "20000",
    "rebalance.backoff.ms": "200",
    "rebalance.max.retries": "40",
    "auto.commit.interval.ms": "1000",
}


class OldConsumers:
    """The consumers of `release`, by a name that the caller gives. Use it as a context."""

    def __init__(self, release: str, data_dir: Path, *, heap_mb: int = 96) -> None:
        self._release = RELEASES[release]
        self._data_dir = data_dir
        self._heap_mb = heap_mb
        self._connectors: dict[str, Any] = {}

    @property
    def log(self) -> Path:
        """What the consumers log."""
        return self._data_dir / "consumers.log"

    def join(
        self,
        name: str,
        zookeeper: str,
        group: str,
        subscription: Mapping[str, int],
        *,
        pattern: Pattern = Pattern.STATIC,
        **options: str,
    ) -> None:
        """Start a consumer, and return when its first rebalance is done.

        `subscription` is the number of threads by topic, for a wildcard by its one regex. `options` are
        consumer properties, with `_` for `.`.
        """
        jvm = self._gateway.jvm
        properties = jvm.java.util.Properties()
        told = {key.replace("_", "."): value for key, value in options.items()}
        for key, value in ({"zookeeper.connect": zookeeper, "group.id": group} | OPTIONS | told).items():
            properties.put(key, value)
        connector = jvm.kafka.consumer.Consumer.createJavaConsumerConnector(
            jvm.kafka.consumer.ConsumerConfig(properties)
        )
        self._connectors[name] = connector
        if pattern is Pattern.STATIC:
            threads = jvm.java.util.HashMap()
            for topic, number in subscription.items():
                threads.put(topic, number)
            connector.createMessageStreams(threads)
            return
        ((regex, number),) = subscription.items()
        kind = jvm.kafka.consumer.Whitelist if pattern is Pattern.WHITE_LIST else jvm.kafka.consumer.Blacklist
        connector.createMessageStreamsByFilter(kind(regex), number)

    def leave(self, name: str) -> None:
        """Shut a consumer down as its application would."""
        self._connectors.pop(name).shutdown()

    def freeze(self) -> None:
        """Freeze all consumers of this JVM (SIGSTOP), until `thaw`."""
        self._process.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.signal(signal.SIGCONT)

    def __enter__(self) -> Self:
        self._data_dir.mkdir(parents=True, exist_ok=True)
        logging = self._data_dir / "log4j.properties"
        logging.write_text(LOGGING)
        (port,) = ports.free()
        jars = [*_py4j(), *classpath(self._release)]
        command = [
            str(java.find().path),
            f"-Xmx{self._heap_mb}m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Djava.net.preferIPv4Stack=true",
            f"-Dlog4j.configuration=file:{logging}",
            "-cp",
            ":".join(map(str, jars)),
            "py4j.GatewayServer",
            str(port),
        ]
        self._process = guard.Guarded(command, log=self.log)
        self._wait(port)
        # Without Py4J's own memory management: nothing may be sent to a JVM that is frozen.
        self._gateway = JavaGateway(
            gateway_parameters=GatewayParameters(port=port, enable_memory_management=False)
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.thaw()
        for name in list(self._connectors):
            self.leave(name)
        self._gateway.close()
        self._process.signal(signal.SIGKILL)
        self._process.wait(limit_s=10)

    def _wait(self, port: int) -> None:
        def listens() -> bool:
            assert self._process.alive, self.log.read_text()[-2000:]
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        wait_for(listens, READY_LIMIT_S, self.log.read_text)


def _py4j() -> list[Path]:
    """Py4J's jar, which PySpark brings; found, not imported: no Spark in this process."""
    spec = importlib.util.find_spec("pyspark")
    assert spec
    assert spec.origin
    return list(Path(spec.origin).parent.glob("jars/py4j-*.jar"))
