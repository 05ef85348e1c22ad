"""What the controller holds in memory of topics (kafka.controller.ControllerContext), and writes of it.

Every write is a multi that first compares /controller_epoch, as Kafka's controller has done since 2.1: a
controller that was replaced cannot write any more. States and assignments are set with the version that was
read; where somebody else wrote meanwhile, the newer value is read again and the write is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from kazoo import exceptions

from zkdash.demo.kafka39 import zk_data
from zkdash.demo.kafka39.topic_partition import TopicPartition
from zkdash.demo.runtime import session
from zkdash.kafka import paths
from zkdash.kafka.values import PartitionState

Replicas = dict[int, tuple[int, ...]]


class ControllerMovedError(Exception):
    """Another controller was elected: this one must not write (ControllerMovedException)."""


_STATE = msgspec.json.Decoder(PartitionState)


class TopicAssignment(msgspec.Struct, frozen=True):
    """A topic's znode: replicas by partition, those of reassignments that run, and the znode's version."""

    partitions: Replicas
    adding: Replicas
    removing: Replicas
    topic_id: str | None
    version: int

    def target_replicas(self, partition: int) -> tuple[int, ...]:
        """What a reassignment ends with; the assigned replicas where none runs (KIP-455)."""
        removed = self.removing.get(partition, ())
        return tuple(b for b in self.partitions[partition] if b not in removed)

    @property
    def reassigned(self) -> set[int]:
        """The partitions that are being reassigned."""
        return {*self.adding, *self.removing}

    @property
    def data(self) -> bytes:
        return zk_data.topic(
            self.partitions, topic_id=self.topic_id or "", adding=self.adding, removing=self.removing
        )


class VersionedState(NamedTuple):
    """A state and the version of its znode."""

    state: PartitionState
    version: int


class ControllerContext:
    """Assignments by topic and states by partition. `epoch` is written into every state."""

    def __init__(self, zookeeper: session.Session, *, epoch: int, epoch_version: int) -> None:
        self.topics: dict[str, TopicAssignment] = {}
        self.states: dict[TopicPartition, VersionedState] = {}
        self._zookeeper = zookeeper
        self._epoch = epoch
        self._epoch_version = epoch_version

    # --- reading

    def load(self, names: Iterable[str], *, watch: Any) -> None:
        """Read topics (each watched by `watch(name)`) and the states of their partitions."""
        loaded = [name for name in names if self.read_topic(name, watch=watch)]
        self.read_states([TopicPartition(name, p) for name in loaded for p in self.topics[name].partitions])

    def read_topic(self, name: str, *, watch: Any) -> bool:
        """Read one topic's assignment; False where it is gone or cannot be understood.

        Who drops the topic's id from its znode takes it from the next controller; this one remembers it.
        """
        read = self._zookeeper.get(paths.topic(name), then=watch(name))
        assignment = None if read is None else _parse_assignment(read)
        if assignment is None:
            self.remove_topic(name)
            return False
        before = self.topics.get(name)
        self.topics[name] = msgspec.structs.replace(
            assignment, topic_id=assignment.topic_id or (before and before.topic_id)
        )
        return True

    def read_states(self, which: Sequence[TopicPartition]) -> None:
        for key, read in zip(which, self._zookeeper.get_all([tp.state_path for tp in which]), strict=True):
            versioned = None if read is None else _parse_state(read)
            if versioned is None:
                self.states.pop(key, None)
            else:
                self.states[key] = versioned

    def remove_topic(self, topic: str) -> None:
        """The topic is gone from ZooKeeper."""
        self.topics.pop(topic, None)
        for key in [tp for tp in self.states if tp.topic == topic]:
            del self.states[key]

    def replicas(self, key: TopicPartition) -> tuple[int, ...]:
        return self.topics[key.topic].partitions[key.partition]

    def knows(self, key: TopicPartition) -> bool:
        return key.topic in self.topics and key.partition in self.topics[key.topic].partitions

    # --- writing

    def write(self, *multis: Sequence[session.Operation]) -> list[session.Failure | None]:
        """Commit multis behind the comparison of the epoch. Raises ControllerMovedError where that fails."""
        multis_with_check = [
            (self._zookeeper.check_operation(paths.CONTROLLER_EPOCH, self._epoch_version), *operations)
            for operations in multis
        ]
        failures = self._zookeeper.commit(multis_with_check)
        if any(failure is not None and failure.at == 0 for failure in failures):
            raise ControllerMovedError
        return failures

    def create_partitions(self, firsts: Mapping[TopicPartition, PartitionState]) -> None:
        """Make partitions/, each P below it and each state, in the order of a real controller."""
        create = self._zookeeper.create_operation
        parents = [create(paths.partitions(t), None) for t in dict.fromkeys(k.topic for k in firsts)]
        stamped = {tp: self._stamped(state) for tp, state in firsts.items()}
        self.write(
            *([operation] for operation in parents),
            *([create(tp.path, None)] for tp in stamped),
            *([create(tp.state_path, zk_data.state(state))] for tp, state in stamped.items()),
        )
        self.read_states(list(stamped))

    def set_states(self, changes: Mapping[TopicPartition, PartitionState | None]) -> None:
        """Write what changed. None is no change, as `leader_and_isr` returns it."""
        stamped = {tp: self._stamped(state) for tp, state in changes.items() if state is not None}
        failures = self.write(
            *(
                [self._zookeeper.set_operation(tp.state_path, zk_data.state(s), self.states[tp].version)]
                for tp, s in stamped.items()
            )
        )
        for (tp, state), failure in zip(stamped.items(), failures, strict=True):
            if failure is None:
                self.states[tp] = VersionedState(state, self.states[tp].version + 1)
        self.read_states([tp for tp, failure in zip(stamped, failures, strict=True) if failure is not None])

    def set_topic(self, name: str, assignment: TopicAssignment) -> bool:
        """Write a topic's assignment; False where somebody changed or removed it (its watch tells what)."""
        (failure,) = self.write(
            [self._zookeeper.set_operation(paths.topic(name), assignment.data, assignment.version)]
        )
        if failure is None:
            self.topics[name] = msgspec.structs.replace(assignment, version=assignment.version + 1)
        return failure is None

    def delete(self, *paths: str) -> None:
        """Delete znodes in order; one that is gone already is skipped."""
        for failure in self.write(*([self._zookeeper.delete_operation(path)] for path in paths)):
            if failure is not None and not isinstance(failure.error, exceptions.NoNodeError):
                raise failure.error

    def _stamped(self, state: PartitionState) -> PartitionState:
        return msgspec.structs.replace(state, controller_epoch=self._epoch)


def _parse_assignment(read: session.VersionedData) -> TopicAssignment | None:
    """Versions 1 to 3; None where it cannot be understood (a real controller would stop over it)."""
    try:
        value = json.loads(read.data)
        return TopicAssignment(
            partitions=_replicas(value["partitions"]),
            adding=_replicas(value.get("adding_replicas", {})),
            removing=_replicas(value.get("removing_replicas", {})),
            topic_id=value.get("topic_id"),
            version=read.version,
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _parse_state(read: session.VersionedData) -> VersionedState | None:
    try:
        return VersionedState(_STATE.decode(read.data), read.version)
    except msgspec.MsgspecError:
        return None


def _replicas(value: Mapping[str, Sequence[int]]) -> Replicas:
    return {int(p): tuple(map(int, value[p])) for p in sorted(value, key=int)}
