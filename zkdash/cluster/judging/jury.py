"""Who is judged anew in a batch, and what is kept of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from zkdash.cluster.arrivals import Read
from zkdash.cluster.blame import Blames, Blaming
from zkdash.cluster.group_summary import Lookup
from zkdash.cluster.groups import Group
from zkdash.cluster.judging import groups, topics, znodes
from zkdash.cluster.judging.ground import Ground
from zkdash.cluster.state import ClusterState
from zkdash.cluster.topics import Topic
from zkdash.kafka.values import Broker


class Jury:
    """One per batch, thrown away after `close`."""

    def __init__(self, before: ClusterState, topics_: Lookup) -> None:
        """`topics_` finds a topic as it stands so far in the batch."""
        self._before, self._topics = before, topics_
        self._blaming = Blaming(before.blames)
        self._ground = before_ground(before)
        self.ground = self._ground

    def stand(self, live: frozenset[int], registered: Iterable[Broker], epoch: int | None) -> None:
        """Say what topics are judged by now; `registered` are brokers whose registration came."""
        told = {one.id: one.rack for one in registered if one.rack}
        known = self._ground.racks
        racks = known if told.items() <= known.items() else {**known, **told}
        self.ground = Ground(live, epoch, racks)

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
        return names

    def close(self) -> Mapping[str, object]:
        """What of the state is kept here, by its names there."""
        blames: Blames = self._blaming.close()
        return {"blames": blames, "racks": self.ground.racks}

    def _is_other_for_all(self) -> bool:
        was, now = self._ground, self.ground
        epochs = was.controller_epoch, now.controller_epoch
        is_back = epochs[0] != epochs[1] and (
            None in epochs or (now.controller_epoch or 0) < (epochs[0] or 0)
        )
        return is_back or was.racks is not now.racks or (len(was.live) > 1) != (len(now.live) > 1)


def before_ground(state: ClusterState) -> Ground:
    """What the topics of a state were judged by."""
    seen = state.controller_epoch
    epoch = seen.value if seen is not None and isinstance(seen.value, int) else None
    return Ground(frozenset(state.brokers), epoch, state.racks)
