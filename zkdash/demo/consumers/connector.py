"""A registered consumer: it watches its group and its topics, and claims the partitions that are its own.

After kafka.consumer.ZookeeperConsumerConnector of 0.7 and of 0.8 to 1.1. Every member computes for itself;
owners are ephemerals, and who finds one taken gives its attempt up and tries again.
"""

from __future__ import annotations

import logging

import msgspec

from zkdash.demo.consumers import group_reader, offsets, ownership
from zkdash.demo.consumers.configs import ConsumerConfig
from zkdash.demo.consumers.ownership import PartitionKey
from zkdash.demo.runtime import event_loop, session
from zkdash.kafka import paths
from zkdash.kafka.assignment import rules
from zkdash.kafka.consumers.consumer_ids import parse_thread
from zkdash.kafka.values import Layout, Pattern

log = logging.getLogger(__name__)


class Timing(msgspec.Struct, frozen=True):
    """A consumer's options that are times, in seconds; `retries` is rebalance.max.retries.

    The demo commits every 5 s, where 0.7 does every 10 s and 0.8 and later every minute by default.
    """

    retries: int = 4
    backoff_s: float = 2.0  # rebalance.backoff.ms
    commit_s: float = 5.0  # auto.commit.interval.ms
    session_s: float = 6.0  # zookeeper.session.timeout.ms


class ZookeeperConsumerConnector:
    """What a member does between its registration and its end, which is `stop`.

    `attempts` counts the tries of the latest rebalance; `is_idle` tells that all of them failed, so that
    the member stays registered and owns nothing until something changes.
    """

    def __init__(
        self,
        zookeeper: session.Session,
        config: ConsumerConfig,
        consumer_id: str,
        *,
        loop: event_loop.EventLoop,
        next_offset: offsets.NextOffset,
        timing: Timing,
    ) -> None:
        self.attempts = 0
        self.is_idle = False
        self._zookeeper = zookeeper
        self._config = config
        self._consumer_id = consumer_id
        self._loop = loop
        self._timing = timing
        self._ownership = ownership.PartitionOwnership(zookeeper, config.group)
        self._offsets = offsets.ConsumerOffsets(zookeeper, config, next_offset)
        self._group_reader = group_reader.GroupReader(
            zookeeper, config, consumer_id, then=self._restart_rebalance
        )
        self._allowed: frozenset[str] = frozenset()  # what the wildcard allows, of the topics that there are
        self._active = True
        self._awaits_brokers = False
        self._retry = event_loop.TimerHandle(lambda: None)

    def start(self) -> None:
        """Watch and rebalance; the member is registered already."""
        if self._config.pattern is not Pattern.STATIC:
            self._allowed = self._read_allowed()
        self._members_changed()
        self._commit_later()

    def stop(self, *, commit: bool) -> None:
        """Do no more, as a rule after a last commit. The owners go with the session."""
        self._active = False
        self._retry.cancel()
        if commit:
            self._offsets.commit()

    # --- what ZooKeeper tells

    def _members_changed(self) -> None:
        if self._active:
            self._zookeeper.children(f"{paths.group(self._config.group)}/ids", then=self._members_changed)
            self._restart_rebalance()

    def _topics_changed(self) -> None:
        """Topics came or went: a rebalance where that concerns the wildcard."""
        before, self._allowed = self._allowed, self._read_allowed()
        if self._allowed != before:
            self._restart_rebalance()

    def _read_allowed(self) -> frozenset[str]:
        names = self._zookeeper.children(paths.TOPICS, then=self._topics_changed)
        return group_reader.allowed(self._config, names)

    def _brokers_changed(self) -> None:
        if self._active:
            self._zookeeper.children(paths.BROKER_IDS, then=self._brokers_changed)
            self._restart_rebalance()

    def _commit_later(self) -> None:
        def due() -> None:
            if self._active:
                self._commit_later()
                self._offsets.commit()

        self._loop.call_later(self._timing.commit_s, due)

    # --- rebalancing

    def _restart_rebalance(self) -> None:
        if self._active:
            self._retry.cancel()
            self._rebalance(1)

    def _rebalance(self, attempt: int) -> None:
        """Release, compute, claim; after the last failed try it owns nothing until something changes."""
        self.attempts = attempt
        self.is_idle = False
        if self._lacks_brokers():
            return
        self._release()
        if self._claim():
            return
        if attempt < self._timing.retries:
            self._retry = self._loop.call_later(self._timing.backoff_s, lambda: self._rebalance(attempt + 1))
            return
        self.is_idle = True
        log.info("%s cannot rebalance after %s tries", self._consumer_id, attempt)

    def _lacks_brokers(self) -> bool:
        """0.8 and later watch /brokers/ids only where it is empty, and leave everything as it is."""
        if self._config.layout is Layout.V07 or self._zookeeper.children(paths.BROKER_IDS):
            return False
        if not self._awaits_brokers:
            self._awaits_brokers = True
            self._zookeeper.children(paths.BROKER_IDS, then=self._brokers_changed)
        return True

    def _release(self) -> None:
        """Stop reading, commit, and give up what this member remembers to own."""
        self._offsets.commit()
        self._offsets.forget()
        self._ownership.release()

    def _claim(self) -> bool:
        """Whether this attempt ended with all partitions that are this member's."""
        try:
            owned = self._own_partitions()
        except group_reader.AttemptFailedError as reason:
            log.info("%s cannot tell its partitions: %s", self._consumer_id, reason)
            return False
        if not self._ownership.claim(owned):
            return False
        self._offsets.claim(owned)
        return True

    def _own_partitions(self) -> dict[PartitionKey, str]:
        """Thread by partition, of this member's threads. Raises AttemptFailedError where the rule refuses."""
        assignment = rules.assign(self._config.rule, self._group_reader.read())
        reason = assignment.refused or assignment.undetermined
        if reason is not None:
            raise group_reader.AttemptFailedError(reason)
        return {
            (topic, key): thread
            for topic, threads in assignment.owners.items()
            for key, thread in threads.items()
            if thread is not None and parse_thread(thread).consumer == self._consumer_id
        }
