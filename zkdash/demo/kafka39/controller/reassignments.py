"""Reassignment of partitions: /admin/reassign_partitions and the moves that the topics' znodes hold.

While a move runs the assigned replicas are the target, then what is left of the original; adding_replicas
and removing_replicas tell the two apart (2.4+). It ends once the whole target is in the ISR. As in Kafka 1.1
to 3.9, a request is noticed when its znode is created, never when it is set. One that cannot be understood,
or is empty, stays where it is; after it, and after somebody deleted the znode while it was in work, the
controller ignores requests until the next election.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec

from zkdash.demo.kafka39.controller import controller_context, leader_and_isr
from zkdash.demo.kafka39.topic_partition import TopicPartition
from zkdash.demo.runtime import event_loop, session
from zkdash.kafka import paths
from zkdash.kafka.payloads import requests
from zkdash.kafka.values import Move


class Reassignments:
    """The reassignments that one controller works on. `process` runs a task of it."""

    def __init__(
        self,
        context: controller_context.ControllerContext,
        zookeeper: session.Session,
        *,
        process: Callable[[event_loop.Task], None],
    ) -> None:
        self._context = context
        self._zookeeper = zookeeper
        self._process = process
        # What the znode still asks for; empty while no request is in work.
        self._requested: dict[TopicPartition, tuple[int, ...]] = {}
        self._is_present = False
        self._is_ignoring = False

    def resume(self) -> None:
        """Read a request that waits, and be told of the next one. Moves in the topics' znodes just go on."""
        read = self._zookeeper.get(paths.REASSIGNMENT, then=lambda: self._process(self.resume))
        was_present, self._is_present = self._is_present, read is not None
        if read is None:
            self._is_ignoring |= bool(self._requested)
        elif not was_present and not self._is_ignoring:
            self._begin(read.data)

    def _begin(self, data: bytes) -> None:
        self._requested = _parse(data)
        self._is_ignoring = not self._requested
        unknown = [key for key in self._requested if not self._context.knows(key)]
        self._start({key: target for key, target in self._requested.items() if key not in unknown})
        self._finish_requests(unknown)

    def _start(self, targets: Mapping[TopicPartition, tuple[int, ...]]) -> None:
        """Write the union of replicas and who comes and goes; renew the leaders' epochs.

        A real controller writes a topic once for each of its partitions, this one once.
        """
        assignments = {
            name: self._context.topics[name] for name in dict.fromkeys(key.topic for key in targets)
        }
        dropped: dict[TopicPartition, set[int]] = {}
        for key, target in targets.items():
            before = assignments[key.topic]
            if target == before.partitions[key.partition] and key.partition not in before.reassigned:
                continue
            after = assignments[key.topic] = _begin_move(before, key.partition, target)
            dropped[key] = set(before.partitions[key.partition]).difference(after.partitions[key.partition])
        for name in dict.fromkeys(key.topic for key in dropped):
            self._context.set_topic(name, assignments[name])
        states = self._context.states
        begun = [key for key in dropped if key in states]
        self._context.set_states({key: leader_and_isr.renew_leader_epoch(states[key].state) for key in begun})
        # a move that is superseded may have brought replicas into the ISR already
        self._context.set_states(
            {key: leader_and_isr.remove_from_isr(states[key].state, dropped[key]) for key in begun}
        )

    def advance(self, live: frozenset[int]) -> None:
        """End every move whose target is wholly in sync."""
        states = self._context.states
        ended = [
            TopicPartition(name, partition)
            for name, assignment in self._context.topics.items()
            for partition in sorted(assignment.reassigned)
            if (versioned := states.get(TopicPartition(name, partition))) is not None
            and set(assignment.target_replicas(partition)) <= set(versioned.state.isr)
        ]
        if ended:
            self._end(ended, live)
        if self._requested:
            self._finish_requests(
                [key for key, target in self._requested.items() if self._is_done(key, target)]
            )

    def _end(self, keys: Sequence[TopicPartition], live: frozenset[int]) -> None:
        """The target leads, who leaves drops out of the ISR, the assignment becomes the target."""
        states, topics = self._context.states, self._context.topics
        self._context.set_states(
            {
                key: leader_and_isr.leader_for_reassignment(
                    states[key].state, topics[key.topic].target_replicas(key.partition), live
                )
                for key in keys
            }
        )
        self._context.set_states(
            {
                key: leader_and_isr.remove_from_isr(
                    states[key].state, topics[key.topic].removing.get(key.partition, ())
                )
                for key in keys
            }
        )
        for name in dict.fromkeys(key.topic for key in keys):
            assignment = topics[name]
            for key in keys:
                if key.topic == name:
                    assignment = _end_move(assignment, key.partition)
            self._context.set_topic(name, assignment)

    def _is_done(self, key: TopicPartition, target: tuple[int, ...]) -> bool:
        if not self._context.knows(key):
            return True
        assignment = self._context.topics[key.topic]
        return key.partition not in assignment.reassigned and assignment.partitions[key.partition] == target

    def _finish_requests(self, keys: Collection[TopicPartition]) -> None:
        """Take partitions out of the znode, which goes with the last."""
        read = self._zookeeper.get(paths.REASSIGNMENT) if keys else None
        for key in keys:
            self._requested.pop(key, None)
        if read is None:
            return
        left = {k: v for k, v in _parse(read.data).items() if k not in keys}
        if left:
            data = requests.reassignment(Move(k.topic, k.partition, v) for k, v in left.items())
            self._context.write([self._zookeeper.set_operation(paths.REASSIGNMENT, data, -1)])
        else:
            self._context.delete(paths.REASSIGNMENT)
            self._is_present = False


def _begin_move(
    assignment: controller_context.TopicAssignment, partition: int, target: tuple[int, ...]
) -> controller_context.TopicAssignment:
    """The topic once a partition is to have other replicas."""
    original = _without(assignment.partitions[partition], assignment.adding.get(partition, ()))
    return msgspec.structs.replace(
        assignment,
        partitions={**assignment.partitions, partition: (*target, *_without(original, target))},
        adding=_with(assignment.adding, partition, _without(target, original)),
        removing=_with(assignment.removing, partition, _without(original, target)),
    )


def _end_move(
    assignment: controller_context.TopicAssignment, partition: int
) -> controller_context.TopicAssignment:
    """The topic once a partition has the replicas that it was to have."""
    return msgspec.structs.replace(
        assignment,
        partitions={**assignment.partitions, partition: assignment.target_replicas(partition)},
        adding=_with(assignment.adding, partition, ()),
        removing=_with(assignment.removing, partition, ()),
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
