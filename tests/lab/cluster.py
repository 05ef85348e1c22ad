"""The brokers of a test run: one era's at a time, because two at once are too much for two cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from kazoo.client import KazooClient

from tests.lab.kafka import Broker

# A killed broker's registration goes with its session: waited for by tests, so short.
SHORT = {"zookeeper.session.timeout.ms": "4000"}


class Lab:
    """Starts brokers on one ZooKeeper, each release under the chroot /<name>-<release>.

    `properties` are added to the server.properties of each broker: of a release, and of the broker's id.
    """

    def __init__(
        self,
        zookeeper: str,
        data_dir: Path,
        *,
        name: str = "kafka",
        properties: Callable[[str, int], Mapping[str, str]] = lambda _release, _number: {},
    ) -> None:
        self._zookeeper = zookeeper
        self._data_dir = data_dir
        self._name = name
        self._properties = properties
        self._brokers: dict[tuple[str, int], Broker] = {}

    def address(self, release: str) -> str:
        """The ZooKeeper address of a release's cluster, chroot and all."""
        return f"{self._zookeeper}/{self._name}-{release}"

    def brokers(self, release: str, count: int = 1) -> list[Broker]:
        """Return running brokers 1 to `count` of `release`; others are stopped first."""
        wanted = {(release, number) for number in range(1, count + 1)}
        for key, broker in self._brokers.items():
            if key not in wanted:
                broker.stop()
        for key in sorted(wanted):
            if key not in self._brokers:
                self._brokers[key] = self._make(*key)
        asleep = [self._brokers[key] for key in sorted(wanted) if not self._brokers[key].alive]
        with ThreadPoolExecutor(max_workers=count) as pool:
            list(pool.map(Broker.start, asleep))
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
        with ThreadPoolExecutor(max_workers=len(self._brokers) or 1) as pool:
            list(pool.map(Broker.stop, self._brokers.values()))

    def _make(self, release: str, id: int) -> Broker:  # noqa: A002 - Kafka's own word
        return Broker(
            release,
            self.address(release),
            id=id,
            data_dir=self._data_dir / f"{release}-{id}",
            properties={**SHORT, **self._properties(release, id)},
        )
