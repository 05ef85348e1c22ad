"""Which groups are shown: filter, sort and page, from the state alone.

As with topics: the default page costs what it shows, a filter or a sort looks at every group once, and what
groups sort by, their columns say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from zkdash.cluster.model.groups import GroupSummary
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables.groups import filters
from zkdash.cluster.tables.groups.filters import Filter
from zkdash.cluster.tables.query import DEFAULT_ORDER, Keys, Query, Selection, choose, first

# What `is:` may ask of a group.
FACTS: Mapping[str, Callable[[GroupSummary], object]] = {
    "unowned": lambda one: one.unowned,
    "unregistered": lambda one: one.unregistered,
    "bad-offset": lambda one: one.bad_offsets,
    "wildcard": lambda one: one.patterns,
    "dead": lambda one: not one.members,
}


def select_groups(
    state: ClusterState, query: Query, keys: Keys[GroupSummary] = DEFAULT_ORDER
) -> Selection[GroupSummary]:
    """The Groups page: worst status first, then by name, unless asked otherwise by one of `keys`."""
    key, falls = query.order(keys)
    if not query.q.strip() and (key is None or (key == "status" and not falls)):
        tones = state.counts.group_tones
        return first(state.group_ranking, tones, query, state.group_summaries.__getitem__)
    names = [name for _, name in state.group_ranking]
    if key is not None:
        names.sort()  # so that groups with equal values stand by name
    wanted = filters.parse(query.q, FACTS)
    found = [one for one in map(state.group_summaries.__getitem__, names) if _admits(wanted, one)]
    return choose(found, query, keys, lambda one: one.tone, total=len(names))


def _admits(wanted: Filter, one: GroupSummary) -> bool:
    return all(FACTS[fact](one) for fact in wanted.facts) and wanted.admits(one.name, one.tone, one.topics)
