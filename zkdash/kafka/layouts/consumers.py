"""/consumers/G: registrations, owners and offsets of the consumers that keep them in ZooKeeper (0.7 to 1.1).

Source: kafka.consumer.TopicCount and ZookeeperConsumerConnector of 0.7 and of 0.8 to 1.1.
"""

from __future__ import annotations

import re
from typing import Any

from zkdash.kafka.documents import document, plain
from zkdash.kafka.documents.document import Fields, Parsed, few, kind_of, quote
from zkdash.kafka.values import Layout, Pattern, Registration, Unparsable

_WHAT = "a consumer registration"
# 0.7's wildcards: *threads*regex for a white list, !threads!regex for a black list.
_WILDCARD = re.compile(r"([*!])([0-9]{1,9})\1(.+)", re.DOTALL)
# A backslash that JSON knows, or does not: what 0.8.0 and 0.8.1 wrote of a regex, unescaped.
_BACKSLASH = re.compile(rb'\\(["\\/bfnrtu]?)')
_LONGEST_REPAIRED = 1 << 16


def parse_registration(data: bytes | None) -> Parsed[Registration]:
    """What a consumer reads and with how many threads, of 0.7 (three forms) and of 0.8 to 1.1 (JSON)."""
    if data and data[:1] in b"*!":
        return _parse_wildcard(data)
    found = document.decode(data, _WHAT)
    reasons: tuple[str, ...] = ()
    if isinstance(found, Unparsable) and data and b"\\" in data and len(data) <= _LONGEST_REPAIRED:
        found, reasons = _repair(data, found)
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    if isinstance(found.get("subscription"), dict) or not _is_07(found):
        value, more = _parse_fields(found)
    else:
        value, more = _registration(Layout.V07, Pattern.STATIC, found, Fields({}))
    return value, reasons + more


def parse_owner(data: bytes | None) -> Parsed[str]:
    """The consumer thread that claims a partition: the consumer id, a hyphen, the thread's number."""
    return plain.parse_text(data, "a consumer thread id")


def parse_offset(data: bytes | None) -> Parsed[int]:
    """How far a group has read: a message offset, in 0.7 a byte position. Never compare across."""
    return plain.parse_number(data, "an offset")


def _is_07(found: dict[str, Any]) -> bool:
    """0.7's static form is a bare map of topic to threads, which may name a topic "version"."""
    return all(type(threads) is int for threads in found.values())


def _parse_wildcard(data: bytes) -> Parsed[Registration]:
    text, reasons = plain.parse_text(data, _WHAT)
    if isinstance(text, Unparsable):
        return text, reasons
    found = _WILDCARD.fullmatch(text)
    if not found:
        return document.unparsable(f"neither JSON nor a wildcard such as *1*topic.* where {_WHAT} belongs")
    pattern = Pattern.WHITE_LIST if found[1] == "*" else Pattern.BLACK_LIST
    return _registration(Layout.V07, pattern, {found[3]: int(found[2])}, Fields({}))


def _parse_fields(found: dict[str, Any]) -> Parsed[Registration]:
    fields = Fields(found)
    fields.version(1)
    subscription = fields.table("subscription")
    pattern = fields.text("pattern", optional=True)
    timestamp = fields.timestamp()
    if subscription is None:
        return fields.unparsable()
    # Kafka takes an unknown pattern, and an empty map, for static.
    known = Pattern(pattern) if pattern in {p.value for p in Pattern} else Pattern.STATIC
    if pattern is not None and known.value != pattern:
        fields.note(f"pattern {quote(pattern)} is not known (static, white_list and black_list are)")
    return _registration(Layout.V08, known, subscription, fields, timestamp)


def _registration(
    layout: Layout, pattern: Pattern, found: dict[str, Any], fields: Fields, timestamp: int | None = None
) -> Parsed[Registration]:
    """The registration. What is no number of threads from 1 is noted and left out."""
    subscription: dict[str, int] = {}
    reasons = []
    for name, threads in found.items():
        if type(threads) is not int:
            reasons.append(f"{quote(name)} holds {kind_of(threads)} where a number of threads belongs")
        elif not 1 <= threads <= document.INT_MAX:
            reasons.append(f"{quote(name)} asks for a number of threads that is not 1 to {document.INT_MAX}")
        else:
            subscription[name] = threads
    fields.reasons += few(reasons)
    return Registration(layout, pattern, subscription, timestamp), tuple(fields.reasons)


def _repair(data: bytes, fault: Unparsable) -> tuple[dict[str, Any] | Unparsable, tuple[str, ...]]:
    """A registration whose regex broke its JSON (0.8.0, 0.8.1), read as meant, the fault as a reason."""
    found = document.decode(_BACKSLASH.sub(lambda b: b[0] if b[1] else rb"\\", data), _WHAT)
    if isinstance(found, Unparsable):
        return fault, ()
    return found, (f"{fault.reason}; read with its lone backslashes doubled",)
