"""Choosing many by few words: names, and patterns with "*" and "?", against all names that there are."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import translate
from typing import Final

import msgspec

from zkdash.kafka.documents.document import few, quote

# Each pattern looks at every name that there is.
MOST_PATTERNS: Final = 50
LONGEST_PATTERN: Final = 300
MOST_WORDS: Final = 50_000


class Chosen(msgspec.Struct, frozen=True):
    """The names that match, sorted, and the words that match nothing.

    `fault` says why not all of the text was read; then there are none of either.
    """

    names: tuple[str, ...]
    misses: tuple[str, ...]
    fault: str = ""


def chosen(text: str, names: Mapping[str, object] | Collection[str]) -> Chosen:
    """One name or pattern a line; a line that is no name is taken apart at commas and spaces."""
    words: dict[str, None] = {}
    for line in text.splitlines():
        name = line.strip()
        words.update(dict.fromkeys([name] if name in names else re.split(r"[,\s]+", line)))
    words.pop("", None)
    others = [word for word in words if is_pattern(word) and word not in names]
    if fault := _fault(words, others):
        return Chosen((), (), fault)
    matched = {word for word in words if word in names}
    misses = [word for word in words if word not in names and not is_pattern(word)]
    for pattern in others:
        matching = _matching(pattern, names)
        if not matching:
            misses.append(pattern)
        matched |= matching
    return Chosen(tuple(sorted(matched)), tuple(misses))


def _fault(words: Collection[str], matched: Collection[str]) -> str:
    """Why so many words, with these patterns among them, are not looked for; "" where they are."""
    if len(words) > MOST_WORDS:
        return f"These are {len(words):,} names; {MOST_WORDS:,} at a time are the most."
    if len(matched) > MOST_PATTERNS:
        return f"These are {len(matched):,} patterns; {MOST_PATTERNS} at a time are the most."
    longest = max(map(len, matched), default=0)
    if longest > LONGEST_PATTERN:
        return f"A pattern has {longest:,} characters; {LONGEST_PATTERN} are the most."
    return ""


def sentence(misses: Sequence[str], what: str) -> str:
    """What matched nothing, in words."""
    counts = [
        f"No {what} matches {quote(word)}." if is_pattern(word) else f"There is no {what} {quote(word)}."
        for word in misses
    ]
    return " ".join(few(counts))


def _matching(word: str, names: Mapping[str, object] | Collection[str]) -> set[str]:
    # case matters in Kafka; "[" is no part of a topic's name and means itself
    match = re.compile(translate(word.replace("[", "[[]"))).match
    return {name for name in names if match(name)}


def is_pattern(word: str) -> bool:
    """Whether a word stands for many."""
    return "*" in word or "?" in word
