"""What the registrations of a group ask for, with wildcards resolved against the topics that exist."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from zkdash.kafka.consumers.wildcards import topic_filter
from zkdash.kafka.consumers.wildcards.dialect import CannotPreviewError
from zkdash.kafka.values import Pattern, Registration

# A registration may ask for two thousand million threads. MOST_CLAIMS are threads times topics of a group.
MOST_THREADS = 20_000
MOST_CLAIMS = 1_000_000


class Subscriptions(msgspec.Struct, frozen=True):
    """Number of threads by topic by consumer id.

    `unclear` says by consumer id why its topics cannot be told: its wildcard is not previewed, or it asks
    for too many threads. `undetermined` are topics that some wildcard may or may not allow.
    """

    members: Mapping[str, Mapping[str, int]]
    unclear: Mapping[str, str] = {}
    undetermined: frozenset[str] = frozenset()
    has_wildcards: bool = False


def resolve(registrations: Mapping[str, Registration], topics: Collection[str]) -> Subscriptions:
    """Resolve a group's registrations, by consumer id, against the names of all topics.

    All its wildcards together take at most topic_filter.WORK, all its members MOST_CLAIMS.
    """
    members: dict[str, Mapping[str, int]] = {}
    unclear: dict[str, str] = {}
    undetermined: set[str] = set()
    wildcards = _Wildcards(topics)
    claims = 0
    for member, registration in registrations.items():
        asked = max(registration.subscription.values(), default=0)
        found = wildcards.allowed(registration)
        counts = registration.subscription
        if isinstance(found, topic_filter.Selection):
            undetermined |= found.undetermined
            counts = dict.fromkeys(found.topics, asked)
        claims += sum(counts.values()) if asked <= MOST_THREADS else 0
        if isinstance(found, str):
            unclear[member] = found
        elif asked > MOST_THREADS or claims > MOST_CLAIMS:
            unclear[member] = f"cannot plan: asks for more than {MOST_THREADS} threads, or too many topics"
        else:
            members[member] = counts
    return Subscriptions(members, unclear, frozenset(undetermined), wildcards.asked)


class _Wildcards:
    """The wildcards of one group: each is tried once, and all of them share the work that may be done."""

    def __init__(self, topics: Collection[str]) -> None:
        self.asked = False
        self._topics = topics
        self._left = topic_filter.WORK
        self._known: dict[tuple[Pattern, str], topic_filter.Selection | str] = {}

    def allowed(self, registration: Registration) -> topic_filter.Selection | str | None:
        """The topics that it selects, a sentence where they cannot be told, None where it names them."""
        if registration.pattern is Pattern.STATIC or not registration.subscription:
            return None
        self.asked = True
        key = registration.pattern, next(iter(registration.subscription))
        if key not in self._known:
            self._known[key] = self._select(*key)
        return self._known[key]

    def _select(self, pattern: Pattern, regex: str) -> topic_filter.Selection | str:
        try:
            found = topic_filter.select(pattern, regex, self._topics, work=self._left)
        except CannotPreviewError as refusal:
            return f"cannot preview: {refusal}"
        self._left -= found.work
        return found
