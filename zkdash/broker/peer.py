"""One registered broker: what is to be asked of it, one question at a time, and its circuit breaker."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Protocol, TypeVar

from zkdash.broker import endpoints, questions
from zkdash.broker.breaker import Breaker
from zkdash.broker.coordinators import retention
from zkdash.broker.link import Link, TooLongError, TroubleError
from zkdash.broker.questions import Partition, Told
from zkdash.broker.resolver import Resolver
from zkdash.broker.samples import Commit, Description, Retention
from zkdash.configuration.brokers import Security
from zkdash.kafka.values import Broker

log = logging.getLogger(__name__)

BATCH = 1_000
# Registration version 4 came with 0.10.2, as did OffsetFetch version 2 (KIP-88).
_ALL_TOPICS = 4
# So many groups a request, that an answer is seldom long.
DESCRIBED = 20
# Version 2 came with 0.9.0, as did ListGroups and DescribeGroups.
_LISTS_GROUPS = 2

Reading = tuple[int, int] | str
T = TypeVar("T")


class Sink(Protocol):
    """Takes what a broker said: a value, or the reason why there is none."""

    def ends(self, broker: int, readings: Mapping[Partition, Reading]) -> None: ...

    def commits(self, broker: int, group: str, committed: Told | str, *, whole: bool) -> None: ...

    def described(self, descriptions: Mapping[str, Description | str]) -> None: ...

    def listing(self, broker: int, groups: frozenset[str] | str) -> None: ...

    def retention(self, broker: int, retention: Retention) -> None: ...

    def trouble(self, broker: int, reason: str | None) -> None: ...


class Peer:
    """Asks one broker; lives on the sampler's loop.

    What is still to be asked is a set, so that a slow broker is asked about the newest demand and no
    backlog. `gate` bounds how many brokers are asked at a time.
    """

    def __init__(
        self,
        broker: Broker,
        *,
        sink: Sink,
        gate: asyncio.Semaphore,
        resolver: Resolver,
        limit_s: float,
        security: Security,
        clock: Callable[[], float],
        wall: Callable[[], float],
    ) -> None:
        self.broker = broker
        self._sink = sink
        self._gate = gate
        self._clock = clock
        self._wall = wall
        self._breaker = Breaker()
        self._partitions: dict[Partition, None] = {}
        self._groups: dict[str, tuple[Collection[Partition] | None, bool]] = {}
        self._is_to_list = False
        self._is_to_tell_retention = False
        self._undescribed: dict[str, None] = {}
        self._wake = asyncio.Event()
        endpoint = endpoints.choose(broker, security.protocol)
        self._refusal = f"cannot ask broker {broker.id}: {endpoint}" if isinstance(endpoint, str) else None
        self._link = (
            None
            if isinstance(endpoint, str)
            else Link(endpoint, resolver, limit_s=limit_s, security=security)
        )
        self._task = asyncio.create_task(self._run(), name=f"broker {broker.id}")

    def demand_ends(self, partitions: Collection[Partition]) -> None:
        """Ask about the log ends of these partitions, which it leads."""
        self._partitions.update(dict.fromkeys(partitions))
        self._wake.set()

    def demand_commits(
        self, group: str, partitions: Collection[Partition] | None, *, whole: bool = False
    ) -> None:
        """Ask about a group that it coordinates: of these partitions, or of all (None) where it tells them.

        `whole` says that these are all that there are.
        """
        self._groups[group] = partitions, whole or partitions is None
        self._wake.set()

    def demand_listing(self) -> None:
        """Ask which groups it coordinates."""
        self._is_to_list = True
        self._wake.set()

    def demand_retention(self) -> None:
        """Ask how long it keeps the offsets of groups."""
        self._is_to_tell_retention = True
        self._wake.set()

    def demand_descriptions(self, groups: Collection[str]) -> None:
        """Ask what groups look like that it coordinates."""
        self._undescribed.update(dict.fromkeys(groups))
        self._wake.set()

    async def stop(self) -> None:
        """Forget what is to be asked and close the connection."""
        self._task.cancel()
        await asyncio.wait([self._task])
        if self._link:
            self._link.close()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._is_busy():
                try:
                    await self._next()
                except Exception:
                    log.exception("Broker %d: asking failed", self.broker.id)

    def _is_busy(self) -> bool:
        about_itself = self._is_to_list or self._is_to_tell_retention
        return bool(self._partitions or self._groups or self._undescribed or about_itself)

    async def _next(self) -> None:
        """One batch of partitions, then a few groups, so that neither waits for all of the other."""
        if self._partitions:
            batch = [self._partitions.popitem()[0] for _ in range(min(BATCH, len(self._partitions)))]
            readings = await self._guarded(lambda link: _ends(link, batch))
            self._sink.ends(
                self.broker.id, dict.fromkeys(batch, readings) if isinstance(readings, str) else readings
            )
        if self._groups:
            group, (partitions, whole) = self._groups.popitem()
            await self._ask_commits(group, partitions, whole=whole)
        if self._is_to_list:
            self._is_to_list = False
            await self._ask_listing()
        if self._is_to_tell_retention:
            self._is_to_tell_retention = False
            await self._ask_retention()
        if self._undescribed:
            batch_size = min(DESCRIBED, len(self._undescribed))
            await self._ask_descriptions([self._undescribed.popitem()[0] for _ in range(batch_size)])

    async def _ask_descriptions(self, groups: list[str]) -> None:
        async def ask(link: Link) -> dict[str, Description | str]:
            return await _descriptions(link, self.broker.id, groups, self._wall)

        descriptions = await self._guarded(ask)
        if isinstance(descriptions, str):
            descriptions = dict.fromkeys(groups, descriptions)
        self._sink.described(descriptions)

    async def _ask_retention(self) -> None:
        async def ask(link: Link) -> Retention | str:
            return await retention.ask(link, self.broker)

        answer = await self._guarded(ask)
        if not isinstance(answer, str):
            self._sink.retention(self.broker.id, answer)

    async def _ask_listing(self) -> None:
        if (self.broker.version or 0) < _LISTS_GROUPS:
            self._sink.listing(self.broker.id, "brokers before 0.9 do not tell which groups they know")
            return

        async def ask(link: Link) -> frozenset[str] | str:
            return self._named(questions.read_groups(await link.ask(questions.groups())))

        self._sink.listing(self.broker.id, await self._guarded(ask))

    async def _ask_commits(
        self, group: str, partitions: Collection[Partition] | None, *, whole: bool
    ) -> None:
        if partitions is not None and not partitions:
            reason = "brokers before 0.10.2 tell commits by topic only, and there is no topic to ask about"
            self._sink.commits(self.broker.id, group, reason, whole=False)
            return

        async def ask(link: Link) -> Told | str:
            return self._named(await _commits(link, group, partitions))

        self._sink.commits(self.broker.id, group, await self._guarded(ask), whole=whole)

    def _named(self, answer: T | str) -> T | str:
        """The broker's own words name the broker."""
        return _by(self.broker.id, answer) if isinstance(answer, str) else answer

    async def _guarded(self, ask: Callable[[Link], Awaitable[T | str]]) -> T | str:
        """What asking gives, or why this broker cannot be asked: its address, its breaker, its trouble."""
        if self._link is None or self._refusal:
            reason = self._refusal or ""
            self._sink.trouble(self.broker.id, reason)
            return reason
        if self._breaker.is_open(self._clock()):
            return self._breaker.reason or ""
        try:
            async with self._gate:
                await self._link.connect()  # first: who cannot be reached needs no schema of Kafka's
                answer = await ask(self._link)
        except TroubleError as error:
            reason = f"cannot ask broker {self.broker.id}: {error}"
            self._breaker.failed(reason, self._clock())
            self._sink.trouble(self.broker.id, reason)
            return reason
        self._breaker.succeeded()
        self._sink.trouble(self.broker.id, None)
        return answer


def _by(broker: int, reason: str) -> str:
    """A broker's own words, which say by whom they are; what passes by itself still does."""
    return type(reason)(f"broker {broker}: {reason}")


async def _descriptions(
    link: Link, broker: int, groups: Collection[str], wall: Callable[[], float]
) -> dict[str, Description | str]:
    """What a coordinator tells of groups; one by one where they are too many for one answer, which is no
    trouble of the broker's."""
    try:
        answer = await link.ask(questions.descriptions(groups))
    except TooLongError as error:
        if len(groups) == 1:
            return dict.fromkeys(groups, str(error))
        descriptions: dict[str, Description | str] = {}
        for group in groups:
            descriptions |= await _descriptions(link, broker, [group], wall)
        return descriptions
    descriptions = questions.read_descriptions(answer, groups, broker, wall())
    return {
        group: f"broker {broker}: {described}" if isinstance(described, str) else described
        for group, described in descriptions.items()
    }


def tells_all_topics(broker: Broker) -> bool:
    """Whether it tells all commits of a group, or of named topics only (before 0.10.2)."""
    return (broker.version or 0) >= _ALL_TOPICS


async def _commits(link: Link, group: str, partitions: Collection[Partition] | None) -> Told | str:
    """A group's commits of these partitions, or of all; many in several requests, none of them long."""
    if partitions is None:
        return questions.read_commits(await link.ask(questions.commits(group, None)), None)
    commits: dict[Partition, Commit] = {}
    refused: dict[Partition, str] = {}
    left = list(partitions)
    while left:
        batch, left = left[:BATCH], left[BATCH:]
        committed = questions.read_commits(await link.ask(questions.commits(group, batch)), batch)
        if isinstance(committed, str):
            return committed
        commits |= committed.commits
        refused |= committed.refused
    return Told(commits, refused)


async def _ends(link: Link, batch: Collection[Partition]) -> dict[Partition, Reading]:
    """Starts first: a log that moves on in between never shows an end before its start."""
    starts = questions.read_log_offsets(
        await link.ask(questions.log_offsets(batch, questions.EARLIEST)), batch
    )
    ends = questions.read_log_offsets(await link.ask(questions.log_offsets(batch, questions.LATEST)), batch)
    return {key: _both(starts[key], ends[key]) for key in batch}


def _both(start: int | str, end: int | str) -> Reading:
    if isinstance(end, str):
        return end
    return start if isinstance(start, str) else (start, end)
