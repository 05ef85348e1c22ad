"""The brokers of a test run: one era's at a time, because two at once are too much for two cores."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kafka.protocol.metadata import MetadataRequest, MetadataResponse
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests.broker.asking import ask
from tests.lab.kafka import Broker
from tests.lab.mains import Mains
from tests.waiting import wait_for

SETTLE_LIMIT_S = 180.0
# A topic on every broker: who is in sync there is alive for the controller, and fetches from the leader.
PROBE = "probe"
# Small fetches and a short memory of rates, so that a throttle is felt by few messages.
SETTINGS = {
    "message.max.bytes": "40000",
    "replica.fetch.max.bytes": "50000",
    "replication.quota.window.num": "2",
}


class Lab:
    """Starts a release's brokers on the ZooKeeper at `zookeeper(release)`, in the chroot /<name>-<release>.

    They have the ids 1 to `count`, and stand in two racks where the release knows racks. The JVM of the tools
    that ask them ends with them: there consumers leave sessions open.
    """

    def __init__(
        self,
        zookeeper: Callable[[str], str],
        data_dir: Path,
        *,
        name: str = "kafka",
        count: int = 3,
    ) -> None:
        self._zookeeper = zookeeper
        self._data_dir = data_dir
        self._mains = Mains(data_dir / "tools")
        self._name = name
        self._count = count
        self._brokers: dict[str, list[Broker]] = {}

    def address(self, release: str) -> str:
        """The ZooKeeper address of a release's cluster, chroot and all."""
        return f"{self._zookeeper(release)}/{self._name}-{release}"

    def brokers(self, release: str) -> list[Broker]:
        """Return the brokers of `release`, running, in office and in sync, whatever happened to them before.

        Those of another release are ended first.
        """
        self._end(self._brokers.keys() - {release})
        if release not in self._brokers:
            self._brokers[release] = [self._make(release, number + 1) for number in range(self._count)]
        brokers = self._brokers[release]
        asleep = [broker for broker in brokers if not broker.alive]
        with ThreadPoolExecutor(max_workers=self._count) as pool:
            list(pool.map(Broker.resume, set(brokers) - set(asleep)))
            list(pool.map(Broker.start, asleep))
        with self.client(release) as client:
            settle(client, brokers)
        return brokers

    @contextmanager
    def without(self, broker: Broker) -> Iterator[None]:
        """A broker is dead inside of the block, and the others know; after it all are as `brokers` tells."""
        release = broker.release.version
        broker.die()
        try:
            with self.client(release) as client:
                settle(client, self._brokers[release])
            yield
        finally:
            self.brokers(release)

    @contextmanager
    def client(self, release: str) -> Iterator[KazooClient]:
        """A kazoo client in the chroot of a release's cluster, to read what is really there."""
        client = KazooClient(self.address(release))
        client.start(timeout=60.0)
        try:
            yield client
        finally:
            client.stop()
            client.close()

    def stop(self) -> None:
        """End every broker, and the tools."""
        self._end(self._brokers)
        self._mains.stop()

    def _end(self, releases: Iterable[str]) -> None:
        alive = [broker for release in releases for broker in self._brokers[release] if broker.alive]
        if alive:
            with ThreadPoolExecutor(max_workers=self._count) as pool:
                list(pool.map(Broker.die, alive))
            self._mains.stop()

    def _make(self, release: str, id: int) -> Broker:  # noqa: A002 - Kafka's own word
        racks = {} if release == "0.8.2.2" else {"broker.rack": "ab"[id % 2]}
        return Broker(
            release,
            self.address(release),
            id=id,
            data_dir=self._data_dir / f"{release}-{id}",
            properties=SETTINGS | racks,
            mains=self._mains,
        )


def settle(client: KazooClient, brokers: list[Broker]) -> None:
    """Wait until `is_settled`; `client` is in the cluster's chroot."""
    if client.exists(f"/brokers/topics/{PROBE}") is None:
        everybody = sorted(broker.id for broker in brokers)
        client.create(f"/brokers/topics/{PROBE}", _json({"version": 1, "partitions": {"0": everybody}}))
        client.ensure_path("/config/topics")
        client.create(f"/config/topics/{PROBE}", _json({"version": 1, "config": {}}))
    wait_for(
        lambda: is_settled(client, brokers),
        SETTLE_LIMIT_S,
        lambda: _standing(client, brokers),
        every_s=0.05,
    )


def is_settled(client: KazooClient, brokers: list[Broker]) -> bool:
    """Whether those of the brokers that live, and no others, are registered and known to each other.

    A registration alone tells less: the controller learns of it later, the others from the controller.
    """
    alive = [broker for broker in brokers if broker.alive]
    ids = {broker.id for broker in alive}
    state = _get(client, f"/brokers/topics/{PROBE}/partitions/0/state")
    controller = _get(client, "/controller")
    return (
        controller is not None
        and controller["brokerid"] in ids
        and set(map(int, client.get_children("/brokers/ids"))) == ids
        and state is not None
        and set(state["isr"]) == ids
        and all(_known(broker) == (ids, state["leader"]) for broker in alive)
    )


def _known(broker: Broker) -> tuple[set[int], int | None]:
    """The brokers that a broker tells clients of, and who leads the probe for it."""
    try:
        answer = ask(broker.port, MetadataRequest(topics=[PROBE]), MetadataResponse, 0)
    except OSError:
        return set(), None
    told = [one.leader_id for topic in answer.topics for one in topic.partitions]
    return {one.node_id for one in answer.brokers}, told[0] if told else None


def _standing(client: KazooClient, brokers: list[Broker]) -> object:
    ids = client.get_children("/brokers/ids")
    state = _get(client, f"/brokers/topics/{PROBE}/partitions/0/state")
    return (
        ids,
        _get(client, "/controller"),
        state,
        {broker.id: _known(broker) for broker in brokers if broker.alive},
    )


def _get(client: KazooClient, path: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(client.get(path)[0])
    except NoNodeError:
        return None
    return found


def _json(document: object) -> bytes:
    return json.dumps(document).encode()
