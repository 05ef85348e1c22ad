"""The controller: the broker that holds /controller, and what it does about brokers, topics and requests.

After kafka.controller.KafkaController of 3.9 in ZooKeeper mode. What it reads is its Ledger's; moves,
deletions and followers that catch up have modules of their own. It acts only on the agenda's thread, and
only until `resign`.
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
from zkdash.kafka.values import PartitionState

IDS_PATH = "/brokers/ids"
TOPICS_PATH = "/brokers/topics"
ELECTION_PATH = "/admin/preferred_replica_election"
NOTIFICATION_PATHS = ("/isr_change_notification", "/log_dir_event_notification")
# leader.imbalance.check.interval.seconds is 300 by default; the demo's brokers are configured to 45.
IMBALANCE_CHECK_S = 45.0
IMBALANCE_LIMIT = 0.10  # leader.imbalance.per.broker.percentage


class Controller:
    """One term in office. `start` takes over whatever state ZooKeeper holds; `resign` ends it for good."""

    def __init__(
        self,
        zookeeper: session.Session,
        *,
        steps: event_loop.Agenda,
        random: Random,
        epoch: int,
        epoch_version: int,
        copying: replica_fetchers.Copies,
        on_deposed: Callable[[], None],
    ) -> None:
        self.epoch = epoch
        self.live: frozenset[int] = frozenset()
        self.ledger = controller_context.Ledger(zookeeper, epoch=epoch, epoch_version=epoch_version)
        self._zookeeper = zookeeper
        self._steps = steps
        self._random = random
        self._on_deposed = on_deposed
        self._active = True
        self._known_topics: set[str] = set()
        self._replication = replication.Replication(
            self.ledger, steps=steps, random=random, act=self.act, copying=copying
        )
        self._moves = reassignments.Reassignments(self.ledger, zookeeper, act=self.act)
        self._deletions = topic_deletion.Deletions(self.ledger, zookeeper, steps=steps, act=self.act)

    def start(self) -> None:
        """Take office: clear notifications, read everything, elect where leaders died meanwhile."""
        self.act(self._take_over)

    def resign(self) -> None:
        self._active = False

    def act(self, step: event_loop.Step) -> None:
        """Run a step of this term, unless it is over; then settle what the step left to do."""
        if not self._active:
            return
        try:
            step()
            self._settle()
        except controller_context.Deposed:
            self.resign()
            self._on_deposed()

    def fall_behind(self, key: TopicPartition, replica: int, *, seconds: float) -> None:
        """A follower lags: its leader takes it out of the ISR, and back in after `seconds`."""
        self.act(lambda: self._replication.fall_behind(key, replica, seconds=seconds))

    # --- what ZooKeeper tells

    def _take_over(self) -> None:
        for path in NOTIFICATION_PATHS:
            self.ledger.delete(*(f"{path}/{name}" for name in self._zookeeper.children(path)))
        self.live = self._read_brokers()
        self._known_topics = set(self._read_topics())
        self.ledger.load(sorted(self._known_topics), watch=self._watch_topic)
        self._name_topics(self.ledger.topics)
        self._create_states(self.ledger.topics)
        self._elect_leaders()
        self._drop_from_isr(self._dead())
        self._deletions.read()
        self._moves.resume()
        self._election_requested()
        self._await_rebalance()

    def _brokers_changed(self) -> None:
        """Brokers came or went (onBrokerFailure, onBrokerStartup)."""
        before, self.live = self.live, self._read_brokers()
        gone, came = before - self.live, self.live - before
        if gone or came:
            self._elect_leaders()
        if gone:
            self._drop_from_isr(gone)
        if came:
            self._create_states(self.ledger.topics)

    def topics_changed(self) -> None:
        """Look at /brokers/topics now, rather than when its watch fires."""
        self.act(self._topics_changed)

    def _topics_changed(self) -> None:
        names = set(self._read_topics())
        for name in sorted(self._known_topics - names):
            self.ledger.forget(name)
        added = sorted(names - self._known_topics)
        self._known_topics = names
        self.ledger.load(added, watch=self._watch_topic)
        self._name_topics(added)
        self._create_states(added)

    def _topic_changed(self, name: str) -> None:
        """A topic's assignment was written: by this controller, or by whoever adds partitions."""
        if self.ledger.read_topic(name, watch=self._watch_topic):
            self._create_states([name])

    def _election_requested(self) -> None:
        """/admin/preferred_replica_election: elect what can be elected; the znode goes in any case."""
        read = self._zookeeper.get(ELECTION_PATH, then=lambda: self.act(self._election_requested))
        if read is None:
            return
        self._prefer(key for key in _requested(read.data) if self.ledger.knows(key))
        self.ledger.delete(ELECTION_PATH)

    def _read_brokers(self) -> frozenset[int]:
        names = self._zookeeper.children(IDS_PATH, then=lambda: self.act(self._brokers_changed))
        return frozenset(int(name) for name in names if name.isdigit())

    def _read_topics(self) -> list[str]:
        return self._zookeeper.children(TOPICS_PATH, then=self.topics_changed)

    def _watch_topic(self, name: str) -> event_loop.Step:
        return lambda: self.act(lambda: self._topic_changed(name))

    # --- what it does about it

    def _settle(self) -> None:
        """Moves that can end, deletions that can run, followers that can catch up."""
        self._moves.advance(self.live)
        self._deletions.advance(self.live)
        self._replication.follow(self.live)

    def _name_topics(self, names: Iterable[str]) -> None:
        """A topic written by hand or by an old tool has no id: a controller that meets it gives it one."""
        for name in list(names):
            plan = self.ledger.topics.get(name)
            if plan is not None and plan.topic_id is None:
                topic_id = zk_data.new_topic_id(self._random)
                self.ledger.set_topic(name, msgspec.structs.replace(plan, topic_id=topic_id))

    def _create_states(self, topics: Iterable[str]) -> None:
        """A first leader for each partition that has none yet and has a live replica."""
        keys = (TopicPartition(t, p) for t in list(topics) for p in self._partitions(t))
        firsts = {
            key: leader_and_isr.first(self.ledger.replicas(key), self.live)
            for key in keys
            if key not in self.ledger.states
        }
        chosen = {key: state for key, state in firsts.items() if state is not None}
        if chosen:
            self.ledger.create_partitions(chosen)

    def _partitions(self, topic: str) -> Iterable[int]:
        plan = self.ledger.topics.get(topic)
        return () if plan is None else plan.partitions

    def _elect_leaders(self) -> None:
        """A new leader wherever the old one is dead or there was none."""
        self._decide(
            lambda key, state: (
                None
                if state.leader in self.live
                else leader_and_isr.elect(state, self.ledger.replicas(key), self.live)
            )
        )

    def _drop_from_isr(self, dead: frozenset[int]) -> None:
        self._decide(lambda _, state: leader_and_isr.remove(state, dead))

    def _decide(self, choose: Callable[[TopicPartition, PartitionState], PartitionState | None]) -> None:
        changes = {
            key: choose(key, kept.state)
            for key, kept in self.ledger.states.items()
            if self.ledger.knows(key) and not self._deletions.is_deleting(key.topic)
        }
        self.ledger.set_states(changes)

    def _dead(self) -> frozenset[int]:
        members = {b for kept in self.ledger.states.values() for b in kept.state.isr}
        return frozenset(members) - self.live

    def _prefer(self, keys: Iterable[TopicPartition]) -> None:
        states = self.ledger.states
        self.ledger.set_states(
            {
                key: leader_and_isr.prefer(states[key].state, self.ledger.replicas(key), self.live)
                for key in keys
                if key in states
            }
        )

    def _rebalance(self) -> None:
        """auto.leader.rebalance.enable: brokers that lead too few of their own partitions get them back."""
        self._await_rebalance()
        own: dict[int, list[TopicPartition]] = {}
        for key in self.ledger.states:
            if self.ledger.knows(key) and key.partition not in self.ledger.topics[key.topic].moving:
                own.setdefault(self.ledger.replicas(key)[0], []).append(key)
        for broker in sorted(self.live & own.keys()):
            astray = [key for key in own[broker] if self.ledger.states[key].state.leader != broker]
            if len(astray) / len(own[broker]) > IMBALANCE_LIMIT:
                self._prefer(astray)

    def _await_rebalance(self) -> None:
        self._steps.after(IMBALANCE_CHECK_S, lambda: self.act(self._rebalance))


def _requested(data: bytes) -> list[TopicPartition]:
    """The partitions that an election znode names; none where it cannot be understood."""
    try:
        value = json.loads(data)
        entries: list[Mapping[str, object]] = value["partitions"]
        return [TopicPartition(str(e["topic"]), int(str(e["partition"]))) for e in entries]
    except (ValueError, TypeError, KeyError):
        return []
