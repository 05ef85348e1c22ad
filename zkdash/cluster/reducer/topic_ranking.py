"""Where the topics stand while a batch is applied: their summaries, and who comes first by default."""

from __future__ import annotations

import immutables
import msgspec

from zkdash.cluster.model.draft import Draft
from zkdash.cluster.model.ranking import Placing, Ranking
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import TopicSummary
from zkdash.cluster.reducer.tally import Tally


class TopicRanking:
    """One per batch, thrown away after `close`."""

    def __init__(self, before: ClusterState, tally: Tally) -> None:
        self._tally = tally
        self._summaries = Draft(before.summaries)
        self._placing = Placing(before.ranking)

    def put(self, name: str, after: TopicSummary | None) -> bool:
        """Take a topic's numbers (None: there is none); True where they changed."""
        before = self._summaries.get(name)
        if after == before:
            return False
        self._summaries.put(name, after)
        self._tally.topic(before, after)
        self._placing.move(name, before, after)
        return True

    def written(self, name: str, changed: int) -> None:
        """A topic was written to again, which changes nothing else of its numbers."""
        before = self._summaries.get(name)
        if before is not None and before.changed != changed:
            self._summaries.put(name, msgspec.structs.replace(before, changed=changed))

    def close(self) -> tuple[immutables.Map[str, TopicSummary], Ranking]:
        summaries = self._summaries.close()
        return summaries, self._placing.close(summaries)
