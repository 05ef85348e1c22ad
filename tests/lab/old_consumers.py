"""Real old (ZooKeeper) consumers of one release in a JVM of their own, moved from Python through Py4J.

The classes are Kafka's own, kafka.javaapi.consumer.ConsumerConnector of the release's jars. The JVM listens
on 127.0.0.1 only and dies with the process that started it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from tests.lab import jars
from tests.lab.gateway import Jvm
from tests.lab.kafka import LOGGING
from tests.lab.releases import RELEASES
from zkdash.kafka.values import Pattern

# Short, so that tests need not wait; more tries and a longer session than by default, because a busy machine
# takes its time.
OPTIONS = {
    "zookeeper.session.timeout.ms": "20000",
    "zookeeper.connection.timeout.ms": "20000",
    "rebalance.backoff.ms": "200",
    "rebalance.max.retries": "40",
    "auto.commit.interval.ms": "1000",
}


class OldConsumers:
    """The consumers of `release`, by a name that the caller gives. Use it as a context."""

    def __init__(self, release: str, data_dir: Path) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        logging = data_dir / "log4j.properties"
        logging.write_text(LOGGING)
        self.jvm = Jvm(
            data_dir / "consumers.log",
            jars.classpath(RELEASES[release]),
            options=[f"-Dlog4j.configuration=file:{logging}"],
        )
        self._connectors: dict[str, Any] = {}

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
        jvm = self.jvm.gateway.jvm
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

    def __enter__(self) -> Self:
        self.jvm.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.jvm.thaw()
        for name in list(self._connectors):
            self.leave(name)
        self.jvm.__exit__()
