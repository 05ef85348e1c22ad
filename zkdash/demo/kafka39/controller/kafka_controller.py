"""The controller: the broker that holds /controller, and what it does about brokers, topics and requests.

After kafka.controller.KafkaController of 3.9 in ZooKeeper mode. What it reads is in its ControllerContext;
reassignments, deletions and followers that catch up have modules of their own. It acts only on the event
loop's thread, and only until `resign`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from random import Random

import msgspec

from zkdash.demo.kafka39 import replica_fetchers, zk_data
from zkdash.demo.kafka39.controller import (
    controller_context,
    leader_and_isr,
    reassignments,
    replication,
    topic_deletion,
)
from zkdash.demo.kafka39.topic_partition import TopicPartition
from zkdash.demo.runtime import event_loop, session
from zkdash.kafka import paths
from zkdash.kafka.values import PartitionState

NOTIFICATION_PATHS = (paths.ISR_CHANGES, paths.LOG_DIR_EVENTS)
# leader.imbalance.check.interval.seconds is 300 by default; the demo's brokers are configured to 45.
IMBALANCE_CHECK_S = 45.0
IMBALANCE_LIMIT = 0.10  # leader.imbalance.per.broker.percentage


class KafkaController:
    """One controller epoch. `start` takes over whatever state ZooKeeper holds; `resign` ends it for good."""

    def __init__(
        self,
        zookeeper: session.Session,
        *,
        loop: event_loop.EventLoop,
        random: Random,
        epoch: int,
        epoch_version: int,
        fetchers: replica_fetchers.ReplicaFetchers,
        on_moved: Callable[[], None],
    ) -> None:
        self.epoch = epoch
        self.live: frozenset[int] = frozenset()
        self.context = controller_context.ControllerContext(
            zookeeper, epoch=epoch, epoch_version=epoch_version
        )
        self._zookeeper = zookeeper
        self._loop = loop
        self._random = random
        self._on_moved = on_moved
        self._active = True
        self._topic_names: set[str] = set()
        self._replication = replication.Replication(
            self.context, loop=loop, random=random, process=self.process, fetchers=fetchers
        )
        self._reassignments = reassignments.Reassignments(self.context, zookeeper, process=self.process)
        self._deletions = topic_deletion.TopicDeletionManager(
            self.context, zookeeper, loop=loop, process=self.process
        )

    def start(self) -> None:
        """Take over: clear notifications, read everything, elect where leaders died meanwhile."""
        self.process(self._on_controller_failover)

    def resign(self) -> None:
        self._active = False

    def process(self, task: event_loop.Task) -> None:
        """Run a task, unless this controller has resigned; then do what the task makes due."""
        if not self._active:
            return
        try:
            task()
            self._process_due()
        except controller_context.ControllerMovedError:
            self.resign()
            self._on_moved()

    def fall_behind(self, key: TopicPartition, replica: int, *, seconds: float) -> None:
        """A follower lags: its leader takes it out of the ISR, and back in after `seconds`."""
        self.process(lambda: self._replication.fall_behind(key, replica, seconds=seconds))

    # --- what ZooKeeper tells

    def _on_controller_failover(self) -> None:
        for path in NOTIFICATION_PATHS:
            self.context.delete(*(f"{path}/{name}" for name in self._zookeeper.children(path)))
        self.live = self._read_brokers()
        self._topic_names = set(self._read_topics())
        self.context.load(sorted(self._topic_names), watch=self._watch_topic)
        self._add_topic_ids(self.context.topics)
        self._create_states(self.context.topics)
        self._elect_leaders()
        self._drop_from_isr(self._dead_members())
        self._deletions.read()
        self._reassignments.resume()
        self._process_preferred_replica_election()
        self._schedule_imbalance_check()

    def _process_broker_change(self) -> None:
        """Brokers came or went (onBrokerFailure, onBrokerStartup)."""
        before, self.live = self.live, self._read_brokers()
        gone, came = before - self.live, self.live - before
        if gone or came:
            self._elect_leaders()
        if gone:
            self._drop_from_isr(gone)
        if came:
            self._create_states(self.context.topics)

    def process_topic_change(self) -> None:
        """Look at /brokers/topics now, rather than when its watch fires."""
        self.process(self._process_topic_change)

    def _process_topic_change(self) -> None:
        names = set(self._read_topics())
        for name in sorted(self._topic_names - names):
            self.context.remove_topic(name)
        added = sorted(names - self._topic_names)
        self._topic_names = names
        self.context.load(added, watch=self._watch_topic)
        self._add_topic_ids(added)
        self._create_states(added)

    def _process_partition_modifications(self, name: str) -> None:
        """A topic's assignment was written: by this controller, or by whoever adds partitions."""
        if self.context.read_topic(name, watch=self._watch_topic):
            self._create_states([name])

    def _process_preferred_replica_election(self) -> None:
        """/admin/preferred_replica_election: elect what can be elected; the znode goes in any case."""
        read = self._zookeeper.get(
            paths.ELECTION, then=lambda: self.process(self._process_preferred_replica_election)
        )
        if read is None:
            return
        self._elect_preferred(key for key in _parse_election(read.data) if self.context.knows(key))
        self.context.delete(paths.ELECTION)

    def _read_brokers(self) -> frozenset[int]:
        names = self._zookeeper.children(
            paths.BROKER_IDS, then=lambda: self.process(self._process_broker_change)
        )
        return frozenset(int(name) for name in names if name.isdigit())

    def _read_topics(self) -> list[str]:
        return self._zookeeper.children(paths.TOPICS, then=self.process_topic_change)

    def _watch_topic(self, name: str) -> event_loop.Task:
        return lambda: self.process(lambda: self._process_partition_modifications(name))

    # --- what it does about it

    def _process_due(self) -> None:
        """Reassignments that can end, deletions that can run, followers that can catch up."""
        self._reassignments.advance(self.live)
        self._deletions.advance(self.live)
        self._replication.follow(self.live)

    def _add_topic_ids(self, names: Iterable[str]) -> None:
        """A topic written by hand or by an old tool has no id: a controller that meets it gives it one."""
        for name in list(names):
            assignment = self.context.topics.get(name)
            if assignment is not None and assignment.topic_id is None:
                topic_id = zk_data.new_topic_id(self._random)
                self.context.set_topic(name, msgspec.structs.replace(assignment, topic_id=topic_id))

    def _create_states(self, topics: Iterable[str]) -> None:
        """A first leader for each partition that has none yet and has a live replica."""
        keys = (TopicPartition(t, p) for t in list(topics) for p in self._partitions(t))
        firsts = {
            key: leader_and_isr.initialize(self.context.replicas(key), self.live)
            for key in keys
            if key not in self.context.states
        }
        chosen = {key: state for key, state in firsts.items() if state is not None}
        if chosen:
            self.context.create_partitions(chosen)

    def _partitions(self, topic: str) -> Iterable[int]:
        assignment = self.context.topics.get(topic)
        return () if assignment is None else assignment.partitions

    def _elect_leaders(self) -> None:
        """A new leader wherever the old one is dead or there was none."""
        self._set_states(
            lambda key, state: (
                None
                if state.leader in self.live
                else leader_and_isr.leader_for_offline(state, self.context.replicas(key), self.live)
            )
        )

    def _drop_from_isr(self, dead: frozenset[int]) -> None:
        self._set_states(lambda _, state: leader_and_isr.remove_from_isr(state, dead))

    def _set_states(self, choose: Callable[[TopicPartition, PartitionState], PartitionState | None]) -> None:
        changes = {
            key: choose(key, versioned.state)
            for key, versioned in self.context.states.items()
            if self.context.knows(key) and not self._deletions.is_deleting(key.topic)
        }
        self.context.set_states(changes)

    def _dead_members(self) -> frozenset[int]:
        members = {b for versioned in self.context.states.values() for b in versioned.state.isr}
        return frozenset(members) - self.live

    def _elect_preferred(self, keys: Iterable[TopicPartition]) -> None:
        states = self.context.states
        self.context.set_states(
            {
                key: leader_and_isr.leader_for_preferred_replica(
                    states[key].state, self.context.replicas(key), self.live
                )
                for key in keys
                if key in states
            }
        )

    def _check_imbalance(self) -> None:
        """auto.leader.rebalance.enable: brokers that lead too few of their own partitions get them back."""
        self._schedule_imbalance_check()
        preferred: dict[int, list[TopicPartition]] = {}
        for key in self.context.states:
            if self.context.knows(key) and key.partition not in self.context.topics[key.topic].reassigned:
                preferred.setdefault(self.context.replicas(key)[0], []).append(key)
        for broker in sorted(self.live & preferred.keys()):
            elsewhere = [key for key in preferred[broker] if self.context.states[key].state.leader != broker]
            if len(elsewhere) / len(preferred[broker]) > IMBALANCE_LIMIT:
                self._elect_preferred(elsewhere)

    def _schedule_imbalance_check(self) -> None:
        self._loop.call_later(IMBALANCE_CHECK_S, lambda: self.process(self._check_imbalance))


def _parse_election(data: bytes) -> list[TopicPartition]:
    """The partitions that an election znode names; none where it cannot be understood."""
    try:
        value = json.loads(data)
        entries: list[Mapping[str, object]] = value["partitions"]
        return [TopicPartition(str(e["topic"]), int(str(e["partition"]))) for e in entries]
    except (ValueError, TypeError, KeyError):
        return []
