"""Followers that fetch: one that lives and is out of sync catches up after a believable while.

In a real cluster the partition's leader sees it and sends AlterPartition; the controller writes the ISR.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from zkdash.demo import agenda, leadership, ledger
from zkdash.demo.ledger import TopicPartition

CATCH_UP_S = (2.0, 12.0)

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
        self._catching_up: dict[Pair, agenda.Timer] = {}

    def stop(self) -> None:
        for timer in self._catching_up.values():
            timer.cancel()
        self._catching_up.clear()

    def follow(self, live: frozenset[int]) -> None:
        """Start the catching up of every live replica that is out of sync; end that of those that died."""
        for pair in [pair for pair in self._catching_up if pair[1] not in live]:
            self._catching_up.pop(pair).cancel()
        for key, kept in self._ledger.states.items():
            if kept.state.leader in live and self._ledger.knows(key):
                for replica in self._ledger.replicas(key):
                    if replica in live and replica not in kept.state.isr:
                        self._expect((key, replica), self._random.uniform(*CATCH_UP_S))

    def fall_behind(self, key: TopicPartition, replica: int, *, seconds: float) -> None:
        """Take a follower out of the ISR; it catches up after `seconds`."""
        kept = self._ledger.states.get(key)
        if kept is not None and leadership.lag(kept.state, replica) is not None:
            self._ledger.set_states({key: leadership.lag(kept.state, replica)})
            self._expect((key, replica), seconds)

    def _expect(self, pair: Pair, seconds: float) -> None:
        if pair not in self._catching_up:
            self._catching_up[pair] = self._steps.after(
                seconds, lambda: self._act(lambda: self._caught_up(pair))
            )

    def _caught_up(self, pair: Pair) -> None:
        key, replica = pair
        self._catching_up.pop(pair, None)
        kept = self._ledger.states.get(key)
        if kept is not None and self._ledger.knows(key) and replica in self._ledger.replicas(key):
            self._ledger.set_states({key: leadership.join(kept.state, replica)})
