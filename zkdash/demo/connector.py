"""A registered consumer: it watches its group and its topics, and claims partitions by the range algorithm.

After kafka.consumer.ZookeeperConsumerConnector of 0.8 to 1.1. Every member computes for itself; owners are
ephemerals, and who finds one still held gives its attempt back and tries again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from random import Random

from zkdash.demo import agenda, offsets, session
from zkdash.demo.offsets import Partition
from zkdash.demo.specs import GroupSpec
from zkdash.kafka import assignment

RETRIES = 4  # rebalance.max.retries
BACKOFF_S = 2.0  # rebalance.backoff.ms
COMMIT_S = 5.0  # auto.commit.interval.ms; its default is a minute
TOPICS_PATH = "/brokers/topics"
INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state"})  # exclude.internal.topics


class Connector:
    """What a member does between its registration and its end, which is `stop`."""

    def __init__(
        self,
        zookeeper: session.Session,
        group: GroupSpec,
        member: str,
        *,
        steps: agenda.Agenda,
        random: Random,
    ) -> None:
        self._zookeeper = zookeeper
        self._group = group
        self._member = member
        self._steps = steps
        self._root = f"/consumers/{group.name}"
        self._offsets = offsets.Offsets(zookeeper, group.name, random)
        self._owned: Mapping[Partition, str] = {}
        self._active = True
        self._retry = agenda.Timer(lambda: None)

    def start(self) -> None:
        self._group_changed()
        self._commit_later()

    def stop(self, *, commit: bool) -> None:
        """Do no more, as a rule after a last commit. The owners go with the session."""
        self._active = False
        self._retry.cancel()
        if commit:
            self._offsets.commit()

    # --- what ZooKeeper tells

    def _group_changed(self) -> None:
        """Members came or went, or topics did: watch again, and rebalance from the first try."""
        if not self._active:
            return
        self._zookeeper.children(f"{self._root}/ids", then=self._group_changed)
        if self._group.white_list is not None:
            self._zookeeper.children(TOPICS_PATH, then=self._group_changed)
        self._retry.cancel()
        self._rebalance(1)

    def _commit_later(self) -> None:
        def due() -> None:
            if self._active:
                self._commit_later()
                self._offsets.commit()

        self._steps.after(COMMIT_S, due)

    # --- rebalancing

    def _rebalance(self, attempt: int) -> None:
        """Release, compute, claim; after the last failed try it owns nothing until something changes."""
        self._release()
        if not self._claim(self._plan()) and attempt < RETRIES:
            self._retry = self._steps.after(BACKOFF_S, lambda: self._rebalance(attempt + 1))

    def _release(self) -> None:
        """Commit, and give up what this member remembers to own."""
        self._offsets.commit()
        self._offsets.claim(())
        self._zookeeper.commit([self._zookeeper.deleting(self._owner_path(key))] for key in self._owned)
        self._owned = {}

    def _plan(self) -> dict[Partition, str]:
        """Thread by partition, of this member's threads."""
        members = self._members()
        plan: dict[Partition, str] = {}
        for topic, partitions in self._topics().items():
            threads = [f"{m}-{n}" for m, counts in members.items() for n in range(counts.get(topic, 0))]
            for partition, thread in assignment.assign_range(partitions, threads).items():
                if thread.rpartition("-")[0] == self._member:
                    plan[topic, partition] = thread
        return plan

    def _claim(self, plan: Mapping[Partition, str]) -> bool:
        """Create the owners; where another member still holds one, give all of this attempt back."""
        make, topics = self._zookeeper.making, dict.fromkeys(topic for topic, _ in plan)
        owners = [f"{self._root}/owners", *(f"{self._root}/owners/{topic}" for topic in topics)]
        self._zookeeper.commit([make(path, None)] for path in owners)
        failures = self._zookeeper.commit(
            [make(self._owner_path(key), thread.encode(), ephemeral=True)] for key, thread in plan.items()
        )
        got = [key for key, failure in zip(plan, failures, strict=True) if failure is None]
        if len(got) < len(plan):
            self._zookeeper.commit([self._zookeeper.deleting(self._owner_path(key))] for key in got)
            return False
        self._owned = plan
        self._offsets.claim(plan)
        return True

    def _members(self) -> dict[str, dict[str, int]]:
        """Threads by topic of every member of the group; for a white list by every topic that it matches."""
        ids = self._zookeeper.children(f"{self._root}/ids")
        reads = self._zookeeper.get_all([f"{self._root}/ids/{member}" for member in ids])
        return {m: self._counts(read.data) for m, read in zip(ids, reads, strict=True) if read is not None}

    def _counts(self, registration: bytes) -> dict[str, int]:
        subscription: dict[str, int] = json.loads(registration)["subscription"]
        if self._group.white_list is None:
            return subscription
        return dict.fromkeys(self._topic_names(), subscription[self._group.white_list])

    def _topics(self) -> dict[str, list[int]]:
        """Partitions of the subscribed topics that exist; each topic's znode is watched."""
        found: dict[str, list[int]] = {}
        for name in self._topic_names():
            read = self._zookeeper.get(f"{TOPICS_PATH}/{name}", then=self._group_changed)
            if read is not None:
                found[name] = sorted(int(p) for p in json.loads(read.data)["partitions"])
        return found

    def _topic_names(self) -> list[str]:
        if self._group.white_list is None:
            return list(self._group.topics)
        names = self._zookeeper.children(TOPICS_PATH)
        return [n for n in names if n not in INTERNAL_TOPICS and re.fullmatch(self._group.white_list, n)]

    def _owner_path(self, key: Partition) -> str:
        return f"{self._root}/owners/{key[0]}/{key[1]}"
