"""Where the topics stand while a batch is applied: their summaries, and who comes first by default."""

from __future__ import annotations

from collections.abc import Iterable

import immutables

from zkdash.cluster import summary
from zkdash.cluster.draft import Draft
from zkdash.cluster.ranking import Entry, Ranking
from zkdash.cluster.state import ClusterState
from zkdash.cluster.tally import Tally
from zkdash.cluster.topics import Topic, TopicSummary

_FEW = 64  # so many insertions are cheaper than sorting anew, whatever the size


class Standing:
    """One per batch, thrown away after `close`."""

    def __init__(self, before: ClusterState, tally: Tally) -> None:
        self._before = before
        self._tally = tally
        self._summaries = Draft(before.summaries)
        self._gone: set[Entry] = set()
        self._come: set[Entry] = set()
        self.judged: set[str] = set()

    def judge(self, name: str, topic: Topic | None, live: frozenset[int]) -> bool:
        """Sum a topic up anew (None: there is none); True where its numbers changed."""
        self.judged.add(name)
        before = self._summaries.get(name)
        after = None if topic is None else summary.summarise(topic, live)
        if after == before:
            return False
        self._summaries.put(name, after)
        self._tally.topic(before, after)
        self._rank(before, after)
        return True

    def led_by(self, brokers: Iterable[int]) -> list[str]:
        """The topics not judged so far in this batch that these brokers lead."""
        asked = frozenset(brokers)
        if not asked:
            return []
        return [
            name
            for name, standing in self._before.summaries.items()
            if not asked.isdisjoint(standing.leaders) and name not in self.judged
        ]

    def close(self) -> tuple[immutables.Map[str, TopicSummary], Ranking]:
        summaries = self._summaries.close()
        if len(self._gone) + len(self._come) > max(_FEW, len(summaries) // 16):
            return summaries, Ranking.of((each.tone.rank, name) for name, each in summaries.items())
        ranking = self._before.ranking
        for entry in self._gone:
            ranking = ranking.removed(entry)
        for entry in self._come:
            ranking = ranking.added(entry)
        return summaries, ranking

    def _rank(self, before: TopicSummary | None, after: TopicSummary | None) -> None:
        """A topic is judged once a batch, so that an entry is never both gone and come."""
        if before is not None and after is not None and before.tone is after.tone:
            return
        if before is not None:
            self._gone.add((before.tone.rank, before.name))
        if after is not None:
            self._come.add((after.tone.rank, after.name))
