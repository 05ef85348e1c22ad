"""Which topics and groups are evaluated again after a batch, and what is kept of that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import immutables

from zkdash.cluster.evaluation import topics, znodes
from zkdash.cluster.evaluation.context import Context, Part, Shape
from zkdash.cluster.evaluation.partitions import STRANGERS
from zkdash.cluster.model import defaults, moves
from zkdash.cluster.model.group_summary import Lookup
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.known import Read
from zkdash.cluster.model.state import ClusterState, Seen
from zkdash.cluster.model.topics import Topic, TopicSummary
from zkdash.cluster.model.violations import Violation, ViolationLedger
from zkdash.kafka.values import Broker

# What one check has against a topic of that summary, or against a group where topics are found by the lookup.
# Of the states of a topic's partitions it may ask for nothing but leader and ISR (`topics.stands_alike`).
OfTopic = Callable[[Topic, TopicSummary, Context], Violation | None]
OfGroup = Callable[[Group, Lookup], Violation | None]


Parts = Sequence[Part | Shape]


class Evaluations(NamedTuple):
    """By the check's id, what is asked of each topic and of each group when it changes."""

    topics: Mapping[str, OfTopic]
    groups: Mapping[str, OfGroup]


class Evaluator:
    """One per batch, thrown away after `close`."""

    def __init__(self, before: ClusterState, topics_: Lookup, evaluations: Evaluations) -> None:
        """`topics_` finds a topic as it stands so far in the batch."""
        self._before, self._topics = before, topics_
        self._of_topics, self._of_groups = evaluations
        self._topic_checks = frozenset((*topics.CHECKS, *self._of_topics))
        self._group_checks = frozenset(self._of_groups)
        self._blaming = ViolationLedger(before.blames)
        self.before = ground_of(before)
        self.ground = self.before

    def stand(
        self,
        brokers: immutables.Map[int, Seen[Broker]],
        epoch: int | None,
        least: int,
        targets: Mapping[str, moves.Targets],
    ) -> None:
        """Say what topics are judged by now: the brokers as registered after the batch, the controller's
        epoch, the brokers' default of min.insync.replicas, and the moves that are asked for."""
        was = self.before
        racks = was.racks if brokers is self._before.brokers else racks_of(brokers)
        made = Context(frozenset(brokers), epoch, racks, least, targets)
        self.ground = was if made.is_alike(was) else made

    def topic(self, name: str, topic: Topic | None) -> tuple[TopicSummary | None, Parts]:
        """Evaluate a topic, None for one that is gone; returns its numbers with its status, and what counts
        of each of its partitions that is assigned."""
        if topic is None:
            self._blaming.judge(name, {}, self._topic_checks)
            return None, ()
        numbers, causes, parts = topics.judge(topic, self.ground)
        if not topic.deleting:
            for check, find in self._of_topics.items():
                if (cause := find(topic, numbers, self.ground)) is not None:
                    causes[check] = cause
        self._blaming.judge(name, causes, self._topic_checks)
        return numbers, parts

    def stands_alike(self, before: Topic | None, after: Topic) -> bool:
        """Whether a topic has the numbers, the status and the blames that it had before the batch."""
        if before is None or self.ground is not self.before:
            return False
        return topics.stands_alike(before, after, self.ground)

    def group(self, name: str, group: Group | None) -> None:
        causes = {}
        if group is not None:
            for check, find in self._of_groups.items():
                if (cause := find(group, self._topics)) is not None:
                    causes[check] = cause
        self._blaming.judge(name, causes, self._group_checks)

    def znodes(self, changed: Mapping[str, Read], faults: Iterable[znodes.Fault]) -> None:
        """What of a batch is not as its kind should be: `faults`, and no other of `changed` any longer."""
        for check in znodes.CHECKS:
            for path in self._blaming.blamed(check):
                if path in changed:
                    self._blaming.judge(path, {}, frozenset((check,)))
        for path, check, cause in faults:
            self._blaming.judge(path, {check: cause}, frozenset((check,)))

    def elsewhere(self) -> Collection[str]:
        """The topics that may be judged otherwise though nothing of theirs changed.

        A controller epoch that grows, as at every election, can only clear who was blamed for being ahead.
        """
        was, now = self.before, self.ground
        if was is now:
            return ()
        if self._is_other_for_all():
            return set(self._before.topics)
        moved = was.live ^ now.live
        names = set() if was.controller_epoch == now.controller_epoch else set(self._blaming.blamed("D17"))
        if moved:
            summaries = self._before.summaries.items()
            names.update(
                name for name, topic_summary in summaries if not moved.isdisjoint(topic_summary.brokers)
            )
            names.update(self._blaming.blamed(STRANGERS))
            names.update(name for name in now.targets if name in self._before.topics)
        return names

    def moved(self) -> frozenset[str]:
        """The topics, groups and paths that checks blame now and did not, or no longer."""
        return frozenset(self._blaming.moved)

    def close(self) -> Mapping[str, object]:
        """What of the state is kept here, by its name there."""
        return {"blames": self._blaming.close()}

    def _is_other_for_all(self) -> bool:
        was, now = self.before, self.ground
        epochs = was.controller_epoch, now.controller_epoch
        is_back = epochs[0] != epochs[1] and (
            None in epochs or (now.controller_epoch or 0) < (epochs[0] or 0)
        )
        return (
            is_back
            or _racks_differ(was, now)
            or was.min_isr != now.min_isr
            or (len(was.live) > 1) != (len(now.live) > 1)
        )


def _racks_differ(was: Context, now: Context) -> bool:
    """Whether replicas of brokers that neither came nor went may share racks otherwise than before."""
    if was.racks is now.racks:
        return False
    stayed = was.live & now.live
    moved = any(was.racks.get(broker) != now.racks.get(broker) for broker in stayed)
    return moved or set(was.racks.values()) != set(now.racks.values())


def ground_of(state: ClusterState) -> Context:
    """What the topics of a state are judged by."""
    seen = state.controller_epoch
    epoch = seen.value if seen is not None and isinstance(seen.value, int) else None
    brokers, least = state.brokers, defaults.min_isr(state.configs)
    return Context(frozenset(brokers), epoch, racks_of(brokers), least, state.targets)


def racks_of(brokers: immutables.Map[int, Seen[Broker]]) -> Mapping[int, str]:
    """The racks of the registered brokers that tell one."""
    values = (seen.value for seen in brokers.values())
    return {broker.id: broker.rack for broker in values if isinstance(broker, Broker) and broker.rack}
