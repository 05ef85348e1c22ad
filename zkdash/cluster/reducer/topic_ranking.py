"""Where the topics stand while a batch is applied: their summaries, and who comes first by default."""

from __future__ import annotations

from collections.abc import Iterable

import immutables

from zkdash.cluster.model import summary
from zkdash.cluster.model.draft import Draft
from zkdash.cluster.model.ranking import Placing, Ranking
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Topic, TopicSummary
from zkdash.cluster.reducer.tally import Tally


class TopicRanking:
    """One per batch, thrown away after `close`."""

    def __init__(self, before: ClusterState, tally: Tally) -> None:
        self._before = before
        self._tally = tally
        self._summaries = Draft(before.summaries)
        self._placing = Placing(before.ranking)
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
        self._placing.move(name, before, after)
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
        return summaries, self._placing.close(summaries)
