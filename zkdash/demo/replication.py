"""Followers that fetch: one that lives and is out of sync catches up after a believable while.

In a real cluster the partition's leader sees it and sends AlterPartition, many partitions in one request; the
controller writes the ISRs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from zkdash.demo import agenda, leadership, ledger
from zkdash.demo.ledger import TopicPartition
from zkdash.kafka.values import PartitionState

CATCH_UP_S = (2.0, 12.0)
REQUEST_EVERY_S = 0.5

Pair = tuple[TopicPartition, int]


class Replication:
    """The followers as one controller sees them. `act` runs a step of its term."""

    def __init__(
        self,
        book: ledger.Ledger,
        *,
        steps: agenda.Agenda,
        random: Random,
        act: Callable[[agenda.Step], None],
    ) -> None:
        self._ledger = book
        self._steps = steps
        self._random = random
        self._act = act
        # Which request a follower's catching up is told with, and who is told with a request.
        self._request_of: dict[Pair, int] = {}
        self._requests: dict[int, list[Pair]] = {}

    def follow(self, live: frozenset[int]) -> None:
        """Start the catching up of every live replica that is out of sync; forget that of those that died."""
        for pair in [pair for pair in self._request_of if pair[1] not in live]:
            del self._request_of[pair]
        for key, kept in self._ledger.states.items():
            if kept.state.leader in live and self._ledger.knows(key):
                for replica in self._ledger.replicas(key):
                    if replica in live and replica not in kept.state.isr:
                        self._expect((key, replica), self._random.uniform(*CATCH_UP_S))

    def fall_behind(self, key: TopicPartition, replica: int, *, seconds: float) -> None:
        """Take a follower out of the ISR; it catches up after `seconds`."""
        kept = self._ledger.states.get(key)
        lagging = None if kept is None else leadership.lag(kept.state, replica)
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
        """Write the ISRs of one request, once for each partition."""
        states = self._ledger.states
        changes: dict[TopicPartition, PartitionState] = {}
        for key, replica in self._requests.pop(number):
            if self._request_of.get((key, replica)) != number:
                continue  # the broker died meanwhile
            del self._request_of[key, replica]
            if key in states and self._ledger.knows(key) and replica in self._ledger.replicas(key):
                joined = leadership.join(changes.get(key, states[key].state), replica)
                if joined is not None:
                    changes[key] = joined
        self._ledger.set_states(changes)
