"""A topic's status as pages show it: the worst of what its own znodes tell and of what stands against it.

Where nothing stands against any topic, nearly always, this costs nothing, whatever the number of topics.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from zkdash.cluster.checks.topic_standing import Standing
from zkdash.cluster.model import ranking, summary
from zkdash.cluster.model.ranking import Entry
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.summary import Status
from zkdash.cluster.model.topics import TopicSummary


class TopicStatuses(msgspec.Struct, frozen=True):
    """The summaries of a state's topics; `worse` holds those that something else stands against."""

    state: ClusterState
    worse: Mapping[str, TopicSummary]

    def summary(self, name: str) -> TopicSummary:
        """A topic's; KeyError where there is no such topic."""
        topic = self.worse.get(name)
        return self.state.summaries[name] if topic is None else topic

    def severities(self) -> Sequence[int]:
        """How many topics have which status, in the order of Severity."""
        severities = list(self.state.counts.severities)
        for name, topic in self.worse.items():
            severities[self.state.summaries[name].severity.rank] -= 1
            severities[topic.severity.rank] += 1
        return severities

    def ranked(self) -> Iterator[Entry]:
        """As the state's `ranking`, read as far as is asked for."""
        if not self.worse:
            return iter(self.state.ranking)
        others = (entry for entry in self.state.ranking if entry[1] not in self.worse)
        return heapq.merge(others, sorted((ranking.place(topic), name) for name, topic in self.worse.items()))


def statuses(state: ClusterState, standing: Standing) -> TopicStatuses:
    """The statuses of a state's topics."""
    worse = {
        name: _worse(state.summaries[name], facts)
        for name, facts in standing.items()
        if name in state.summaries
    }
    return TopicStatuses(state, worse)


def of_topic(state: ClusterState, standing: Standing, name: str) -> TopicSummary | None:
    """One topic's summary, None where there is no such topic."""
    topic = state.summaries.get(name)
    return topic if topic is None or name not in standing else _worse(topic, standing[name])


def _worse(topic: TopicSummary, facts: Sequence[Status]) -> TopicSummary:
    own: list[Status] = [] if topic.severity is Severity.OK else [(topic.severity, topic.words)]
    severity, words = summary.worst([*own, *facts])
    return msgspec.structs.replace(topic, severity=severity, words=words)
