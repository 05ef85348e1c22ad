"""Which groups are shown: filter, sort and page, of those in ZooKeeper and of those that brokers list.

As with topics: the default page costs what it shows, a filter or the first sort by a column looks at every
group once, later ones at what changed, and what groups sort by, their columns say. A sort by lag looks at the
lags alone, which come anew every few seconds, and no other does.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from zkdash.cluster.tables.orders import Orders, Sources
from zkdash.cluster.tables.query import (
    DEFAULT_ORDER,
    STATUSES,
    Keys,
    Query,
    Selection,
    choose,
    first,
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
    "out-of-range": lambda row: row.lag.outside,
}


class LagKey(msgspec.Struct, frozen=True):
    """What a group sorts by that its lag alone tells: None where it is not known. Other keys read no lag."""

    of: Callable[[GroupLag], float | None]

    def __call__(self, row: GroupRow) -> float | None:
        return self.of(row.lag)


class Known(msgspec.Struct, frozen=True):
    """All that there is to know of a cluster's groups; `restless` are those that have just moved.

    `orders` keeps what they were sorted by.
    """

    state: ClusterState
    kafka: KafkaGroups = KafkaGroups()
    lags: Lags = Lags()
    restless: Mapping[str, object] = {}
    orders: Orders = msgspec.field(default_factory=Orders)

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

    def sorted_by(self, key: Callable[[GroupRow], Any], *, falls: bool) -> Sequence[str]:
        """All names by a key, equal ones by name; of a sort by lag no row is made."""
        names = (self.state.group_summaries, self.kafka.groups)
        if isinstance(key, LagKey):
            lag, of = self.lag, key.of
            beside: Sources = (self.lags.groups,)

            def values(each: Sequence[str]) -> Iterable[Any]:
                return [of(lag(name)) for name in each]
        else:
            beside = (self.restless,)

            def values(each: Sequence[str]) -> Iterable[Any]:
                return map(key, self.rows(each))

        return self.orders.of(key, values, falls=falls, names=names, beside=beside)

    def within(self, bounds: Iterable[Bound], names: Sequence[str]) -> Sequence[str]:
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
    if key is not None:
        names = groups.sorted_by(keys[key], falls=falls)
        if not query.q.strip():
            return page_of(
                _ticked(groups, beside, query, names), _severities(state, beside), query, groups.row
            )
    else:
        entries = heapq.merge(state.group_ranking, beside) if beside else state.group_ranking
        names = [name for _, name in entries]
    wanted = filters.parse_groups(query.q, FACTS)
    admitted = groups.within(wanted.bounds, named(names, wanted.words))
    rows = [row for row in groups.rows(admitted) if _admits(wanted, row)]
    return choose(rows, query, DEFAULT_ORDER, _severity, total=len(names))


def _severity(row: GroupRow) -> Severity:
    return row.severity


def _ticked(groups: Known, beside: Sequence[Entry], query: Query, names: Sequence[str]) -> Iterable[str]:
    """Of sorted names, those with the statuses that are asked for."""
    if len(query.ticked) == len(STATUSES):
        return names
    names_asked = set(ticked(chain(groups.state.group_ranking, beside), query))
    return (name for name in names if name in names_asked)


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
