"""Which groups are shown: filter, sort and page, of those in ZooKeeper and of those that brokers list.

As with topics: the default page costs what it shows, a filter or a sort looks at every group once, and what
groups sort by, their columns say. A sort by lag looks at the lags alone: they come anew every few seconds.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from zkdash.cluster.model import ranking
from zkdash.cluster.model.brokers.kafka_groups import KafkaGroups
from zkdash.cluster.model.brokers.lags import GroupLag, Lags
from zkdash.cluster.model.ranking import Entry
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables.filters import named
from zkdash.cluster.tables.groups import filters
from zkdash.cluster.tables.groups.filters import Bound, Filter
from zkdash.cluster.tables.groups.rows import GroupRow
from zkdash.cluster.tables.query import (
    DEFAULT_ORDER,
    Keys,
    Query,
    Selection,
    choose,
    first,
    in_order,
    page_of,
    ticked,
)

# What `is:` may ask of a group.
FACTS: Mapping[str, Callable[[GroupRow], object]] = {
    "unowned": lambda row: row.summary and row.summary.unowned,
    "unregistered": lambda row: row.summary and row.summary.unregistered,
    "bad-offset": lambda row: row.summary and row.summary.bad_offsets,
    "wildcard": lambda row: row.summary and row.summary.patterns,
    "dead": lambda row: row.members == 0,
    "behind": lambda row: row.lag.least,
}


class LagKey(msgspec.Struct, frozen=True):
    """What a group sorts by that its lag alone tells: None where it is not known."""

    of: Callable[[GroupLag], float | None]

    def __call__(self, row: GroupRow) -> float | None:
        return self.of(row.lag)


class Known(msgspec.Struct, frozen=True):
    """All that there is to know of a cluster's groups; `restless` are those that have just moved."""

    state: ClusterState
    kafka: KafkaGroups = KafkaGroups()
    lags: Lags = Lags()
    restless: Container[str] = ()

    def row(self, name: str) -> GroupRow:
        return self.rows((name,))[0]

    def rows(self, names: Iterable[str]) -> list[GroupRow]:
        """A row for each name; a sort asks for all of them."""
        summary, in_kafka = self.state.group_summaries.get, self.kafka.groups.get
        lag, restless = self.lag, self.restless
        return [GroupRow(name, summary(name), in_kafka(name), lag(name), name in restless) for name in names]

    @property
    def lag(self) -> Callable[[str], GroupLag]:
        """The lag of a group by its name."""
        lag, unknown = self.lags.groups.get, GroupLag(None, reason=self.lags.otherwise)
        return lambda name: lag(name, unknown)

    def within(self, bounds: Iterable[Bound], names: list[str]) -> list[str]:
        """Those of these names whose lag is within all bounds: told before there are rows."""
        lag = self.lag
        for bound in bounds:
            names = [name for name in names if bound.admits(lag(name))]
        return names

    def in_kafka_alone(self) -> Sequence[Entry]:
        """(place, name) of those that ZooKeeper does not hold, in order."""
        return [entry for entry in self.kafka.order if entry[1] not in self.state.groups]


def select_groups(groups: Known, query: Query, keys: Keys[GroupRow] = DEFAULT_ORDER) -> Selection[GroupRow]:
    """The Groups page: worst status first, then by name, unless asked otherwise by one of `keys`."""
    key, falls = query.order(keys)
    state, beside = groups.state, groups.in_kafka_alone()
    if not query.q.strip() and (key is None or (key == "status" and not falls)):
        if not beside:
            return first(state.group_ranking, state.counts.group_severities, query, groups.row)
        both = heapq.merge(state.group_ranking, beside)
        return page_of(ticked(both, query), _severities(state, beside), query, groups.row)
    if key is not None and not query.q.strip():
        return _by_key(groups, beside, query, keys[key])
    entries = heapq.merge(state.group_ranking, beside) if beside else state.group_ranking
    names = [name for _, name in entries]
    total = len(names)
    wanted = filters.parse_groups(query.q, FACTS)
    names = named(names, wanted.words)
    if key is not None:
        names.sort()  # so that groups with equal values stand by name
    rows = [row for row in groups.rows(groups.within(wanted.bounds, names)) if _admits(wanted, row)]
    return choose(rows, query, keys, _severity, total=total)


def _severity(row: GroupRow) -> Severity:
    return row.severity


def _by_key(
    groups: Known, beside: Sequence[Entry], query: Query, key: Callable[[GroupRow], Any]
) -> Selection[GroupRow]:
    """All of them sorted; by lag rows are made of those alone that the page shows."""
    names = sorted(ticked(chain(groups.state.group_ranking, beside), query))
    severities, falls = _severities(groups.state, beside), query.sort.startswith("-")
    if isinstance(key, LagKey):
        lag, of = groups.lag, key.of
        ordered = in_order(names, lambda name: of(lag(name)), falls=falls)
        return page_of(ordered, severities, query, groups.row)
    rows = in_order(groups.rows(names), key, falls=falls)
    return page_of((row.name for row in rows), severities, query, groups.row)


def _severities(state: ClusterState, beside: Sequence[Entry]) -> list[int]:
    """How many groups of both kinds have which status."""
    ranks = Counter(ranking.rank(place) for place, _ in beside)
    return [count + ranks[rank] for rank, count in enumerate(state.counts.group_severities)]


def _admits(wanted: Filter, row: GroupRow) -> bool:
    """Whether a row passes, its lag aside."""
    if wanted.facts and not all(FACTS[fact](row) for fact in wanted.facts):
        return False
    if wanted.states and not all((row.state or "unknown").startswith(state) for state in wanted.states):
        return False
    if wanted.places and not all(place in {row.kept_in.casefold(), *_both(row)} for place in wanted.places):
        return False
    return wanted.admits(row.name, row.severity, row.topics if wanted.topics else ())


def _both(row: GroupRow) -> tuple[str, ...]:
    """A group in both places is in each of them."""
    return ("kafka", "zookeeper") if row.kept_in == "both" else ()
