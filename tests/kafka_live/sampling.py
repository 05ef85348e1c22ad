"""A sampler on a real cluster, told of brokers and leaders from its ZooKeeper as a watcher would."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests.lab.cluster import Lab
from tests.lab.kafka import Broker
from tests.waiting import wait_for
from zkdash.broker.pace import Pace
from zkdash.broker.sampler import Sampler
from zkdash.broker.samples import GroupCommits, LogEnds
from zkdash.kafka import values
from zkdash.kafka.layouts import brokers

PACE = Pace(every_s=0.3, tick_s=0.02, limit_s=1.0, announce_s=0.05)
LIMIT_S = 20.0


class Site(NamedTuple):
    """A real cluster of two brokers, and a sampler that follows its ZooKeeper."""

    brokers: list[Broker]
    client: KazooClient
    sampler: Sampler

    def follow(self) -> None:
        """Tell the sampler what ZooKeeper holds now."""
        self.sampler.update(self.registered(), self.leaders)

    def registered(self) -> dict[int, values.Broker]:
        """The registrations of this moment."""
        ids = self.client.get_children("/brokers/ids")
        held = {int(n): brokers.parse_broker(int(n), self.client.get(f"/brokers/ids/{n}")[0])[0] for n in ids}
        return {n: broker for n, broker in held.items() if isinstance(broker, values.Broker)}

    def leaders(self, topic: str) -> Mapping[int, int | None] | None:
        """The leaders of this moment."""
        try:
            states = self.client.get_children(f"/brokers/topics/{topic}/partitions")
            return {int(n): self._leader(topic, n) for n in states}
        except NoNodeError:
            return None

    def create(self, topic: str, partitions: int) -> None:
        """Create a topic, and wait until every partition has its leader."""
        self.brokers[0].create_topic(topic, partitions=partitions)
        wait_for(lambda: len(self.leaders(topic) or ()) == partitions)

    def ends(self, topic: str, ready: Callable[[Mapping[int, object]], bool]) -> Mapping[int, object]:
        """The samples of a topic, once they are as they should be."""

        def sampled() -> Mapping[int, object]:
            self.sampler.want([topic])
            found = self.sampler.samples.ends.get(topic, {})
            return found if len(found) == len(self.leaders(topic) or ()) and ready(found) else {}

        return wait_for(sampled, limit_s=LIMIT_S, message=lambda: self.sampler.samples.ends.get(topic))

    def commits(self, group: str, topic: str) -> GroupCommits:
        """What the group committed to Kafka, once its coordinator told."""

        def sampled() -> GroupCommits | None:
            self.sampler.want(groups={group: [topic]})
            found = self.sampler.samples.committed(group)
            return found if isinstance(found, GroupCommits) else None

        return wait_for(sampled, limit_s=LIMIT_S, message=lambda: self.sampler.samples.committed(group))

    def _leader(self, topic: str, partition: str) -> int:
        path = f"/brokers/topics/{topic}/partitions/{partition}/state"
        return int(json.loads(self.client.get(path)[0])["leader"])


@contextmanager
def sampling(lab: Lab, release: str) -> Iterator[Site]:
    """Two running brokers of a release, and a sampler that follows them."""
    running = lab.brokers(release, 2)
    sampler = Sampler(release, on_change=lambda _: None, pace=PACE)
    with lab.client(release) as client:
        site = Site(running, client, sampler)
        site.follow()
        sampler.start()
        yield site
        sampler.stop()


def all_known(found: Mapping[int, object]) -> bool:
    return all(isinstance(value, LogEnds) for value in found.values())


def spans(found: Mapping[int, object]) -> dict[int, tuple[int, int]]:
    """Start and end of the partitions that are known."""
    return {n: (value.start, value.end) for n, value in found.items() if isinstance(value, LogEnds)}
