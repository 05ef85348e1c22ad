"""A sampler on a real cluster, told of brokers and leaders from its ZooKeeper as a watcher would."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple, TypeVar

from kafka.protocol.metadata import FindCoordinatorRequest, FindCoordinatorResponse
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests.broker.asking import ask
from tests.lab.cluster import Lab
from tests.lab.kafka import Broker
from tests.waiting import wait_for
from zkdash.broker.pace import Pace
from zkdash.broker.sampler import Sampler
from zkdash.broker.samples import GroupCommits, LogEnds
from zkdash.kafka import values
from zkdash.kafka.layouts import brokers

PACE = Pace(every_s=0.1, slow_s=0.5, tick_s=0.02, limit_s=1.0, announce_s=0.05)
LIMIT_S = 120.0
# Enough for each partition of __consumer_offsets to keep the commits of one.
GROUPS = tuple(f"group-{number}" for number in range(8))

T = TypeVar("T")


class Site(NamedTuple):
    """A real cluster, and a sampler that follows its ZooKeeper."""

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
        wait_for(lambda: len(self.leaders(topic) or ()) == partitions, limit_s=LIMIT_S)

    def coordinator(self, group: str) -> int | None:
        """The coordinator of a group as a broker names it; None while it cannot.

        Asking makes the topic that keeps commits where it is not there yet: what we never do ourselves.
        """
        answer = ask(self.brokers[0].port, FindCoordinatorRequest(key=group), FindCoordinatorResponse, 0)
        return None if answer.error_code else int(answer.node_id)

    def ends(self, topic: str, ready: Callable[[Mapping[int, object]], bool]) -> Mapping[int, object]:
        """The samples of a topic, all asked for after this moment, once they are as they should be."""

        def sampled(after: float) -> Mapping[int, object]:
            self.sampler.want([topic])
            found = self.sampler.samples.ends.get(topic, {})
            known = [one for one in found.values() if isinstance(one, LogEnds)]
            is_whole = len(found) == len(self.leaders(topic) or ())
            is_new = all(one.sampled_at > after for one in known)
            return found if is_whole and is_new and ready(found) else {}

        return _asked_now(sampled, lambda: self.sampler.samples.ends.get(topic))

    def commits(self, group: str, topic: str) -> GroupCommits:
        """What the group committed to Kafka, asked for after this moment, once its coordinator told."""

        def sampled(after: float) -> GroupCommits | None:
            self.sampler.want(groups={group: [topic]})
            found = self.sampler.samples.committed(group)
            return found if isinstance(found, GroupCommits) and found.sampled_at > after else None

        return _asked_now(sampled, lambda: self.sampler.samples.committed(group))

    def _leader(self, topic: str, partition: str) -> int:
        path = f"/brokers/topics/{topic}/partitions/{partition}/state"
        return int(json.loads(self.client.get(path)[0])["leader"])


def _asked_now(sampled: Callable[[float], T | None], message: Callable[[], object]) -> T:
    """The second sample that is answered from now on: of the first, the question may be older."""
    for _ in range(2):
        found = wait_for(partial(sampled, time.time()), limit_s=LIMIT_S, message=message)
    return found


@contextmanager
def sampling(lab: Lab, release: str) -> Iterator[Site]:
    """The running brokers of a release, and a sampler that follows them."""
    running = lab.brokers(release)
    sampler = Sampler(release, on_change=lambda _: None, pace=PACE)
    with lab.client(release) as client:
        site = Site(running, client, sampler)
        # Tools do not wait for it for long.
        wait_for(lambda: None not in map(site.coordinator, GROUPS), LIMIT_S, every_s=0.05)
        site.follow()
        sampler.start()
        try:
            yield site
        finally:
            sampler.stop()


def all_known(found: Mapping[int, object]) -> bool:
    return all(isinstance(value, LogEnds) for value in found.values())


def spans(found: Mapping[int, object]) -> dict[int, tuple[int, int]]:
    """Start and end of the partitions that are known."""
    return {n: (value.start, value.end) for n, value in found.items() if isinstance(value, LogEnds)}
