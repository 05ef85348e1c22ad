"""The filter box of groups and of a group's partitions: `status:`, `topic:`, `is:` and plain words.

All terms must hold. `topic:` takes a part of a topic's name, `is:` a fact that the table knows. Groups have
`lag:>1000`, `lag:<10`, `lag:unknown`, `state:empty` (or how it begins) and `in:kafka` beside.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import NamedTuple

import msgspec

from zkdash.cluster.model.brokers.lags import GroupLag
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables import filters


class Bound(NamedTuple):
    """What a lag must be: `operator` is one of < <= > >= = and "unknown", which has no number."""

    operator: str
    number: int = 0

    def admits(self, lag: GroupLag) -> bool:
        """Whether a lag surely is so: of one not known in whole, what is known of it may say enough."""
        if self.operator == "unknown":
            return lag.lag is None
        if self.operator in {">", ">="}:
            is_known = lag.as_of is not None
            return is_known and (
                lag.least > self.number or (self.operator == ">=" and lag.least == self.number)
            )
        if lag.lag is None:
            return False
        if self.operator == "=":
            return lag.lag == self.number
        return lag.lag < self.number or (self.operator == "<=" and lag.lag == self.number)


class Filter(msgspec.Struct, frozen=True):
    """A parsed filter. Of each set in `severities` one must be the row's."""

    words: tuple[str, ...] = ()
    severities: tuple[frozenset[Severity], ...] = ()
    topics: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    bounds: tuple[Bound, ...] = ()
    states: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    def admits(self, text: str, severity: Severity, topics: Iterable[str]) -> bool:
        """Whether a row with this text, status and topics passes, facts aside."""
        if self.severities and not all(severity in severities for severities in self.severities):
            return False
        if self.words:
            folded = text.casefold()
            if not all(word in folded for word in self.words):
                return False
        if not self.topics:
            return True
        return all(any(part in topic.casefold() for topic in topics) for part in self.topics)


_BOUND = re.compile(r"(?P<operator>[<>]=?|=?)(?P<number>[0-9]{1,15})(?P<unit>[kmg]?)")
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
_PLACES = frozenset({"kafka", "zookeeper", "both"})


def parse_groups(text: str, facts: Container[str]) -> Filter:
    """Read a filter of groups."""
    terms = text.casefold().split()
    bounds = [bound for term in terms if (bound := _bound(term)) is not None]
    states = [term[6:] for term in terms if term.startswith("state:") and term[6:]]
    places = [term[3:] for term in terms if term.startswith("in:") and term[3:] in _PLACES]
    of_groups = {*(f"state:{state}" for state in states), *(f"in:{place}" for place in places)}
    rest = [term for term in terms if term not in of_groups and _bound(term) is None]
    return msgspec.structs.replace(
        parse(" ".join(rest), facts), bounds=tuple(bounds), states=tuple(states), places=tuple(places)
    )


def _bound(term: str) -> Bound | None:
    """What `lag:` asks for; None for another term, and for one that is no bound."""
    if term == "lag:unknown":
        return Bound("unknown")
    matched = _BOUND.fullmatch(term.removeprefix("lag:")) if term.startswith("lag:") else None
    if matched is None:
        return None
    return Bound(matched["operator"] or "=", int(matched["number"]) * _UNITS[matched["unit"]])


def parse(text: str, facts: Container[str]) -> Filter:
    """Read a filter. A term with another key is a plain word, as names may hold colons."""
    words: list[str] = []
    severities: list[frozenset[Severity]] = []
    topics: list[str] = []
    wanted_facts: list[str] = []
    for term in text.casefold().split():
        key, _, value = term.partition(":")
        if key == "status" and value:
            severities.append(filters.severities_of(value))
        elif key == "topic" and value:
            topics.append(value)
        elif key == "is" and value in facts:
            wanted_facts.append(value)
        else:
            words.append(term)
    return Filter(tuple(words), tuple(severities), tuple(topics), tuple(wanted_facts))
