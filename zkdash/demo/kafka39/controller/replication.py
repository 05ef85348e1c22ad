"""Followers that fetch: a live one that is out of sync catches up after a realistic while, a new one fetches
the whole log first.

In a real cluster the partition's leader sees it and sends AlterPartition, many partitions in one request; the
controller writes the ISRs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from random import Random

from zkdash.demo.kafka39 import replica_fetchers
from zkdash.demo.kafka39.controller import controller_context, leader_and_isr
from zkdash.demo.kafka39.topic_partition import PartitionAndReplica, TopicPartition
from zkdash.demo.runtime import event_loop
from zkdash.kafka.values import PartitionState

CATCH_UP_S = (2.0, 12.0)
REQUEST_EVERY_S = 0.5


class Replication:
    """The followers as one controller sees them. `process` runs a task of it."""

    def __init__(
        self,
        context: controller_context.ControllerContext,
        *,
        loop: event_loop.EventLoop,
        random: Random,
        process: Callable[[event_loop.Task], None],
        fetchers: replica_fetchers.ReplicaFetchers,
    ) -> None:
        self._context = context
        self._loop = loop
        self._random = random
        self._process = process
        self._fetchers = fetchers
        self._is_fetching = False
        # The request that tells of a follower that caught up, and all that one request tells of.
        self._request_of: dict[PartitionAndReplica, int] = {}
        self._requests: dict[int, list[PartitionAndReplica]] = {}

    def follow(self, live: frozenset[int]) -> None:
        """Start the catching up of every live replica that is out of sync; forget that of those that died."""
        if not self._is_fetching and (self._fetchers.is_fetching or self._fetches(live)[1]):
            self._fetch(live)
        for pair in [pair for pair in self._request_of if pair[1] not in live]:
            del self._request_of[pair]
        for key, versioned in self._context.states.items():
            if versioned.state.leader in live and self._context.knows(key):
                for replica in self._context.replicas(key):
                    if (
                        replica in live
                        and replica not in versioned.state.isr
                        and not self._is_new(key, replica)
                    ):
                        self._expect((key, replica), self._random.uniform(*CATCH_UP_S))

    def fall_behind(self, key: TopicPartition, replica: int, *, seconds: float) -> None:
        """Take a follower out of the ISR; it catches up after `seconds`."""
        versioned = self._context.states.get(key)
        shrunk = None if versioned is None else leader_and_isr.shrink_isr(versioned.state, replica)
        if shrunk is not None:
            self._context.set_states({key: shrunk})
            self._expect((key, replica), seconds)

    def _expect(self, pair: PartitionAndReplica, seconds: float) -> None:
        if pair in self._request_of:
            return
        number = math.ceil((self._loop.now() + seconds) / REQUEST_EVERY_S)
        if number not in self._requests:
            self._requests[number] = []
            wait = number * REQUEST_EVERY_S - self._loop.now()
            self._loop.call_later(wait, lambda: self._process(lambda: self._caught_up(number)))
        self._requests[number].append(pair)
        self._request_of[pair] = number

    def _caught_up(self, number: int) -> None:
        # a pair of another request now is of a broker that died meanwhile
        caught_up = [pair for pair in self._requests.pop(number) if self._request_of.get(pair) == number]
        for pair in caught_up:
            del self._request_of[pair]
        self._expand_isrs(caught_up)

    def _fetch(self, live: frozenset[int]) -> None:
        """Let fetches go on, and come again while any runs."""
        wanted, running = self._fetches(live)
        self._is_fetching = bool(running)
        self._expand_isrs(self._fetchers.advance(self._loop.now(), wanted, running))
        if running:
            self._loop.call_later(REQUEST_EVERY_S, lambda: self._process(self._end_portion))

    def _end_portion(self) -> None:
        """The next portion begins when this task has ended, with the brokers that live then."""
        self._is_fetching = False

    def _fetches(
        self, live: frozenset[int]
    ) -> tuple[list[PartitionAndReplica], dict[PartitionAndReplica, int]]:
        """The replicas that moves add, and the leaders from which some of them fetch now."""
        wanted: list[PartitionAndReplica] = []
        running: dict[PartitionAndReplica, int] = {}
        for name, assignment in self._context.topics.items():
            for partition, added in assignment.adding.items():
                key = TopicPartition(name, partition)
                wanted += [(key, replica) for replica in added]
                if key not in self._context.states:
                    continue
                state = self._context.states[key].state
                if state.leader in live:
                    fetching = live.intersection(added).difference(state.isr)
                    running |= dict.fromkeys(((key, replica) for replica in sorted(fetching)), state.leader)
        return wanted, running

    def _is_new(self, key: TopicPartition, replica: int) -> bool:
        return replica in self._context.topics[key.topic].adding.get(key.partition, ())

    def _expand_isrs(self, pairs: Iterable[PartitionAndReplica]) -> None:
        """Write the ISRs of one request, once for each partition."""
        states = self._context.states
        changes: dict[TopicPartition, PartitionState] = {}
        for key, replica in pairs:
            if key in states and self._context.knows(key) and replica in self._context.replicas(key):
                expanded = leader_and_isr.expand_isr(changes.get(key, states[key].state), replica)
                if expanded is not None:
                    changes[key] = expanded
        self._context.set_states(changes)
