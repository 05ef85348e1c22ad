"""What the sampler does at each tick: who is due, who leads it, and which broker is asked about it."""

from __future__ import annotations

import asyncio
import itertools
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping

import msgspec

from zkdash.broker.interest import Either, Interest
from zkdash.broker.ledger import Ledger
from zkdash.broker.pace import Pace
from zkdash.broker.peer import Peer, tells_all_topics
from zkdash.broker.questions import Partition
from zkdash.broker.resolver import Lookup, Resolver
from zkdash.broker.samples import GroupCommits
from zkdash.configuration.brokers import IN_THE_CLEAR, Security
from zkdash.kafka.consumers import coordinators
from zkdash.kafka.values import Broker

# Partition id to the broker that leads it (None or -1 for none); None for a topic that does not exist.
Leaders = Callable[[str], Mapping[int, int | None] | None]

_ALL = "all brokers"
_NO_TOPIC = (
    "brokers before 0.10.2 tell commits of named topics only, and no topic of the group is known;"
    " while its page is open they are asked about all"
)


def _nowhere(_: str) -> None:
    return None


def _one(_: str) -> int:
    return 1


class Needs:
    """What other threads say: two pointers, a queue of looks, and whether somebody looks at all groups.

    `keeps_all` tells that all groups that brokers list are worth a slow round, looked at or not.
    """

    def __init__(self, *, keeps_all: bool = False) -> None:
        self.keeps_all = keeps_all
        self.world: tuple[Mapping[int, Broker], Leaders, Collection[str]] = ({}, _nowhere, ())
        self.kept: tuple[Collection[str], Mapping[str, Collection[str]]] = ((), {})
        self.wanted: deque[tuple[Collection[str], Mapping[str, Collection[str]]]] = deque(maxlen=10_000)
        self.listing = False


class Rounds:
    """Lives on the sampler's loop."""

    def __init__(
        self,
        needs: Needs,
        ledger: Ledger,
        *,
        pace: Pace,
        clock: Callable[[], float],
        wall: Callable[[], float],
        lookup: Lookup,
        security: Security = IN_THE_CLEAR,
    ) -> None:
        self._needs = needs
        self._ledger = ledger
        self._pace = pace
        self._clock = clock
        self._wall = wall
        self._resolver = Resolver(lookup)
        self._security = security
        self._gate = asyncio.Semaphore(pace.links)
        self._topics = _interest(pace, slow=pace.slow)
        self._groups = _interest(pace, slow=pace.slow_groups)
        self._descriptions = _interest(pace, slow=pace.slow_descriptions)
        self._listings = _interest(msgspec.structs.replace(pace, every_s=pace.slow_s), slow=1)
        self._used: dict[str, Collection[str]] = {}
        self._swept: dict[str, float] = {}
        self._retentions_asked: dict[int, float] = {}
        self._listings_asked: set[int] = set()
        self._peers: dict[int, Peer] = {}
        self._forgot_at = float("-inf")
        self._brokers: Mapping[int, Broker] = {}
        self._leaders: Leaders = _nowhere
        self._names: Collection[str] = ()

    async def tick(self) -> None:
        """Hand out what is due now; never waits for a broker."""
        now = self._clock()
        await self._meet()
        self._listen(now)
        self._ask_ends(now)
        self._ask_commits(now)
        self._ask_listings(now)
        self._ask_descriptions(now)
        self._forget(now)

    async def stop(self) -> None:
        """Stop asking everybody."""
        await asyncio.gather(*(peer.stop() for peer in self._peers.values()))
        self._peers.clear()

    async def _meet(self) -> None:
        """Part with brokers whose registration is gone or is another one."""
        brokers, self._leaders, self._names = self._needs.world
        if brokers is self._brokers:
            return
        self._brokers = brokers
        parted = [peer for number, peer in self._peers.items() if brokers.get(number) != peer.broker]
        for peer in parted:
            del self._peers[peer.broker.id]
            self._retentions_asked.pop(peer.broker.id, None)
            self._listings_asked.discard(peer.broker.id)
            self._ledger.part(peer.broker.id)
        await asyncio.gather(*(peer.stop() for peer in parted))

    def _listen(self, now: float) -> None:
        while self._needs.wanted:
            topics, groups = self._needs.wanted.popleft()
            self._topics.want(topics, now)
            self._groups.want(groups, now)
            self._used.update(groups)
            self._descriptions.want([group for group in groups if group in self._ledger.listed], now)
        if self._needs.listing or self._needs.keeps_all:
            self._needs.listing = False
            self._listings.want([_ALL], now)
        self._keep(now)

    def _keep(self, now: float) -> None:
        """What is worth a slow round: what was named, and what brokers list."""
        topics, groups = self._needs.kept
        if self._needs.keeps_all:
            self._topics.keep(Either(self._ledger.used, topics))
            self._groups.keep(Either(self._ledger.listed, groups))
        else:
            self._topics.keep(topics)
            self._groups.keep(groups)
        is_listed = self._listings.is_looked_at(_ALL, now)
        self._descriptions.keep(self._ledger.listed if is_listed else ())

    def _ask_ends(self, now: float) -> None:
        demands: dict[int, list[Partition]] = defaultdict(list)
        for topic in self._topics.due(now, self._size):
            leaders = self._leaders(topic)
            if leaders is None:
                self._ledger.drop(topics=[topic])
                continue
            self._ledger.keep_partitions(topic, leaders)
            unasked = {}
            for partition, leader in leaders.items():
                reason = self._no_way_to(leader)
                if reason is None and leader is not None:
                    demands[leader].append((topic, partition))
                else:
                    unasked[partition] = reason or ""
            if unasked:
                self._ledger.unknown(topic, unasked)
        for broker, partitions in demands.items():
            self._peer(broker).demand_ends(partitions)

    def _ask_commits(self, now: float) -> None:
        if self._leaders is _nowhere:
            return  # nobody told yet which topics there are
        self._groups.again(self._ledger.passing())
        due = self._groups.due(now, _one)
        offsets = self._leaders(coordinators.OFFSETS_TOPIC) if due else None
        for group in due:
            if offsets is None:
                self._ledger.no_commits(group)
                continue
            coordinator = self._coordinator(group, offsets)
            if isinstance(coordinator, str):
                self._ledger.unknown_commits(group, coordinator)
            else:
                self._ask_coordinator(group, coordinator, now)

    def _ask_coordinator(self, group: str, coordinator: int, now: float) -> None:
        is_looked_at = self._groups.is_looked_at(group, now)
        if is_looked_at:
            self._ask_retention(coordinator, now)
        if tells_all_topics(self._brokers[coordinator]):
            self._peer(coordinator).demand_commits(group, None)
        elif partitions := self._partitions_of(group):
            self._peer(coordinator).demand_commits(group, partitions)
        elif is_looked_at:
            self._sweep(group, coordinator, now)
        elif partitions := self._partitions(self._ledger.topics_of(group)):
            self._peer(coordinator).demand_commits(group, partitions)
        elif group not in self._ledger.samples.commits:
            self._ledger.unknown_commits(group, _NO_TOPIC)

    def _ask_retention(self, broker: int, now: float) -> None:
        """Ask once a registration; who did not say is asked again, seldom."""
        answer = self._ledger.samples.retentions.get(broker)
        if answer is not None and not answer.reason:
            return
        is_new = answer is None and broker not in self._retentions_asked
        if is_new or now - self._retentions_asked.get(broker, now) >= self._pace.slow_s:
            self._retentions_asked[broker] = now
            self._peer(broker).demand_retention()

    def _sweep(self, group: str, coordinator: int, now: float) -> None:
        """Ask about all partitions: who has no members commits nothing, and leaves no topic to name."""
        is_told = isinstance(self._ledger.samples.commits.get(group), GroupCommits)
        if is_told and now - self._swept.get(group, float("-inf")) < self._pace.slow_s:
            return
        self._swept[group] = now
        every = ((topic, n) for topic in sorted(self._names) for n in self._leaders(topic) or ())
        partitions = list(itertools.islice(every, self._pace.sweep))
        is_whole = next(every, None) is None
        self._peer(coordinator).demand_commits(group, partitions, whole=is_whole)

    def _ask_listings(self, now: float) -> None:
        """All brokers, since nobody knows who coordinates a group before its name; who is new, at once."""
        if self._brokers and self._listings.due(now, _one):
            self._listings_asked.clear()
        elif not self._listings.is_looked_at(_ALL, now):
            return
        for broker in set(self._brokers) - self._listings_asked:
            self._listings_asked.add(broker)
            self._peer(broker).demand_listing()

    def _ask_descriptions(self, now: float) -> None:
        """Whoever lists a group coordinates it."""
        by_broker: dict[int, list[str]] = defaultdict(list)
        for group in self._descriptions.due(now, _one):
            broker = self._ledger.listed.get(group)
            if broker is not None and broker in self._brokers:
                by_broker[broker].append(group)
        for broker, groups in by_broker.items():
            self._peer(broker).demand_descriptions(groups)

    def _coordinator(self, group: str, offsets: Mapping[int, int | None]) -> int | str:
        """The broker that keeps a group's commits, from ZooKeeper alone: asking would create the topic."""
        if not offsets:
            return f"the partitions of {coordinators.OFFSETS_TOPIC} cannot be told"
        partition = coordinators.partition_of(group, len(offsets))
        leader = offsets.get(partition)
        reason = self._no_way_to(leader)
        if reason or leader is None:
            kept_in = f"partition {partition} of {coordinators.OFFSETS_TOPIC}"
            return f"the group's commits are in {kept_in}, which has {reason}"
        return leader

    def _no_way_to(self, leader: int | None) -> str | None:
        if leader is None or leader < 0:
            return "no leader"
        return None if leader in self._brokers else f"no leader: broker {leader}, its last, is not registered"

    def _partitions_of(self, group: str) -> list[Partition]:
        topics = self._used.get(group) or self._needs.kept[1].get(group, ())
        return self._partitions(topics)

    def _partitions(self, topics: Collection[str]) -> list[Partition]:
        return [(topic, n) for topic in topics for n in self._leaders(topic) or ()]

    def _size(self, topic: str) -> int:
        return max(1, len(self._leaders(topic) or ()))

    def _peer(self, number: int) -> Peer:
        if number not in self._peers:
            self._peers[number] = Peer(
                self._brokers[number],
                sink=self._ledger,
                gate=self._gate,
                resolver=self._resolver,
                limit_s=self._pace.limit_s,
                security=self._security,
                clock=self._clock,
                wall=self._wall,
            )
        return self._peers[number]

    def _forget(self, now: float) -> None:
        if now - self._forgot_at < self._pace.every_s:
            return
        self._forgot_at = now
        self._listings.forget(now)
        if described := self._descriptions.forget(now):
            self._ledger.drop_descriptions(described)
        topics, groups = self._topics.forget(now), self._groups.forget(now)
        for group in groups:
            self._used.pop(group, None)
            self._swept.pop(group, None)
        if topics or groups:
            self._ledger.drop(topics=topics, groups=groups)


def _interest(pace: Pace, *, slow: int) -> Interest:
    return Interest(
        every_s=pace.every_s, slow_s=pace.slow_s, lease_s=pace.lease_s, often=pace.often, slow=slow
    )
