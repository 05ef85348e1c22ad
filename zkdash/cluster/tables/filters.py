"""The text of a filter box: plain words and `key:value` terms, all of which must hold.

A word is looked for anywhere in a name, whatever the case. `status:` takes a severity or how it begins,
`broker:` an id that leads or holds a replica, `rack:` a rack of such a broker, `is:` a fact of the topic,
`not:` one that must not hold. A term with another key is a plain word, as names may hold colons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import TopicSummary
from zkdash.kafka import paths, topic_names
from zkdash.kafka.values import Broker

# What `is:` and `not:` may ask of a topic. No check looks at one that is being deleted, so nor do its facts.
FACTS: dict[str, Callable[[TopicSummary], object]] = {
    "offline": lambda summary: summary.offline and not summary.deleting,
    "leader-dead": lambda summary: summary.leader_dead and not summary.deleting,
    "under-replicated": lambda summary: summary.under_replicated and not summary.deleting,
    "without-state": lambda summary: summary.stateless and not summary.deleting,
    "deleting": lambda summary: summary.deleting,
    "reassigning": lambda summary: summary.moving,
    "internal": lambda summary: summary.name in topic_names.INTERNAL,
}
NOT_INTERNAL = "not:internal"


class Filter(msgspec.Struct, frozen=True):
    """A parsed filter. Of each set in `severities` and `brokers` one must be the row's."""

    words: tuple[str, ...] = ()
    severities: tuple[frozenset[Severity], ...] = ()
    brokers: tuple[frozenset[int], ...] = ()
    facts: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()

    def admits(self, text: str, severity: Severity, brokers: frozenset[int]) -> bool:
        """Whether a row with this text, status and brokers passes, facts aside."""
        for wanted in self.brokers:
            if wanted.isdisjoint(brokers):
                return False
        for severities in self.severities:
            if severity not in severities:
                return False
        return not self.words or all(word in text for word in self.words)

    def admits_topic(self, summary: TopicSummary) -> bool:
        """Whether a topic passes."""
        for fact in self.facts:
            if not FACTS[fact](summary):
                return False
        for fact in self.denied:
            if FACTS[fact](summary):
                return False
        return self.admits(summary.name.casefold(), summary.severity, summary.brokers)


def named(names: Sequence[str], words: Iterable[str]) -> Sequence[str]:
    """The names that hold all of the words: looked for before there are rows, since few are left."""
    for word in words:
        names = [name for name in names if word in name.casefold()]
    return names


def parse(text: str, state: ClusterState) -> Filter:
    """Read a filter; what its racks are, the cluster's registrations say."""
    words: list[str] = []
    severities: list[frozenset[Severity]] = []
    brokers: list[frozenset[int]] = []
    facts: list[str] = []
    denied: list[str] = []
    for term in text.casefold().split():
        key, _, value = term.partition(":")
        if key == "status" and value:
            severities.append(severities_of(value))
        elif key == "broker" and paths.is_id(value):
            brokers.append(frozenset({int(value)}))
        elif key == "rack" and value:
            brokers.append(_in_rack(value, state))
        elif key == "is" and value in FACTS:
            facts.append(value)
        elif key == "not" and value in FACTS:
            denied.append(value)
        else:
            words.append(term)
    return Filter(tuple(words), tuple(severities), tuple(brokers), tuple(facts), tuple(denied))


def severities_of(word: str) -> frozenset[Severity]:
    """The severities that a word begins."""
    return frozenset(severity for severity in Severity if severity.value.startswith(word))


def _in_rack(rack: str, state: ClusterState) -> frozenset[int]:
    return frozenset(
        number
        for number, seen in state.brokers.items()
        if isinstance(seen.value, Broker) and (seen.value.rack or "").casefold() == rack
    )
