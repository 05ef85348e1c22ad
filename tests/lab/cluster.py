"""The brokers of a test run: one era's at a time, because two at once are too much for two cores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kazoo.client import KazooClient

from tests.lab.kafka import Broker


class Lab:
    """Starts brokers on one ZooKeeper, each release under the chroot /kafka-<release>."""

    def __init__(self, zookeeper: str, data_dir: Path) -> None:
        self._zookeeper = zookeeper
        self._data_dir = data_dir
        self._brokers: dict[tuple[str, int], Broker] = {}

    def address(self, release: str) -> str:
        """The ZooKeeper address of a release's cluster, chroot and all."""
        return f"{self._zookeeper}/kafka-{release}"

    def brokers(self, release: str, count: int = 1) -> list[Broker]:
        """Return running brokers 1 to `count` of `release`; others are stopped first."""
        wanted = {(release, number) for number in range(1, count + 1)}
        for key, broker in self._brokers.items():
            if key not in wanted:
                broker.stop()
        for key in sorted(wanted):
            if key not in self._brokers:
                self._brokers[key] = self._make(*key)
            if not self._brokers[key].alive:
                self._brokers[key].start()
        return [self._brokers[key] for key in sorted(wanted)]

    @contextmanager
    def client(self, release: str) -> Iterator[KazooClient]:
        """A kazoo client in the chroot of a release's cluster, to read what is really there."""
        client = KazooClient(self.address(release))
        client.start(timeout=15.0)
        try:
            yield client
        finally:
            client.stop()
            client.close()

    def stop(self) -> None:
        """Stop every broker."""
        for broker in self._brokers.values():
            broker.stop()

    def _make(self, release: str, id: int) -> Broker:  # noqa: A002 - Kafka's own word
        # a killed broker's registration goes with its session: waited for by tests, so short
        short = {"zookeeper.session.timeout.ms": "4000"}
        return Broker(
            release,
            self.address(release),
            id=id,
            data_dir=self._data_dir / f"{release}-{id}",
            properties=short,
        )
