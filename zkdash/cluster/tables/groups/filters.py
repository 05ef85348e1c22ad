"""The filter box of groups and of a group's partitions: `status:`, `topic:`, `is:` and plain words.

All terms must hold. `topic:` takes a part of a topic's name, `is:` a fact that the table knows.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

import msgspec

from zkdash.cluster.model.tone import Tone
from zkdash.cluster.tables import filters


class Filter(msgspec.Struct, frozen=True):
    """A parsed filter. Of each set in `tones` one must be the row's."""

    words: tuple[str, ...] = ()
    tones: tuple[frozenset[Tone], ...] = ()
    topics: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()

    def admits(self, text: str, tone: Tone, topics: Iterable[str]) -> bool:
        """Whether a row with this text, status and topics passes, facts aside."""
        if not all(tone in tones for tones in self.tones):
            return False
        if self.words and not all(word in text.casefold() for word in self.words):
            return False
        return all(any(part in topic.casefold() for topic in topics) for part in self.topics)


def parse(text: str, facts: Container[str]) -> Filter:
    """Read a filter. A term with another key is a plain word, as names may hold colons."""
    words: list[str] = []
    tones: list[frozenset[Tone]] = []
    topics: list[str] = []
    asked: list[str] = []
    for term in text.casefold().split():
        key, _, value = term.partition(":")
        if key == "status" and value:
            tones.append(filters.tones_of(value))
        elif key == "topic" and value:
            topics.append(value)
        elif key == "is" and value in facts:
            asked.append(value)
        else:
            words.append(term)
    return Filter(tuple(words), tuple(tones), tuple(topics), tuple(asked))
