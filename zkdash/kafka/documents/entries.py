"""A list of objects inside a document, each read by itself: one wrong entry never hides the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from zkdash.kafka.documents import document
from zkdash.kafka.documents.document import Fields, Parsed, few, kind_of
from zkdash.kafka.values import Unparsable

T = TypeVar("T")


def parse_entries(
    data: bytes | None, what: str, name: str, parse_entry: Callable[[Fields], T | None]
) -> Parsed[tuple[T, ...]]:
    """The list `name` of a document of version 1 (`what` names it). A wrong entry is noted and left out."""
    found = document.decode(data, what)
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    fields = Fields(found)
    fields.version(1)
    entries = fields.items(name)
    if entries is None:
        return fields.unparsable()
    values = []
    reasons: list[str] = []
    for index, entry in enumerate(entries):
        value, noted = _parse_entry(entry, parse_entry)
        reasons += [f"entry {index}: {reason}" for reason in noted]
        if value is not None:
            values.append(value)
    return tuple(values), (*fields.reasons, *few(reasons))


def partition(fields: Fields) -> tuple[str, int] | None:
    """An entry that names a partition: its topic and its id."""
    topic, number = fields.text("topic"), fields.integer("partition")
    return None if topic is None or number is None else (topic, number)


def _parse_entry(entry: Any, parse: Callable[[Fields], T | None]) -> tuple[T | None, list[str]]:
    if not isinstance(entry, dict):
        return None, [f"is {kind_of(entry)} where an object belongs"]
    fields = Fields(entry)
    return parse(fields), fields.reasons
