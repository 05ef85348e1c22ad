"""Choosing many by few words: names, and patterns with "*" and "?", against all names that there are."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import translate

import msgspec

from zkdash.kafka.documents.document import few, quote


class Chosen(msgspec.Struct, frozen=True):
    """The names that match, sorted, and the words that match nothing."""

    names: tuple[str, ...]
    misses: tuple[str, ...]


def chosen(text: str, known: Mapping[str, object] | Collection[str]) -> Chosen:
    """One name or pattern a line; a line that is no name is taken apart at commas and spaces."""
    found: set[str] = set()
    misses = []
    for line in text.splitlines():
        words = [line.strip()] if line.strip() in known else re.split(r"[,\s]+", line)
        for word in filter(None, words):
            matching = {word} if word in known else _matching(word, known)
            if not matching:
                misses.append(word)
            found |= matching
    return Chosen(tuple(sorted(found)), tuple(dict.fromkeys(misses)))


def sentence(misses: Sequence[str], what: str) -> str:
    """What matched nothing, in words."""
    told = [
        f"No {what} matches {quote(word)}." if is_pattern(word) else f"There is no {what} {quote(word)}."
        for word in misses
    ]
    return " ".join(few(told))


def _matching(word: str, known: Mapping[str, object] | Collection[str]) -> set[str]:
    if not is_pattern(word):
        return set()
    # case matters in Kafka; "[" is no part of a topic's name and means itself
    match = re.compile(translate(word.replace("[", "[[]"))).match
    return {name for name in known if match(name)}


def is_pattern(word: str) -> bool:
    """Whether a word stands for many."""
    return "*" in word or "?" in word
