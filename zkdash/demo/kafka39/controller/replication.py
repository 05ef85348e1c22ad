"""Followers that fetch: one that lives and is out of sync catches up after a believable while, and one that
is new copies the whole log first.

In a real cluster the partition's leader sees it and sends AlterPartition, many partitions in one request; the
controller writes the ISRs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from random import Random

from zkdash.demo.kafka39 import replica_fetchers
from zkdash.demo.kafka39.controller import controller_context, leader_and_isr
from zkdash.demo.kafka39.topic_partition import TopicPartition
from zkdash.demo.runtime import event_loop
from zkdash.kafka.values import PartitionState

CATCH_UP_S = (2.0, 12.0)
REQUEST_EVERY_S = 0.5

Pair = tuple[TopicPartition, int]


class Replication:
    """The followers as one controller sees them. `act` runs a step of its term."""

    def __init__(
        self,
        book: controller_context.Ledger,
        *,
        steps: event_loop.Agenda,
        random: Random,
        act: Callable[[event_loop.Step], None],
        copying: replica_fetchers.Copies,
    ) -> None:
        self._ledger = book
        self._steps = steps
        self._random = random
        self._act = act
        self._copies = copying
        self._is_copying = False
        # Which request a follower's catching up is told with, and who is told with a request.
        self._request_of: dict[Pair, int] = {}
        self._requests: dict[int, list[Pair]] = {}

    def follow(self, live: frozenset[int]) -> None:
        """Start the catching up of every live replica that is out of sync; forget that of those that died."""
        if not self._is_copying and (self._copies.is_flowing or self._copying(live)[1]):
            self._copy(live)
        for pair in [pair for pair in self._request_of if pair[1] not in live]:
            del self._request_of[pair]
        for key, kept in self._ledger.states.items():
            if kept.state.leader in live and self._ledger.knows(key):
                for replica in self._ledger.replicas(key):
                    if replica in live and replica not in kept.state.isr and not self._is_new(key, replica):
                        self._expect((key, replica), self._random.uniform(*CATCH_UP_S))

    def fall_behind(self, key: TopicPartition, replica: int, *, seconds: float) -> None:
        """Take a follower out of the ISR; it catches up after `seconds`."""
        kept = self._ledger.states.get(key)
        lagging = None if kept is None else leader_and_isr.lag(kept.state, replica)
        if lagging is not None:
            self._ledger.set_states({key: lagging})
            self._expect((key, replica), seconds)

    def _expect(self, pair: Pair, seconds: float) -> None:
        if pair in self._request_of:
            return
        number = math.ceil((self._steps.now() + seconds) / REQUEST_EVERY_S)
        if number not in self._requests:
            self._requests[number] = []
            wait = number * REQUEST_EVERY_S - self._steps.now()
            self._steps.after(wait, lambda: self._act(lambda: self._caught_up(number)))
        self._requests[number].append(pair)
        self._request_of[pair] = number

    def _caught_up(self, number: int) -> None:
        # what is told by another request now is of a broker that died meanwhile
        told = [pair for pair in self._requests.pop(number) if self._request_of.get(pair) == number]
        for pair in told:
            del self._request_of[pair]
        self._join(told)

    def _copy(self, live: frozenset[int]) -> None:
        """Let copies go on, and come again while any runs."""
        moving, flowing = self._copying(live)
        self._is_copying = bool(flowing)
        self._join(self._copies.advance(self._steps.now(), moving, flowing))
        if flowing:
            self._steps.after(REQUEST_EVERY_S, lambda: self._act(self._stop_copying))

    def _stop_copying(self) -> None:
        """The next portion begins when this step is settled, with the brokers that live then."""
        self._is_copying = False

    def _copying(self, live: frozenset[int]) -> tuple[list[Pair], dict[Pair, int]]:
        """The replicas that moves add, and the leaders from which some of them fetch now."""
        moving: list[Pair] = []
        flowing: dict[Pair, int] = {}
        for name, plan in self._ledger.topics.items():
            for partition, added in plan.adding.items():
                key = TopicPartition(name, partition)
                moving += [(key, replica) for replica in added]
                if key not in self._ledger.states:
                    continue
                state = self._ledger.states[key].state
                if state.leader in live:
                    fetching = live.intersection(added).difference(state.isr)
                    flowing |= dict.fromkeys(((key, replica) for replica in sorted(fetching)), state.leader)
        return moving, flowing

    def _is_new(self, key: TopicPartition, replica: int) -> bool:
        return replica in self._ledger.topics[key.topic].adding.get(key.partition, ())

    def _join(self, pairs: Iterable[Pair]) -> None:
        """Write the ISRs of one request, once for each partition."""
        states = self._ledger.states
        changes: dict[TopicPartition, PartitionState] = {}
        for key, replica in pairs:
            if key in states and self._ledger.knows(key) and replica in self._ledger.replicas(key):
                joined = leader_and_isr.join(changes.get(key, states[key].state), replica)
                if joined is not None:
                    changes[key] = joined
        self._ledger.set_states(changes)
