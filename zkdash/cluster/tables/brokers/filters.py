"""The text of the filter box above what one broker holds: what every filter takes, and the broker's part.

`role:` takes leader or follower or how it begins, `is:` a fact about the broker and a partition; the rest
is `filters`, with the topic's name as the text.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from zkdash.cluster.model import summary
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Partition, Topic
from zkdash.cluster.tables import filters
from zkdash.cluster.tables.brokers import rows
from zkdash.cluster.tables.filters import Filter
from zkdash.kafka.values import PartitionState

# Of a broker, a topic and one of its partitions that the broker holds or leads.
Fact = Callable[[int, Topic, Partition], bool]


def _is_out(number: int, _: Topic, part: Partition) -> bool:
    return isinstance(part.state, PartitionState) and number not in part.state.isr


def _is_behind(number: int, topic: Topic, part: Partition) -> bool:
    """What `Load.under_replicated` counts."""
    out = not topic.deleting and _is_out(number, topic, part) and number in (part.replicas or ())
    return out and summary.is_under_replicated(topic, part)


def _is_preferred(number: int, _: Topic, part: Partition) -> bool:
    return part.replicas is not None and part.replicas[:1] == (number,)


def _is_unled(number: int, topic: Topic, part: Partition) -> bool:
    """What `Load.unled` counts."""
    if topic.deleting or part.id in topic.moving or not isinstance(part.state, PartitionState):
        return False
    return _is_preferred(number, topic, part) and part.state.leader != number


FACTS: dict[str, Fact] = {
    "out-of-sync": _is_out,
    "under-replicated": _is_behind,
    "preferred": _is_preferred,
    "not-leading": _is_unled,
}


class Wanted(msgspec.Struct, frozen=True):
    """A parsed filter; `facts` must all hold."""

    plain: Filter
    facts: tuple[Fact, ...] = ()

    def admits_topic(self, name: str) -> bool:
        """Whether partitions of a topic may pass at all."""
        folded = name.casefold()
        return all(word in folded for word in self.plain.words)

    def admits(self, number: int, topic: Topic, partition: Partition) -> bool:
        """Whether what the broker is to a partition passes."""
        return not self.facts or all(fact(number, topic, partition) for fact in self.facts)

    def admits_status(self, severity: Severity, partition: Partition) -> bool:
        """Whether its status and its brokers pass."""
        plain = self.plain
        if plain.brokers and any(wanted.isdisjoint(_brokers(partition)) for wanted in plain.brokers):
            return False
        return all(severity in severities for severities in plain.severities)


def _brokers(part: Partition) -> frozenset[int]:
    leader = (part.state.leader,) if isinstance(part.state, PartitionState) else ()
    return frozenset(part.replicas or ()).union(leader)


def parse(text: str, state: ClusterState) -> Wanted:
    """Read a filter; what its racks are, the cluster's registrations say."""
    facts: list[Fact] = []
    rest: list[str] = []
    for term in text.casefold().split():
        key, _, value = term.partition(":")
        if key == "role" and value:
            facts.append(_role(value))
        elif key == "is" and value in FACTS:
            facts.append(FACTS[value])
        else:
            rest.append(term)
    return Wanted(filters.parse(" ".join(rest), state), tuple(facts))


def _role(begins: str) -> Fact:
    return lambda number, _, part: (rows.role(number, part) or "").startswith(begins)
