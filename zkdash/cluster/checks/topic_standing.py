"""What checks that look at the whole cluster, or at time, have against single topics.

What a topic's own znodes tell is in its status already (`evaluation.topics`); pages add this to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from zkdash.cluster.checks.check import About, Check
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.summary import Status
from zkdash.cluster.model.violations import NOBODY, Violations

# By topic, what stands against it: how bad, and in words.
Standing = Mapping[str, tuple[Status, ...]]
# A check that gave its words to a topic's status, with its causes and the names of those that hold.
Held = tuple[Check, Violations | None, frozenset[str]]

# One object for all: another empty one would be taken for news.
NOTHING: Final[Standing] = MappingProxyType({})


def has_words(check: Check) -> bool:
    """Whether a check tells of topics what their own status cannot."""
    return check.about is About.TOPIC and bool(check.status)


def standing(raised: Iterable[Held], state: ClusterState) -> Standing:
    """What stands against topics; the cost is that of the causes."""
    by_topic: dict[str, tuple[Status, ...]] = {}
    for check, causes, names in raised:
        own = state.blames.get(check.id, NOBODY)
        for name in names:
            if causes and name in causes and name not in own and name in state.topics:
                status = causes[name].severity or check.severity, check.status
                by_topic[name] = (*by_topic.get(name, ()), status)
    return by_topic or NOTHING
