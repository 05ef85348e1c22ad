"""The next state of a cluster: what a batch changed is read again, the rest is shared with the state before.

The cost follows the batch, not the cluster.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import msgspec

from zkdash.cluster.checks.catalogue import EVALUATIONS
from zkdash.cluster.evaluation import znodes
from zkdash.cluster.evaluation.evaluator import Evaluator
from zkdash.cluster.model import defaults, moves
from zkdash.cluster.model.changed_areas import ChangedAreas
from zkdash.cluster.model.draft import Draft
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.known import Read
from zkdash.cluster.model.state import ClusterState, Counts, Seen
from zkdash.cluster.model.topics import Topic
from zkdash.cluster.reducer import arrivals as arriving
from zkdash.cluster.reducer import assembly, membership
from zkdash.cluster.reducer.arrivals import Arrival, Arrivals, OfTopic
from zkdash.cluster.reducer.consumption import Consumption
from zkdash.cluster.reducer.entities import Entities
from zkdash.cluster.reducer.loads import Loads
from zkdash.cluster.reducer.problems import Ledger
from zkdash.cluster.reducer.reading import Reader
from zkdash.cluster.reducer.tally import Tally
from zkdash.cluster.reducer.topic_ranking import TopicRanking
from zkdash.kafka import znode_kinds
from zkdash.kafka.layouts import brokers
from zkdash.kafka.values import Broker, Layout
from zkdash.kafka.znode_kinds import Kind
from zkdash.znode import Batch


def advance(state: ClusterState, batch: Batch) -> tuple[ClusterState, ChangedAreas]:
    """Apply a batch: the new state, and what of it changed. `revision` stays, it is the caller's."""
    step = _Step(state)
    step.apply(arriving.sort(batch.changed))
    step.judge(batch.changed)
    after = msgspec.structs.replace(
        step.close(),
        zxid=max(state.zxid, batch.zxid),
        settling=batch.settling,
        loaded=state.loaded or batch.whole,
    )
    return after, step.touched(after, whole=batch.whole)


_NOTHING = OfTopic({}, [])


class _Step:
    """One batch being applied to one state."""

    def __init__(self, before: ClusterState) -> None:
        self._before = before
        self._ledger = Ledger(before.problems, before.counts.critical_problems)
        self._reader = Reader(self._ledger)
        self._tally = Tally(before.counts)
        self._areas: set[str] = set()
        self._single: dict[str, Any] = {}
        self._brokers = Draft(before.brokers)
        self._targets = before.targets
        self._deletions = Draft(before.deletion_znodes)
        self._entities = Entities(before)
        self._topics = Draft(before.topics)
        self._remnants = Draft(before.remnants)
        self._standing = TopicRanking(before, self._tally)
        self._jury = Evaluator(before, self._topics, EVALUATIONS)
        self._loads = Loads(before.loads, self._jury.before)
        self._groups = Draft(before.groups)
        self._consumption = Consumption(before, self._tally, self._topics)
        self._reshaped: set[str] = set()  # topics whose partitions are others for consumers
        self._touched_topics: set[str] = set()
        self._touched_groups: set[str] = set()

    def apply(self, arrived: Arrivals) -> None:
        """Brokers before topics, whose leaders they are; topics before groups, whose partitions they are."""
        for arrival in arrived.misnamed:
            self._reader.misnamed(arrival)
        self._read_singles(arrived.others)
        self._areas.update(self._entities.read(arrived.entities, self._reader))
        self._areas.update(self._entities.refuse(arrived.untyped))
        self._read_brokers(arrived.brokers)
        names = dict.fromkeys([*arrived.topics, *self._retargeted(), *self._marked(arrived.deletions)])
        least = defaults.min_isr(self._entities.configs())
        self._jury.stand(self._brokers.close(), self._controller_epoch(), least, self._targets)
        for name in names:
            self._read_topic(name, arrived.topics.get(name) or _NOTHING)
        for name in self._jury.elsewhere():
            if name not in names:
                self._judge_topic(name, self._topics.get(name), self._topics.get(name))
        for name, arrivals in arrived.groups.items():
            self._read_group(name, arrivals)
        for name in {group for topic in self._reshaped for group in self._consumption.subscribers(topic)}:
            if self._consumption.judge(name, self._groups.get(name)):
                self._touched_groups.add(name)

    def judge(self, changed: Mapping[str, Read]) -> None:
        """Groups whose topics came or went, and znodes as such."""
        for topic in self._reshaped:
            for name in self._before.consumers.get(topic, ()):
                self._jury.group(name, self._groups.get(name))
        self._jury.znodes(changed, znodes.faults(changed))

    def close(self) -> ClusterState:
        summaries, ranking = self._standing.close()
        problems = self._ledger.close()
        brokers_ = self._brokers.close()
        counts = self._tally.close(len(problems), self._ledger.critical)
        return msgspec.structs.replace(
            self._before,
            layout=_layout(brokers_, counts),
            brokers=brokers_,
            topics=self._topics.close(),
            summaries=summaries,
            groups=self._groups.close(),
            problems=problems,
            deletion_znodes=self._deletions.close(),
            counts=counts,
            remnants=self._remnants.close(),
            targets=self._targets,
            ranking=ranking,
            loads=self._loads.close(),
            **self._jury.close(),
            **self._consumption.close()._asdict(),
            **self._entities.close(),
            **self._single,
        )

    def touched(self, after: ClusterState, *, whole: bool) -> ChangedAreas:
        topics = self._touched_topics | {name for name in self._consumption.topics() if name in after.topics}
        areas = {
            "topics": bool(topics),
            "groups": bool(self._touched_groups),
            "problems": after.problems is not self._before.problems,
        }
        self._areas.update(area for area, changed in areas.items() if changed)
        groups = frozenset(self._touched_groups)
        return ChangedAreas(frozenset(self._areas), frozenset(topics), groups, whole, self._jury.moved())

    def _read_singles(self, arrived: Mapping[Kind, Arrival]) -> None:
        for kind, arrival in arrived.items():
            row = znode_kinds.BY_KIND[kind]
            self._areas.add(row.area)
            if row.parse is None:
                self._single[row.field] = arrival.read
                continue
            value = self._reader.value(arrival, row.parse)
            gone = arrival.read is None
            self._single[row.field] = None if gone else Seen(value, assembly.readable(arrival.read))

    def _read_brokers(self, arrived: Mapping[int, Arrival]) -> None:
        for number, arrival in arrived.items():
            value = self._reader.value(arrival, functools.partial(brokers.parse_broker, number))
            self._brokers.put(
                number, None if value is None else Seen[Broker](value, assembly.readable(arrival.read))
            )
            self._areas.add("brokers")

    def _controller_epoch(self) -> int | None:
        seen = self._single.get("controller_epoch", self._before.controller_epoch)
        return seen.value if seen is not None and isinstance(seen.value, int) else None

    def _retargeted(self) -> list[str]:
        """The topics whose entries in /admin/reassign_partitions changed."""
        if "reassignment" not in self._single:
            return []
        seen = self._single["reassignment"]
        before, self._targets = self._targets, moves.by_topic(seen and seen.value)
        return [name for name in {*before, *self._targets} if before.get(name) != self._targets.get(name)]

    def _marked(self, arrived: Mapping[str, Read]) -> list[str]:
        """The topics that were marked for deletion, or no longer are."""
        changed = []
        for name, read in arrived.items():
            if (read is None) != (self._deletions.get(name) is None):
                changed.append(name)
            self._deletions.put(name, read)
            self._areas.add("admin")
        return changed

    def _judge_topic(self, name: str, before: Topic | None, topic: Topic | None) -> None:
        if topic is not None and self._jury.stands_alike(before, topic):
            self._standing.written(name, topic.changed)
            return
        numbers, parts = self._jury.topic(name, topic)
        self._loads.move(before, topic, self._jury.ground, parts)
        if self._standing.put(name, numbers):
            self._touched_topics.add(name)

    def _read_topic(self, name: str, arrived: OfTopic) -> None:
        before = self._topics.get(name)
        after = assembly.assemble(
            before or self._remnants.get(name) or assembly.blank(name),
            arrived,
            self._reader,
            deleting=self._deletions.get(name) is not None,
            requested=self._targets.get(name, moves.NONE),
        )
        here = None if after.znode is None else after
        self._topics.put(name, here)
        self._remnants.put(name, None if here or assembly.is_empty(after) else after)
        if here or before:
            self._touched_topics.add(name)
            self._judge_topic(name, before, here)
        if _is_reshaped(here, before):
            self._reshaped.add(name)

    def _read_group(self, name: str, arrivals: list[Arrival]) -> None:
        before = self._groups.get(name)
        after = membership.assemble(before or Group(name), arrivals, self._reader)
        here = None if membership.is_empty(after) else after
        self._groups.put(name, here)
        self._touched_groups.add(name)
        alike = here is not None and before is not None and membership.claims_alike(here, before)
        if not alike:
            self._consumption.judge(name, here)
        if not alike or (here and not here.members):  # of which it counts when the last commit was (D44)
            self._jury.group(name, here)


def _is_reshaped(former: Topic | None, other: Topic | None) -> bool:
    """Whether the partitions that consumers should own may be others now."""
    if former is None or other is None:
        return former is not other
    return (
        former.assignment is not other.assignment
        or former.counts is not other.counts
        or former.deleting != other.deleting
    )


def _layout(registered: Mapping[int, Seen[Broker]], counts: Counts) -> Layout:
    """0.7 and 0.8+ in one chroot are mixed (check D49)."""
    layouts = {seen.value.layout for seen in registered.values() if isinstance(seen.value, Broker)}
    old = counts.topics_07 > 0 or Layout.V07 in layouts
    new = counts.topics_08 > 0 or Layout.V08 in layouts
    if old and new:
        return Layout.MIXED
    return Layout.V08 if new else Layout.V07 if old else Layout.NONE
