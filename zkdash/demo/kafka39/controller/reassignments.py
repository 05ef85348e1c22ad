"""Reassignment of partitions: /admin/reassign_partitions and the moves that the topics' znodes hold.

While a move runs the assigned replicas are the target, then what is left of the original; adding_replicas
and removing_replicas tell the two apart (2.4+). It ends once the whole target is in the ISR. As in Kafka 1.1
to 3.9, a request is noticed when its znode is created, never when it is set. One that cannot be understood,
or is empty, stays where it is; after it, and after somebody deleted the znode while it was in work, the
controller does not listen any more until the next election.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec

from zkdash.demo.kafka39.controller import controller_context, leader_and_isr
from zkdash.demo.kafka39.topic_partition import TopicPartition
from zkdash.demo.runtime import event_loop, session
from zkdash.kafka.payloads import requests
from zkdash.kafka.values import Move

PATH = "/admin/reassign_partitions"


class Reassignments:
    """The moves of one controller's term. `act` runs a step of that term."""

    def __init__(
        self,
        book: controller_context.Ledger,
        zookeeper: session.Session,
        *,
        act: Callable[[event_loop.Step], None],
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
        unknown = [key for key in self._requested if not self._ledger.knows(key)]
        self._start({key: target for key, target in self._requested.items() if key not in unknown})
        self._finish_requests(unknown)

    def _start(self, targets: Mapping[TopicPartition, tuple[int, ...]]) -> None:
        """Write the union of replicas and who comes and goes; renew the leaders' epochs.

        A real controller writes a topic once for each of its partitions, this one once.
        """
        plans = {name: self._ledger.topics[name] for name in dict.fromkeys(key.topic for key in targets)}
        given_up: dict[TopicPartition, set[int]] = {}
        for key, target in targets.items():
            before = plans[key.topic]
            if target == before.partitions[key.partition] and key.partition not in before.moving:
                continue
            after = plans[key.topic] = _moved(before, key.partition, target)
            given_up[key] = set(before.partitions[key.partition]).difference(after.partitions[key.partition])
        for name in dict.fromkeys(key.topic for key in given_up):
            self._ledger.set_topic(name, plans[name])
        states = self._ledger.states
        begun = [key for key in given_up if key in states]
        self._ledger.set_states({key: leader_and_isr.renew(states[key].state) for key in begun})
        # a move that is superseded may have brought replicas into the ISR already
        self._ledger.set_states(
            {key: leader_and_isr.remove(states[key].state, given_up[key]) for key in begun}
        )

    def advance(self, live: frozenset[int]) -> None:
        """End every move whose target is wholly in sync."""
        states = self._ledger.states
        ended = [
            TopicPartition(name, partition)
            for name, plan in self._ledger.topics.items()
            for partition in sorted(plan.moving)
            if (kept := states.get(TopicPartition(name, partition))) is not None
            and set(plan.target(partition)) <= set(kept.state.isr)
        ]
        if ended:
            self._end(ended, live)
        if self._requested:
            self._finish_requests(
                [key for key, target in self._requested.items() if self._is_done(key, target)]
            )

    def _end(self, keys: Sequence[TopicPartition], live: frozenset[int]) -> None:
        """The target leads, who leaves drops out of the ISR, the assignment becomes the target."""
        states, topics = self._ledger.states, self._ledger.topics
        self._ledger.set_states(
            {
                key: leader_and_isr.hand_over(
                    states[key].state, topics[key.topic].target(key.partition), live
                )
                for key in keys
            }
        )
        self._ledger.set_states(
            {
                key: leader_and_isr.remove(
                    states[key].state, topics[key.topic].removing.get(key.partition, ())
                )
                for key in keys
            }
        )
        for name in dict.fromkeys(key.topic for key in keys):
            plan = topics[name]
            for key in keys:
                if key.topic == name:
                    plan = _arrived(plan, key.partition)
            self._ledger.set_topic(name, plan)

    def _is_done(self, key: TopicPartition, target: tuple[int, ...]) -> bool:
        if not self._ledger.knows(key):
            return True
        plan = self._ledger.topics[key.topic]
        return key.partition not in plan.moving and plan.partitions[key.partition] == target

    def _finish_requests(self, keys: Collection[TopicPartition]) -> None:
        """Take partitions out of the znode, which goes with the last."""
        read = self._zookeeper.get(PATH) if keys else None
        for key in keys:
            self._requested.pop(key, None)
        if read is None:
            return
        left = {k: v for k, v in _parse(read.data).items() if k not in keys}
        if left:
            data = requests.reassignment(Move(k.topic, k.partition, v) for k, v in left.items())
            self._ledger.write([self._zookeeper.setting(PATH, data, -1)])
        else:
            self._ledger.delete(PATH)
            self._is_present = False


def _moved(plan: controller_context.Plan, partition: int, target: tuple[int, ...]) -> controller_context.Plan:
    """The topic once a partition is to have other replicas."""
    original = _without(plan.partitions[partition], plan.adding.get(partition, ()))
    return msgspec.structs.replace(
        plan,
        partitions={**plan.partitions, partition: (*target, *_without(original, target))},
        adding=_with(plan.adding, partition, _without(target, original)),
        removing=_with(plan.removing, partition, _without(original, target)),
    )


def _arrived(plan: controller_context.Plan, partition: int) -> controller_context.Plan:
    """The topic once a partition has the replicas that it was to have."""
    return msgspec.structs.replace(
        plan,
        partitions={**plan.partitions, partition: plan.target(partition)},
        adding=_with(plan.adding, partition, ()),
        removing=_with(plan.removing, partition, ()),
    )


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


def _with(
    replicas: controller_context.Replicas, partition: int, ids: tuple[int, ...]
) -> controller_context.Replicas:
    """The map with one entry replaced, or gone where it would be empty."""
    rest = {p: r for p, r in replicas.items() if p != partition}
    return {**rest, partition: ids} if ids else rest
