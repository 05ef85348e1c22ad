"""Partitions asked of their leaders once and now: nothing is sampled, kept or retried.

What cannot be told is a reason, never a number.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec

from zkdash.broker import endpoints
from zkdash.broker.link import Link, TroubleError
from zkdash.broker.peer import BATCH
from zkdash.broker.questions import Partition
from zkdash.broker.resolver import Lookup, Resolver, addresses
from zkdash.broker.rounds import Leaders
from zkdash.configuration.brokers import IN_THE_CLEAR, Security
from zkdash.kafka.values import Broker, Layout

_MOST_LINKS = 32
Answer = TypeVar("Answer")


class Reason(msgspec.Struct, frozen=True, gc=False):
    """Why nobody told: a clause, as "cannot ask broker 3: connection refused at 10.0.0.3:9092"."""

    sentence: str


# Asks a broker for some partitions that it leads: what it tells of each.
Batch = Callable[[Link, Broker, Sequence[Partition]], Awaitable[Mapping[Partition, Answer | Reason]]]


def ask(
    brokers: Mapping[int, Broker],
    leaders: Leaders,
    partitions: Collection[Partition],
    batch: Batch[Answer],
    *,
    limit_s: float = 5.0,
    lookup: Lookup = addresses,
    security: Security = IN_THE_CLEAR,
) -> dict[Partition, Answer | Reason]:
    """An answer for every (topic, partition) that is named, after `limit_s` seconds at the latest.

    It never raises for what a broker does. It blocks: call it from a view's thread, never from one that runs
    an event loop, and only where the cluster's configuration lets brokers be asked.

    `brokers` are the registered ones by id, of which no other address is dialled; `leaders` gives a topic's
    leader by partition id (None or -1 for none), or None for a topic that does not exist: as for
    `Sampler.update`. 0.7 is not asked: its protocol is another. `security` is how brokers are spoken to.
    """
    answers: dict[Partition, Answer | Reason] = {}
    demands: dict[int, list[Partition]] = defaultdict(list)
    leaders_of = {topic: leaders(topic) for topic in dict.fromkeys(topic for topic, _ in partitions)}
    is_07 = any(broker.layout is Layout.V07 for broker in brokers.values())
    for topic, partition in dict.fromkeys(partitions):
        leader = _leader(brokers, leaders_of[topic], topic, partition)
        if is_07:
            answers[topic, partition] = Reason("Kafka 0.7 is not asked: its protocol is not spoken here")
        elif isinstance(leader, Reason):
            answers[topic, partition] = leader
        else:
            demands[leader].append((topic, partition))
    if demands:
        asking = _Asking(answers, batch, limit_s, Resolver(lookup), security)
        asyncio.run(asking.all_of([(brokers[number], wanted) for number, wanted in demands.items()]))
    return answers


def _leader(
    brokers: Mapping[int, Broker], leaders: Mapping[int, int | None] | None, topic: str, partition: int
) -> int | Reason:
    if leaders is None:
        return Reason(f"there is no topic {topic}")
    if partition not in leaders:
        return Reason(f"nothing is known of partition {partition} of {topic}")
    leader = leaders[partition]
    if leader is None or leader < 0:
        return Reason("no leader")
    return leader if leader in brokers else Reason(f"no leader: broker {leader}, its last, is not registered")


class _Asking(Generic[Answer]):
    """One run: every leader beside the others, each batch of one after the other."""

    def __init__(
        self,
        answers: dict[Partition, Answer | Reason],
        batch: Batch[Answer],
        limit_s: float,
        resolver: Resolver,
        security: Security,
    ) -> None:
        self._answers = answers
        self._batch = batch
        self._limit_s = limit_s
        self._resolver = resolver
        self._security = security
        self._gate = asyncio.Semaphore(_MOST_LINKS)

    async def all_of(self, demands: Sequence[tuple[Broker, Sequence[Partition]]]) -> None:
        tasks = [asyncio.create_task(self._broker(*demand)) for demand in demands]
        _, late = await asyncio.wait(tasks, timeout=self._limit_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for broker, wanted in demands:
            reason = Reason(f"broker {broker.id} did not tell within {self._limit_s:g} s")
            for partition in wanted:
                self._answers.setdefault(partition, reason)
        for task in tasks:
            if not task.cancelled():
                task.result()  # what a broker does never raises: this would be our own mistake

    async def _broker(self, broker: Broker, wanted: Sequence[Partition]) -> None:
        endpoint = endpoints.choose(broker, self._security.protocol)
        if isinstance(endpoint, str):
            self._answers.update(dict.fromkeys(wanted, Reason(f"cannot ask broker {broker.id}: {endpoint}")))
            return
        link = Link(endpoint, self._resolver, limit_s=self._limit_s, security=self._security)
        try:
            async with self._gate:
                for first in range(0, len(wanted), BATCH):
                    self._answers.update(await self._batch(link, broker, wanted[first : first + BATCH]))
        except TroubleError as error:
            reason = Reason(f"cannot ask broker {broker.id}: {error}")
            for partition in wanted:
                self._answers.setdefault(partition, reason)
        finally:
            link.close()
