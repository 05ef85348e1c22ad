"""What of a plan changes, value by value: offsets, options, replicas of new partitions. For people, before
the writes that do it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from zkdash.cluster.plans.values import Plan, Write
from zkdash.kafka import paths, secrets
from zkdash.kafka.znode_kinds import Kind, Place
from zkdash.web.actions.forms import option_rows
from zkdash.web.frame import listing

MOST: Final = 100
_ABSENT: Final = "not set"


class ValueChange(msgspec.Struct, frozen=True):
    """One value that becomes another, in words: `thing` is what has it, `note` what the change means."""

    thing: str
    before: str
    after: str
    note: str = ""


class ValueChanges(msgspec.Struct, frozen=True):
    """Some changes of a plan, and how many there are."""

    shown: tuple[ValueChange, ...] = ()
    total: int = 0


def of(plan: Plan, page: int = 1) -> ValueChanges:
    """What a plan changes, as far as its writes tell: a move of replicas is told by its goal instead.

    Of many it holds one page, the last where there are fewer.
    """
    every = [change for step in plan.steps for write in step.writes for change in _changes(write)]
    return ValueChanges(tuple(every[listing.cut(len(every), page, MOST).place]), len(every))


def _changes(write: Write) -> Iterator[ValueChange]:
    place = paths.locate(write.path)
    worded = _WORDED.get(place.kind)
    if worded is not None:
        yield from worded(place, write)


def _offset(place: Place, write: Write) -> Iterator[ValueChange]:
    before, after = (_text(data) for data in (write.before, write.after))
    by = int(after) - int(before) if _is_number(before) and _is_number(after) else None
    note = "" if by is None else f"{by:+,}".replace(",", "\u202f").replace("-", "−")
    yield ValueChange(f"{place.key}-{place.part}", before or _ABSENT, after or _ABSENT, note)


def _options(place: Place, write: Write) -> Iterator[ValueChange]:
    # the plan has masked what is secret; what a plan of elsewhere forgot is masked here
    before, after = (
        _named(secrets.redact(write.path, data), "config") for data in (write.before, write.after)
    )
    if write.edit is not None:
        after = {name: value for name, value in before.items() if name not in write.edit.drop}
        after |= write.edit.put
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            values = (_valued(name, before.get(name)), _valued(name, after.get(name)))
            yield ValueChange(f"{place.name}: {name}", *values)


def _partitions(place: Place, write: Write) -> Iterator[ValueChange]:
    """Of the topic's znode the partitions whose replicas are others: those that it gets."""
    before, after = (_named(data, "partitions") for data in (write.before, write.after))
    for number in dict.fromkeys((*before, *after)):
        if before.get(number) != after.get(number):
            yield ValueChange(
                f"{place.name}-{number}", _replicas(before.get(number)), _replicas(after.get(number))
            )


def _replicas(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "none"


def _valued(name: str, value: Any) -> str:
    """A value with what it means in units."""
    if value is None:
        return _ABSENT
    return option_rows.valued(name, str(value))


def _named(data: bytes | None, field: str) -> dict[str, Any]:
    """What a field of a JSON object holds by name; nothing where there is no such object."""
    try:
        document = json.loads(data or b"")
    except (ValueError, RecursionError):
        return {}
    value = document.get(field) if isinstance(document, dict) else None
    return value if isinstance(value, dict) else {}


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _is_number(text: str) -> bool:
    return text.isascii() and text.lstrip("-").isdecimal()


_WORDED: Final[Mapping[Kind, Callable[[Place, Write], Iterator[ValueChange]]]] = {
    Kind.OFFSET: _offset,
    Kind.TOPIC_CONFIG: _options,
    Kind.BROKER_CONFIG: _options,
    Kind.TOPIC: _partitions,
}
