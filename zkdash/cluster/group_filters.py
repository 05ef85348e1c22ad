"""The filter box of the groups: words in the name, `status:`, `topic:` and `is:`, all of which must hold.

`topic:` takes a part of the name of a topic that the group has owners or offsets on, or subscribes to by
name; `is:` a fact, of which some are what a check counts.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from zkdash.cluster import filters
from zkdash.cluster.groups import GroupSummary
from zkdash.cluster.tone import Tone

# What `is:` may ask of a group.
FACTS: dict[str, Callable[[GroupSummary], object]] = {
    "unowned": lambda summary: summary.unowned,
    "unregistered": lambda summary: summary.unregistered,
    "bad-offset": lambda summary: summary.bad_offsets,
    "wildcard": lambda summary: summary.patterns,
    "dead": lambda summary: not summary.members,
}


class Filter(msgspec.Struct, frozen=True):
    """A parsed filter. Of each set in `tones` one must be the group's."""

    words: tuple[str, ...] = ()
    tones: tuple[frozenset[Tone], ...] = ()
    topics: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()

    def admits(self, summary: GroupSummary) -> bool:
        """Whether a group passes."""
        if not all(FACTS[fact](summary) for fact in self.facts):
            return False
        if not all(summary.tone in tones for tones in self.tones):
            return False
        if self.words and not all(word in summary.name.casefold() for word in self.words):
            return False
        return all(any(part in topic.casefold() for topic in summary.topics) for part in self.topics)


def parse(text: str) -> Filter:
    """Read a filter. A term with another key is a plain word, as names may hold colons."""
    words: list[str] = []
    tones: list[frozenset[Tone]] = []
    topics: list[str] = []
    facts: list[str] = []
    for term in text.casefold().split():
        key, _, value = term.partition(":")
        if key == "status" and value:
            tones.append(filters.tones_of(value))
        elif key == "topic" and value:
            topics.append(value)
        elif key == "is" and value in FACTS:
            facts.append(value)
        else:
            words.append(term)
    return Filter(tuple(words), tuple(tones), tuple(topics), tuple(facts))
