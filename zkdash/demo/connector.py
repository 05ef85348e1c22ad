"""A registered consumer: it watches its group and its topics, and claims the partitions that are its own.

After kafka.consumer.ZookeeperConsumerConnector of 0.7 and of 0.8 to 1.1. Every member computes for itself;
owners are ephemerals, and who finds one still held gives its attempt back and tries again.
"""

from __future__ import annotations

import logging

import msgspec

from zkdash.demo import agenda, offsets, owners, session, subscribed
from zkdash.demo.offsets import Key
from zkdash.demo.specs import ConsumerSpec
from zkdash.kafka import paths
from zkdash.kafka.assignment import rules
from zkdash.kafka.consumers.ids import parse_thread
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


class Connector:
    """What a member does between its registration and its end, which is `stop`.

    `attempts` counts the tries of the latest rebalance; `is_idle` tells that all of them failed, so that
    the member stays registered and owns nothing until something changes.
    """

    def __init__(
        self,
        zookeeper: session.Session,
        spec: ConsumerSpec,
        consumer_id: str,
        *,
        steps: agenda.Agenda,
        pace: offsets.Pace,
        timing: Timing,
    ) -> None:
        self.attempts = 0
        self.is_idle = False
        self._zookeeper = zookeeper
        self._spec = spec
        self._consumer_id = consumer_id
        self._steps = steps
        self._timing = timing
        self._owners = owners.Owners(zookeeper, spec.group)
        self._offsets = offsets.Offsets(zookeeper, spec, pace)
        self._subscribed = subscribed.Subscribed(zookeeper, spec, consumer_id, then=self._rebalance_anew)
        self._allowed: frozenset[str] = frozenset()  # what the wildcard allows, of the topics that there are
        self._active = True
        self._awaits_brokers = False
        self._retry = agenda.Timer(lambda: None)

    def start(self) -> None:
        """Watch and rebalance; the member is registered already."""
        if self._spec.pattern is not Pattern.STATIC:
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
            self._zookeeper.children(f"{paths.group(self._spec.group)}/ids", then=self._members_changed)
            self._rebalance_anew()

    def _topics_changed(self) -> None:
        """Topics came or went: a rebalance where that concerns the wildcard."""
        before, self._allowed = self._allowed, self._read_allowed()
        if self._allowed != before:
            self._rebalance_anew()

    def _read_allowed(self) -> frozenset[str]:
        names = self._zookeeper.children(paths.TOPICS, then=self._topics_changed)
        return subscribed.allowed(self._spec, names)

    def _brokers_changed(self) -> None:
        if self._active:
            self._zookeeper.children(paths.BROKER_IDS, then=self._brokers_changed)
            self._rebalance_anew()

    def _commit_later(self) -> None:
        def due() -> None:
            if self._active:
                self._commit_later()
                self._offsets.commit()

        self._steps.after(self._timing.commit_s, due)

    # --- rebalancing

    def _rebalance_anew(self) -> None:
        if self._active:
            self._retry.cancel()
            self._rebalance(1)

    def _rebalance(self, attempt: int) -> None:
        """Release, compute, claim; after the last failed try it owns nothing until something changes."""
        self.attempts = attempt
        self.is_idle = False
        if self._is_without_brokers():
            return
        self._release()
        if self._claim():
            return
        if attempt < self._timing.retries:
            self._retry = self._steps.after(self._timing.backoff_s, lambda: self._rebalance(attempt + 1))
            return
        self.is_idle = True
        log.info("%s cannot rebalance after %s tries", self._consumer_id, attempt)

    def _is_without_brokers(self) -> bool:
        """0.8 and later watch /brokers/ids only where it is empty, and leave everything as it is."""
        if self._spec.layout is Layout.V07 or self._zookeeper.children(paths.BROKER_IDS):
            return False
        if not self._awaits_brokers:
            self._awaits_brokers = True
            self._zookeeper.children(paths.BROKER_IDS, then=self._brokers_changed)
        return True

    def _release(self) -> None:
        """Stop reading, commit, and give up what this member remembers to own."""
        self._offsets.commit()
        self._offsets.forget()
        self._owners.release()

    def _claim(self) -> bool:
        """Whether this attempt ended with all that the plan gives to this member."""
        try:
            plan = self._plan()
        except subscribed.AttemptFailed as reason:
            log.info("%s cannot tell its partitions: %s", self._consumer_id, reason)
            return False
        if not self._owners.claim(plan):
            return False
        self._offsets.claim(plan)
        return True

    def _plan(self) -> dict[Key, str]:
        """Thread by partition, of this member's threads. Raises AttemptFailed where the rule refuses."""
        plan = rules.plan(self._spec.rule, self._subscribed.demand())
        reason = plan.refused or plan.undetermined
        if reason is not None:
            raise subscribed.AttemptFailed(reason)
        return {
            (topic, key): thread
            for topic, owned in plan.owners.items()
            for key, thread in owned.items()
            if thread is not None and parse_thread(thread).consumer == self._consumer_id
        }
