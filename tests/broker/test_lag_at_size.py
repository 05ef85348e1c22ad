"""How old the lag of many groups gets, and what brokers are asked for it, by a clock that waits for them.

Brokers answer on this machine; of time only that counts which the pace has go by.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import immutables
import msgspec
from kafka.protocol.admin import DescribeGroupsRequest, DescribeGroupsResponse, ListGroupsResponse
from kafka.protocol.consumer import OffsetFetchRequest, OffsetFetchResponse

from tests import full
from tests.broker.listening import LIST_OFFSETS, Asked, Behaviour, Listening, ends, framed
from zkdash.broker.ledger import Ledger, Sampled
from zkdash.broker.pace import Pace
from zkdash.broker.resolver import addresses
from zkdash.broker.rounds import Needs, Rounds
from zkdash.cluster.model.state import ClusterState
from zkdash.kafka.consumers import coordinators
from zkdash.kafka.values import Broker, Layout
from zkdash.live.watching.lag_book import LagBook

# Of the 1 000 groups on 20 000 partitions that are promised, and of the limits, every run takes a tenth.
SHARE = full.pick(10, 1)
GROUPS = 1_000 // SHARE
PARTITIONS = 20
BROKERS = 10
PACE = msgspec.structs.replace(Pace(), slow=Pace().slow // SHARE, slow_groups=Pace().slow_groups // SHARE)
OLDEST_S = 60.0
OFFSETS = {n: 1 + n % BROKERS for n in range(50)}
END, READ = 1_000, 990


def topic_of(group: str) -> str:
    return f"topic-of-{group}"


def coordinated(broker: int) -> list[str]:
    """The groups that a broker coordinates."""
    every = (f"group-{number:04}" for number in range(GROUPS))
    return [name for name in every if OFFSETS[coordinators.partition_of(name, len(OFFSETS))] == broker]


def answers(groups: list[str]) -> Behaviour:
    """A broker that coordinates these groups, each of which read almost all of its topic."""

    def answer(asked: Asked) -> bytes | None:
        if asked.key == LIST_OFFSETS:
            return ends(lambda _: END)(asked)
        return framed(asked, _body(asked, groups))

    return answer


def _body(asked: Asked, groups: list[str]) -> bytes:
    body: Any
    if asked.key == ListGroupsResponse.API_KEY:
        listed = ListGroupsResponse.ListedGroup
        body = ListGroupsResponse(
            error_code=0, groups=[listed(group_id=name, protocol_type="consumer") for name in groups]
        )
    elif asked.key == DescribeGroupsResponse.API_KEY:
        group = DescribeGroupsResponse.DescribedGroup
        body = DescribeGroupsResponse(
            groups=[
                group(
                    error_code=0,
                    group_id=name,
                    group_state="Empty",
                    protocol_type="consumer",
                    protocol_data="",
                )
                for name in DescribeGroupsRequest.decode(asked.body, version=0).groups
            ]
        )
    else:
        name = OffsetFetchRequest.decode(asked.body, version=2).group_id
        of_topic = OffsetFetchResponse.OffsetFetchResponseTopic
        commit = of_topic.OffsetFetchResponsePartition
        offsets = [
            commit(partition_index=n, committed_offset=READ, metadata="", error_code=0)
            for n in range(PARTITIONS)
        ]
        body = OffsetFetchResponse(topics=[of_topic(name=topic_of(name), partitions=offsets)], error_code=0)
    encoded: bytes = body.encode(version=asked.version)
    return encoded


class Heard(Ledger):
    """A ledger that tells its loop of every answer."""

    news: asyncio.Event

    def _publish(self, **fields: object) -> None:
        super()._publish(**fields)
        self.news.set()


class Watch:
    """Rounds, and a book of their lags, whose clock stands while a broker is asked."""

    def __init__(self, brokers: Mapping[int, Broker]) -> None:
        self.now = 1_000.0
        self.book = LagBook()
        self._ledger = Heard(lambda: self.now)
        self._ledger.news = asyncio.Event()
        topics = {topic_of(name): dict.fromkeys(range(PARTITIONS), 0) for name in _names()}
        leaders: dict[str, Mapping[int, int | None]] = {
            name: {n: 1 + (number + n) % BROKERS for n in range(PARTITIONS)}
            for number, name in enumerate(topics)
        }
        leaders[coordinators.OFFSETS_TOPIC] = OFFSETS
        needs = Needs(keeps_all=True)
        needs.world = brokers, immutables.Map(leaders).get, leaders
        self.rounds = Rounds(
            needs,
            self._ledger,
            pace=PACE,
            clock=lambda: self.now,
            wall=lambda: self.now,
            lookup=addresses,
        )

    async def tick(self) -> None:
        await self.rounds.tick()
        while self._is_asking():
            self._ledger.news.clear()
            await self._ledger.news.wait()
        self.book.take(self._ledger.sampled() or Sampled(), ClusterState(), self._ledger.samples, self.now)
        self.now += PACE.tick_s

    def _is_asking(self) -> bool:
        peers = self.rounds._peers.values()
        is_to_ask = any(p._partitions or p._groups or p._is_to_list or p._undescribed for p in peers)
        return is_to_ask or self.rounds._gate._value < PACE.links

    def oldest_s(self) -> float:
        """The age of the oldest answer that any lag is made of; all lags must be known."""
        known = self.book.lags.groups
        assert {lag.lag for lag in known.values()} == {PARTITIONS * (END - READ)}
        assert len(known) == GROUPS
        return max(self.now - (lag.as_of or 0.0) for lag in known.values())


def _names() -> list[str]:
    return [f"group-{number:04}" for number in range(GROUPS)]


async def _watched(servers: Mapping[int, Listening]) -> tuple[float, Counter[int]]:
    """The greatest age of a lag in two minutes, and how many requests of each kind a minute these took."""
    brokers = {
        number: Broker(
            number,
            Layout.V08,
            "127.0.0.1",
            server.port,
            version=4,
            endpoints=(f"PLAINTEXT://127.0.0.1:{server.port}",),
        )
        for number, server in servers.items()
    }
    watch = Watch(brokers)
    try:
        while watch.now < 1_000 + 2 * PACE.slow_s:
            await watch.tick()
        before = _asked(servers)
        oldest_s, until = 0.0, watch.now + 120
        while watch.now < until:
            await watch.tick()
            oldest_s = max(oldest_s, watch.oldest_s())
    finally:
        await watch.rounds.stop()
    asked = _asked(servers)
    return oldest_s, Counter({key: round((asked[key] - before[key]) / 2) for key in asked})


def _asked(servers: Mapping[int, Listening]) -> Counter[int]:
    return Counter(asked.key for server in servers.values() for asked in server.requests)


def test_no_lag_of_many_groups_is_older_than_a_minute_within_the_limits_of_asking() -> None:
    with ExitStack() as stack:
        servers = {
            number: stack.enter_context(Listening(answers(coordinated(number))))
            for number in range(1, BROKERS + 1)
        }
        oldest_s, a_minute = asyncio.run(_watched(servers))
    assert oldest_s <= OLDEST_S
    rounds = 60 / PACE.every_s
    assert a_minute[OffsetFetchRequest.API_KEY] <= PACE.slow_groups * rounds
    assert a_minute[OffsetFetchRequest.API_KEY] <= GROUPS * 60 / PACE.slow_s + PACE.slow_groups
    assert a_minute[LIST_OFFSETS] <= 2 * BROKERS * rounds
    assert sum(a_minute.values()) < 1.5 * GROUPS + 3 * BROKERS * rounds
