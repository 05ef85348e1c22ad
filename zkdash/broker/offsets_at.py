"""Offsets asked for once and now: where a log starts and ends, or where it stood at a moment.

For a form that shall write them: nothing is sampled, kept or retried, and what cannot be told is a reason,
never a number. Source: kafka.server.KafkaApis.handleListOffsetRequest; KIP-79 (version 1, 0.10.1+).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import msgspec

from zkdash.broker import endpoints, questions
from zkdash.broker.link import Link, TroubleError
from zkdash.broker.peer import BATCH
from zkdash.broker.questions import EARLIEST, LATEST, Partition
from zkdash.broker.resolver import Lookup, Resolver, addresses
from zkdash.broker.rounds import Leaders
from zkdash.kafka.values import Broker, Layout

__all__ = ["EARLIEST", "LATEST", "Absent", "At", "Found", "Reason", "ask"]

# Registration version 4 came with 0.10.2; version 3 is that of 0.10.0 too, which knows no message's time.
_KNOWS_TIMES = 4
_MOST_LINKS = 32


class At(msgspec.Struct, frozen=True, gc=False):
    """The offset that was asked for.

    `is_exact` is False where the broker knows the times of segments only (asked with version 0: brokers to
    0.10.1): it is then the first offset of the last segment that was complete at the moment, so that
    messages from before it follow, up to a segment's length and more.
    """

    offset: int
    is_exact: bool = True


class Absent(msgspec.Struct, frozen=True, gc=False):
    """The log has no such offset. `nearest` is the end to take instead: EARLIEST or LATEST."""

    sentence: str
    nearest: int


class Reason(msgspec.Struct, frozen=True, gc=False):
    """Why nobody told: a clause, as "cannot ask broker 3: connection refused at 10.0.0.3:9092"."""

    sentence: str


Found: TypeAlias = At | Absent | Reason


def ask(
    brokers: Mapping[int, Broker],
    leaders: Leaders,
    partitions: Collection[Partition],
    at: int,
    *,
    limit_s: float = 5.0,
    lookup: Lookup = addresses,
) -> Mapping[Partition, Found]:
    """Ask the leaders for an offset of each (topic, partition): EARLIEST, LATEST, or at an epoch millisecond.

    The offset at a moment is that of the first message which is as late (its CreateTime or LogAppendTime,
    as the topic is configured). Answers for every partition that is named, after `limit_s` seconds at the
    latest, and never raises for what a broker does. It blocks: call it from a view's thread, never from one
    that runs an event loop, and only where the cluster's configuration lets brokers be asked.

    `brokers` are the registered ones by id, of which no other address is dialled; `leaders` gives a topic's
    leader by partition id (None or -1 for none), or None for a topic that does not exist: as for
    `Sampler.update`. 0.7 is not asked: its offsets are byte positions, and its protocol is another.
    """
    offsets: dict[Partition, Found] = {}
    demands: dict[int, list[Partition]] = defaultdict(list)
    leaders_of = {topic: leaders(topic) for topic in dict.fromkeys(topic for topic, _ in partitions)}
    is_07 = any(broker.layout is Layout.V07 for broker in brokers.values())
    for topic, partition in dict.fromkeys(partitions):
        leader = _leader(brokers, leaders_of[topic], topic, partition)
        if is_07:
            offsets[topic, partition] = Reason("Kafka 0.7 is not asked: its protocol is not spoken here")
        elif isinstance(leader, Reason):
            offsets[topic, partition] = leader
        else:
            demands[leader].append((topic, partition))
    if demands:
        asking = _Asking(offsets, at, limit_s, Resolver(lookup))
        asyncio.run(asking.all_of([(brokers[number], wanted) for number, wanted in demands.items()]))
    return offsets


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


class _Asking:
    """One run: every leader beside the others, each batch of one after the other."""

    def __init__(self, offsets: dict[Partition, Found], at: int, limit_s: float, resolver: Resolver) -> None:
        self._found = offsets
        self._at = at
        self._limit_s = limit_s
        self._resolver = resolver
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
                self._found.setdefault(partition, reason)
        for task in tasks:
            if not task.cancelled():
                task.result()  # what a broker does never raises: this would be our own mistake

    async def _broker(self, broker: Broker, wanted: Sequence[Partition]) -> None:
        endpoint = endpoints.choose(broker)
        if isinstance(endpoint, str):
            self._found.update(dict.fromkeys(wanted, Reason(f"cannot ask broker {broker.id}: {endpoint}")))
            return
        link = Link(endpoint, self._resolver, limit_s=self._limit_s)
        version = 1 if (broker.version or 0) >= _KNOWS_TIMES else 0
        try:
            async with self._gate:
                for first in range(0, len(wanted), BATCH):
                    await self._batch(link, wanted[first : first + BATCH], version)
        except TroubleError as error:
            reason = Reason(f"cannot ask broker {broker.id}: {error}")
            for partition in wanted:
                self._found.setdefault(partition, reason)
        finally:
            link.close()

    async def _batch(self, link: Link, batch: Sequence[Partition], version: int) -> None:
        answer = await link.ask(questions.log_offsets(batch, self._at, version))
        for partition, offset in questions.read_offsets_at(answer, batch, version).items():
            self._found[partition] = self._worded(offset, version)

    def _worded(self, answered: int | str | None, version: int) -> Found:
        if answered is None and version:
            return Absent("the log holds no message as late as that", LATEST)
        if answered is None:
            return Absent("no segment of the log was complete by then", EARLIEST)
        if isinstance(answered, str):
            return Reason(answered)
        return At(answered, is_exact=bool(version) or self._at in (EARLIEST, LATEST))
