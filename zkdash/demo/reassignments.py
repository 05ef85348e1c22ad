"""Reassignment of partitions: /admin/reassign_partitions and the moves that the topics' znodes hold.

While a move runs the assigned replicas are the target, then what is left of the original; adding_replicas
and removing_replicas tell the two apart (2.4+). It ends once the whole target is in the ISR. As in Kafka 1.1
to 3.9, a request is noticed when its znode is created, never when it is set. One that cannot be understood,
or is empty, stays where it is; after it, and after somebody deleted the znode while it was in work, the
controller does not listen any more until the next election.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec

from zkdash.demo import agenda, documents, leadership, ledger, session
from zkdash.demo.ledger import TopicPartition

PATH = "/admin/reassign_partitions"


class Reassignments:
    """The moves of one controller's term. `act` runs a step of that term."""

    def __init__(
        self, book: ledger.Ledger, zookeeper: session.Session, *, act: Callable[[agenda.Step], None]
    ) -> None:
        self._ledger = book
        self._zookeeper = zookeeper
        self._act = act
        # What the znode still asks for; empty while no request is in work.
        self._requested: dict[TopicPartition, tuple[int, ...]] = {}
        self._is_present = False
        self._is_deaf = False

    def resume(self) -> None:
        """Read a request that waits, and be told of the next one. Moves in the topics' znodes just go on."""
        read = self._zookeeper.get(PATH, then=lambda: self._act(self.resume))
        was_present, self._is_present = self._is_present, read is not None
        if read is None:
            self._is_deaf |= bool(self._requested)
        elif not was_present and not self._is_deaf:
            self._begin(read.data)

    def _begin(self, data: bytes) -> None:
        self._requested = _parse(data)
        self._is_deaf = not self._requested
        for key, target in list(self._requested.items()):
            if self._ledger.knows(key):
                self._start(key, target)
            else:
                self._finish_request(key)

    def _start(self, key: TopicPartition, target: tuple[int, ...]) -> None:
        """Write the union of replicas and who comes and goes; renew the leader's epoch."""
        plan = self._ledger.topics[key.topic]
        original = _without(plan.partitions[key.partition], plan.adding.get(key.partition, ()))
        if tuple(target) == plan.partitions[key.partition] and key.partition not in plan.moving:
            self._finish_request(key)
            return
        moved = msgspec.structs.replace(
            plan,
            partitions={**plan.partitions, key.partition: (*target, *_without(original, target))},
            adding=_with(plan.adding, key.partition, _without(target, original)),
            removing=_with(plan.removing, key.partition, _without(original, target)),
        )
        if self._ledger.set_topic(key.topic, moved) and key in self._ledger.states:
            self._ledger.set_states({key: leadership.renew(self._ledger.states[key].state)})

    def advance(self, live: frozenset[int]) -> None:
        """End every move whose target is wholly in sync."""
        for name, plan in list(self._ledger.topics.items()):
            for partition in sorted(plan.moving):
                key = TopicPartition(name, partition)
                kept = self._ledger.states.get(key)
                if kept is not None and set(plan.target(partition)) <= set(kept.state.isr):
                    self._end(key, live)
        for key, target in list(self._requested.items()):
            if self._is_done(key, target):
                self._finish_request(key)

    def _end(self, key: TopicPartition, live: frozenset[int]) -> None:
        """The target leads, who leaves drops out of the ISR, the assignment becomes the target."""
        plan = self._ledger.topics[key.topic]
        target = plan.target(key.partition)
        states = self._ledger.states
        self._ledger.set_states({key: leadership.hand_over(states[key].state, target, live)})
        leaving = plan.removing.get(key.partition, ())
        self._ledger.set_states({key: leadership.remove(states[key].state, leaving)})
        self._ledger.set_topic(
            key.topic,
            msgspec.structs.replace(
                plan,
                partitions={**plan.partitions, key.partition: target},
                adding=_with(plan.adding, key.partition, ()),
                removing=_with(plan.removing, key.partition, ()),
            ),
        )

    def _is_done(self, key: TopicPartition, target: tuple[int, ...]) -> bool:
        if not self._ledger.knows(key):
            return True
        plan = self._ledger.topics[key.topic]
        return key.partition not in plan.moving and plan.partitions[key.partition] == target

    def _finish_request(self, key: TopicPartition) -> None:
        """Take one partition out of the znode, which goes with the last."""
        self._requested.pop(key, None)
        read = self._zookeeper.get(PATH)
        if read is None:
            return
        left = {k: v for k, v in _parse(read.data).items() if k != key}
        if left:
            data = documents.reassignment((k.topic, k.partition, v) for k, v in left.items())
            self._ledger.write([self._zookeeper.setting(PATH, data, -1)])
        else:
            self._ledger.delete(PATH)
            self._is_present = False


def _parse(data: bytes) -> dict[TopicPartition, tuple[int, ...]]:
    """What a request asks for; nothing where it cannot be understood."""
    try:
        entries = json.loads(data)["partitions"]
        return {
            TopicPartition(str(e["topic"]), int(e["partition"])): tuple(int(b) for b in e["replicas"])
            for e in entries
        }
    except (ValueError, TypeError, KeyError):
        return {}


def _without(replicas: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(b for b in replicas if b not in others)


def _with(replicas: ledger.Replicas, partition: int, ids: tuple[int, ...]) -> ledger.Replicas:
    """The map with one entry replaced, or gone where it would be empty."""
    rest = {p: r for p, r in replicas.items() if p != partition}
    return {**rest, partition: ids} if ids else rest
