"""Which groups consume which topics while a batch is applied, and what they leave unowned."""

from __future__ import annotations

from typing import NamedTuple

import immutables

from zkdash.cluster.model import group_summary
from zkdash.cluster.model.draft import Draft
from zkdash.cluster.model.group_summary import Lookup
from zkdash.cluster.model.groups import Group, GroupSummary
from zkdash.cluster.model.ranking import Placing, Ranking
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer.tally import Tally

_NOTHING: frozenset[str] = frozenset()


class Consumed(NamedTuple):
    """What of the state is kept here, by its names there."""

    group_summaries: immutables.Map[str, GroupSummary]
    consumers: immutables.Map[str, frozenset[str]]
    unowned: immutables.Map[str, int]
    group_ranking: Ranking


class Consumption:
    """One per batch, thrown away after `close`."""

    def __init__(self, before: ClusterState, tally: Tally, topics: Lookup) -> None:
        self._before = before
        self._tally = tally
        self._topics = topics
        self._summaries = Draft(before.group_summaries)
        self._unowned = Draft(before.unowned)
        self._placing = Placing(before.group_ranking)
        self._judged: set[str] = set()
        self._come: dict[str, set[str]] = {}  # groups by the topic that they began to consume
        self._gone: dict[str, set[str]] = {}

    def judge(self, name: str, group: Group | None) -> bool:
        """Sum a group up anew (None: there is none); True where its numbers changed."""
        self._judged.add(name)
        before = self._summaries.get(name)
        after = None if group is None else group_summary.summarise(group, self._topics)
        if after == before:
            return False
        self._summaries.put(name, after)
        self._tally.group(before, after)
        self._placing.move(name, before, after)
        self._unowned.put(name, (after and after.unowned) or None)
        self._relate(name, before, after)
        return True

    def subscribers(self, topic: str) -> list[str]:
        """The groups not judged so far in this batch that subscribe to a topic by name."""
        return [
            name
            for name in self._before.consumers.get(topic, _NOTHING)
            if name not in self._judged and topic in self._before.group_summaries[name].subscribed
        ]

    def topics(self) -> set[str]:
        """The topics that groups began or ceased to consume."""
        return {*self._come, *self._gone}

    def close(self) -> Consumed:
        consumers = Draft(self._before.consumers)
        for topic in self.topics():
            before = self._before.consumers.get(topic, _NOTHING)
            after = before.difference(self._gone.get(topic, ())).union(self._come.get(topic, ()))
            consumers.put(topic, after or None)
        summaries = self._summaries.close()
        return Consumed(summaries, consumers.close(), self._unowned.close(), self._placing.close(summaries))

    def _relate(self, name: str, before: GroupSummary | None, after: GroupSummary | None) -> None:
        was = _NOTHING if before is None else before.topics
        now = _NOTHING if after is None else after.topics
        for topic in now - was:
            self._come.setdefault(topic, set()).add(name)
        for topic in was - now:
            self._gone.setdefault(topic, set()).add(name)
