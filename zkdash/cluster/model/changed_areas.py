"""What a revision changed, coarsely: enough to know which pages must be looked at again."""

from __future__ import annotations

from typing import Literal

import msgspec

# "samples" are those of brokers: `topics` and `groups` then name whose samples moved. "recent" are the
# numbers of the last hour, of which there are others every few seconds; "lags" are those of groups, and the
# groups that brokers list.
Area = Literal[
    "session",
    "brokers",
    "controller",
    "topics",
    "groups",
    "admin",
    "problems",
    "findings",
    "changes",
    "actions",
    "runs",
    "acls",
    "ensemble",
    "configs",
    "notifications",
    "znodes",
    "samples",
    "recent",
    "lags",
]


class ChangedAreas(msgspec.Struct, frozen=True):
    """What a revision changed: pages are rendered again only when it meets what they show.

    Each of `areas` is an `Area`. `topics` and `groups` name the ones that changed; `everything` is True after
    a whole batch. `blamed` are the topics, groups and paths that checks of single ones have something against
    that had nothing before, or nothing any more.
    """

    areas: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    everything: bool = False
    blamed: frozenset[str] = frozenset()

    def __or__(self, other: ChangedAreas) -> ChangedAreas:
        return ChangedAreas(
            self.areas | other.areas,
            self.topics | other.topics,
            self.groups | other.groups,
            self.everything or other.everything,
            self.blamed | other.blamed,
        )
