"""Who is judged anew in a batch, and what is kept of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import immutables

from zkdash.cluster.evaluation import groups, topics, znodes
from zkdash.cluster.evaluation.context import Context
from zkdash.cluster.model import defaults
from zkdash.cluster.model.group_summary import Lookup
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.known import Read
from zkdash.cluster.model.state import ClusterState, Seen
from zkdash.cluster.model.topics import Topic
from zkdash.cluster.model.violations import ViolationLedger
from zkdash.kafka.values import Broker


class Evaluator:
    """One per batch, thrown away after `close`."""

    def __init__(self, before: ClusterState, topics_: Lookup) -> None:
        """`topics_` finds a topic as it stands so far in the batch."""
        self._before, self._topics = before, topics_
        self._blaming = ViolationLedger(before.blames)
        self._ground = before_ground(before)
        self.ground = self._ground

    def stand(self, brokers: immutables.Map[int, Seen[Broker]], epoch: int | None, least: int) -> None:
        """Say what topics are judged by now: the brokers as registered after the batch, the controller's
        epoch, and the brokers' default of min.insync.replicas."""
        was = self._ground
        racks = was.racks if brokers is self._before.brokers else racks_of(brokers)
        same = racks == was.racks
        self.ground = Context(frozenset(brokers), epoch, was.racks if same else racks, least)

    def topic(self, name: str, topic: Topic | None) -> None:
        self._blaming.judge(name, topics.judge(topic, self.ground), topics.CHECKS)

    def group(self, name: str, group: Group | None) -> None:
        self._blaming.judge(name, groups.judge(group, self._topics), groups.CHECKS)

    def znodes(self, changed: Mapping[str, Read], faults: Iterable[znodes.Fault]) -> None:
        """What of a batch is not as its kind should be: `faults`, and no other of `changed` any longer."""
        for check in znodes.CHECKS:
            for path in self._blaming.blamed(check):
                if path in changed:
                    self._blaming.judge(path, {}, (check,))
        for path, check, cause in faults:
            self._blaming.judge(path, {check: cause}, (check,))

    def elsewhere(self) -> Collection[str]:
        """The topics that may be judged otherwise though nothing of theirs changed.

        A controller epoch that grows, as at every election, can only clear who was blamed for being ahead.
        """
        was, now = self._ground, self.ground
        if self._is_other_for_all():
            return set(self._before.topics)
        moved = was.live ^ now.live
        names = set() if was.controller_epoch == now.controller_epoch else set(self._blaming.blamed("D17"))
        if moved:
            summaries = self._before.summaries.items()
            names.update(name for name, one in summaries if not moved.isdisjoint(one.brokers))
            names.update(self._blaming.blamed(topics.STRANGERS))
        return names

    def close(self) -> Mapping[str, object]:
        """What of the state is kept here, by its name there."""
        return {"blames": self._blaming.close()}

    def _is_other_for_all(self) -> bool:
        was, now = self._ground, self.ground
        epochs = was.controller_epoch, now.controller_epoch
        is_back = epochs[0] != epochs[1] and (
            None in epochs or (now.controller_epoch or 0) < (epochs[0] or 0)
        )
        return (
            is_back
            or was.racks is not now.racks
            or was.min_isr != now.min_isr
            or (len(was.live) > 1) != (len(now.live) > 1)
        )


def before_ground(state: ClusterState) -> Context:
    """What the topics of a state were judged by."""
    seen = state.controller_epoch
    epoch = seen.value if seen is not None and isinstance(seen.value, int) else None
    return Context(frozenset(state.brokers), epoch, racks_of(state.brokers), defaults.min_isr(state.configs))


def racks_of(brokers: immutables.Map[int, Seen[Broker]]) -> Mapping[int, str]:
    """The racks of the registered brokers that tell one."""
    values = (seen.value for seen in brokers.values())
    return {one.id: one.rack for one in values if isinstance(one, Broker) and one.rack}
