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
    json_object = document.decode(data, _WHAT)
    reasons: tuple[str, ...] = ()
    if isinstance(json_object, Unparsable) and data and b"\\" in data and len(data) <= _LONGEST_REPAIRED:
        json_object, reasons = _repair(data, json_object)
    if isinstance(json_object, Unparsable):
        return document.unparsable(json_object.reason)
    if isinstance(json_object.get("subscription"), dict) or not _is_07(json_object):
        value, more = _parse_fields(json_object)
    else:
        value, more = _registration(Layout.V07, Pattern.STATIC, json_object, Fields({}))
    return value, reasons + more


def parse_owner(data: bytes | None) -> Parsed[str]:
    """The consumer thread that claims a partition: the consumer id, a hyphen, the thread's number."""
    return plain.parse_text(data, "a consumer thread id")


def parse_offset(data: bytes | None) -> Parsed[int]:
    """How far a group has read: a message offset, in 0.7 a byte position. Never compare across."""
    return plain.parse_number(data, "an offset")


def _is_07(json_object: dict[str, Any]) -> bool:
    """0.7's static form is a bare map of topic to threads, which may name a topic "version"."""
    return all(type(threads) is int for threads in json_object.values())


def _parse_wildcard(data: bytes) -> Parsed[Registration]:
    text, reasons = plain.parse_text(data, _WHAT)
    if isinstance(text, Unparsable):
        return text, reasons
    match = _WILDCARD.fullmatch(text)
    if not match:
        return document.unparsable(f"neither JSON nor a wildcard such as *1*topic.* where {_WHAT} belongs")
    pattern = Pattern.WHITE_LIST if match[1] == "*" else Pattern.BLACK_LIST
    return _registration(Layout.V07, pattern, {match[3]: int(match[2])}, Fields({}))


def _parse_fields(json_object: dict[str, Any]) -> Parsed[Registration]:
    fields = Fields(json_object)
    fields.version(1)
    subscription = fields.table("subscription")
    pattern = fields.text("pattern", optional=True)
    timestamp = fields.timestamp()
    if subscription is None:
        return fields.unparsable()
    # Kafka takes an unknown pattern, and an empty map, for static.
    known_pattern = Pattern(pattern) if pattern in {p.value for p in Pattern} else Pattern.STATIC
    if pattern is not None and known_pattern.value != pattern:
        fields.note(f"pattern {quote(pattern)} is not known (static, white_list and black_list are)")
    return _registration(Layout.V08, known_pattern, subscription, fields, timestamp)


def _registration(
    layout: Layout,
    pattern: Pattern,
    threads_by_topic: dict[str, Any],
    fields: Fields,
    timestamp: int | None = None,
) -> Parsed[Registration]:
    """The registration. A topic whose value is not a number of threads (1 or more) is noted and left out."""
    subscription: dict[str, int] = {}
    reasons = []
    for name, threads in threads_by_topic.items():
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
    json_object = document.decode(_BACKSLASH.sub(lambda b: b[0] if b[1] else rb"\\", data), _WHAT)
    if isinstance(json_object, Unparsable):
        return fault, ()
    return json_object, (f"{fault.reason}; read with its lone backslashes doubled",)
