"""/brokers/topics/T (0.8+: the assignment) and /brokers/topics/T/B (0.7: a broker's number of partitions).

Source: kafka.zk.TopicZNode, version 1 (0.8.0 to 2.3), 2 (2.4 to 2.7, KIP-455), 3 (2.8 to 3.9, KIP-516);
0.7: kafka.server.KafkaZooKeeper.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from zkdash.kafka.documents import document, plain
from zkdash.kafka.documents.document import INT_MAX, Fields, Parsed, few, kind_of, quote
from zkdash.kafka.documents.replicas import parse_ids, share_all
from zkdash.kafka.values import Assignment, Unparsable

_Id = Annotated[int, msgspec.Meta(ge=0, le=INT_MAX)]
_Lists = dict[_Id, tuple[_Id, ...]]
_TOPIC_ID = r"[A-Za-z0-9_-]{22}"
_PARTITION = re.compile(r"0|[1-9][0-9]{0,9}")


class _Topic(msgspec.Struct):
    """An assignment that is right in every field; whatever else is read field by field for the reasons."""

    partitions: _Lists
    version: Literal[1, 2, 3] = 1
    adding_replicas: _Lists = {}
    removing_replicas: _Lists = {}
    topic_id: Annotated[str, msgspec.Meta(pattern=f"^{_TOPIC_ID}$", max_length=22)] | None = None


_DECODER = msgspec.json.Decoder(_Topic)


def parse_assignment(data: bytes | None) -> tuple[Assignment | Unparsable | None, tuple[str, ...]]:
    """The replicas of each partition, sorted by partition; None for a topic of 0.7, which has no data."""
    if not data:
        return None, ()
    try:
        topic = _DECODER.decode(data)
    except (ValueError, RecursionError):
        return _parse_fields(data)
    return (
        Assignment(
            topic.version,
            share_all(topic.partitions),
            share_all(topic.adding_replicas),
            share_all(topic.removing_replicas),
            topic.topic_id,
        ),
        (),
    )


def parse_partition_count(data: bytes | None) -> Parsed[int]:
    """0.7: a broker holds the partitions broker-0 to broker-(count - 1) of the topic."""
    return plain.parse_number(data, "a number of partitions", high=INT_MAX)


def _parse_fields(data: bytes) -> Parsed[Assignment]:
    json_object = document.decode(data, "a topic's assignment")
    if isinstance(json_object, Unparsable):
        return document.unparsable(json_object.reason)
    fields = Fields(json_object)
    version = fields.version(1, 2, 3)
    partitions = _lists(fields, "partitions", optional=False)
    if partitions is None:
        return fields.unparsable()
    assignment = Assignment(
        1 if version is None else version,
        partitions,
        _lists(fields, "adding_replicas") or {},
        _lists(fields, "removing_replicas") or {},
        _topic_id(fields),
    )
    return assignment, tuple(fields.reasons)


def _lists(fields: Fields, name: str, *, optional: bool = True) -> Mapping[int, tuple[int, ...]] | None:
    """Broker ids by partition. A wrong entry is noted and left out; the others stand."""
    value = fields.table(name, optional=optional)
    if value is None:
        return None
    lists: dict[int, tuple[int, ...]] = {}
    reasons: list[str] = []
    for key, item in value.items():
        if not _PARTITION.fullmatch(key) or int(key) > INT_MAX:
            reasons.append(f'"{name}" holds {quote(key)}, which is no partition id')
            continue
        ids = parse_ids(item, f'"{name}" {key}', reasons)
        if ids is not None:
            lists[int(key)] = ids
    fields.reasons += few(reasons)
    return share_all(lists)


def _topic_id(fields: Fields) -> str | None:
    text = fields.text("topic_id", optional=True)
    if text is None or re.fullmatch(_TOPIC_ID, text):
        return text
    fields.note(f'"topic_id" holds {kind_of(text)} that is no topic id (22 characters of URL-safe base64)')
    return None
