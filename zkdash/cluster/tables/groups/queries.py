"""Which groups are shown: filter, sort and page, from the state alone.

As with topics: the default page costs what it shows, a filter or a sort looks at every group once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from zkdash.cluster.model.groups import GroupSummary
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables.groups import filters, rows
from zkdash.cluster.tables.groups.filters import Filter
from zkdash.cluster.tables.groups.rows import GroupRow
from zkdash.cluster.tables.query import Keys, Query, Selection, choose, first, with_rows

# By the names that the rows have.
_KEYS: Keys[GroupSummary] = {
    "status": lambda one: one.tone.rank,
    "name": lambda one: one.name,
    "members": lambda one: one.members,
    "topics": lambda one: len(one.topics),
    "owned": lambda one: one.owned,
    "unowned": rows.unowned,
    "in_zookeeper": lambda one: not one.stored,
    "rebalanced": lambda one: one.rebalanced or None,
}
SORTS = tuple(_KEYS)

# What `is:` may ask of a group.
FACTS: Mapping[str, Callable[[GroupSummary], object]] = {
    "unowned": lambda one: one.unowned,
    "unregistered": lambda one: one.unregistered,
    "bad-offset": lambda one: one.bad_offsets,
    "wildcard": lambda one: one.patterns,
    "dead": lambda one: not one.members,
}


def select_groups(state: ClusterState, query: Query) -> Selection[GroupRow]:
    """The Groups page: worst status first, then by name, unless asked otherwise."""
    key, falls = query.order(_KEYS)
    if not query.q.strip() and (key is None or (key == "status" and not falls)):
        tones = state.counts.group_tones
        return first(state.group_ranking, tones, query, lambda name: rows.group(state, name))
    names = [name for _, name in state.group_ranking]
    if key is not None:
        names.sort()  # so that groups with equal values stand by name
    wanted = filters.parse(query.q, FACTS)
    found = [one for one in map(state.group_summaries.__getitem__, names) if _admits(wanted, one)]
    chosen = choose(found, query, _KEYS, lambda one: one.tone, total=len(names))
    return with_rows(chosen, lambda one: rows.group(state, one.name))


def _admits(wanted: Filter, one: GroupSummary) -> bool:
    return all(FACTS[fact](one) for fact in wanted.facts) and wanted.admits(one.name, one.tone, one.topics)
