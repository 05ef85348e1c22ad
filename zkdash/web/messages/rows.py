"""Messages as the page's template and JSON have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from zkdash.broker.messages.values import Batch, Look, Message
from zkdash.web.frame import times
from zkdash.web.frame.cells import texts
from zkdash.web.messages import contents
from zkdash.web.messages.contents import Shown

_FORMATS = {0: "v0", 1: "v1", 2: "v2"}
_NO_TIME = "messages before v1 (Kafka 0.10) have no time"


class Row(msgspec.Struct, frozen=True):
    """One message. `time` is UTC text, "" for none. `marks` are what it is beside an ordinary one, `batch`
    tells of what it came in."""

    offset: int
    time: str
    clock: str
    key: Shown
    value: Shown
    headers: tuple[tuple[str, Shown], ...]
    marks: tuple[str, ...]
    batch: tuple[str, ...]


def rows(look: Look, how: str, *, is_masked: bool) -> tuple[Row, ...]:
    """The messages for the template."""
    return tuple(_row(message, how, is_masked=is_masked) for message in look.messages)


def _row(message: Message, how: str, *, is_masked: bool) -> Row:
    return Row(
        message.offset,
        _time(message) or "",
        message.clock,
        contents.shown(message.key, how, is_masked=is_masked),
        contents.shown(message.value, how, is_masked=is_masked),
        tuple(
            ("" if is_masked else texts.visible(name), contents.shown(data, how, is_masked=is_masked))
            for name, data in message.headers
        ),
        tuple(_marks(message)),
        tuple(_batch(message.batch)),
    )


def _time(message: Message) -> str | None:
    """UTC text; milliseconds of a time that no calendar holds."""
    if message.timestamp is None:
        return None
    return times.utc_text(message.timestamp) or f"{message.timestamp} ms"


def _marks(message: Message) -> list[str]:
    marks = []
    if message.marker:
        marks.append(f"transaction marker: {message.marker}")
    elif message.value is None:
        marks.append("tombstone")
    if message.fate:
        marks.append(f"{message.fate} transaction")
    return marks


def _batch(batch: Batch) -> list[str]:
    offsets = f"{batch.base_offset} to {batch.last_offset}"
    sentences = [
        f"{offsets}, {batch.records} {'message' if batch.records == 1 else 'messages'}",
        f"format {_FORMATS.get(batch.magic, batch.magic)}, {batch.codec}, {batch.size} bytes",
    ]
    if batch.leader_epoch >= 0:
        sentences.append(f"leader epoch {batch.leader_epoch}")
    if batch.producer_id >= 0:
        sequence = f", sequence from {batch.base_sequence}" if batch.base_sequence >= 0 else ""
        sentences.append(f"producer id {batch.producer_id}, epoch {batch.producer_epoch}{sequence}")
    return sentences


def record(message: Message, how: str, *, is_masked: bool) -> Mapping[str, Any]:
    """One message for JSON."""
    row = _row(message, how, is_masked=is_masked)
    batch = message.batch
    return {
        "offset": message.offset,
        "timestamp": _time(message),
        **({"timestamp_reason": _NO_TIME} if message.timestamp is None else {}),
        "timestamp_type": message.clock or None,
        "key": row.key.record,
        "value": row.value.record,
        "tombstone": message.value is None and not message.marker,
        "headers": [
            {"name": None if is_masked else name, "value": shown.record} for name, shown in row.headers
        ],
        "transaction": message.fate or None,
        "marker": message.marker or None,
        "batch": {
            "base_offset": batch.base_offset,
            "last_offset": batch.last_offset,
            "messages": batch.records,
            "size": batch.size,
            "format": batch.magic,
            "codec": batch.codec,
            "leader_epoch": _or_none(batch.leader_epoch),
            "producer_id": _or_none(batch.producer_id),
            "producer_epoch": _or_none(batch.producer_epoch),
            "base_sequence": _or_none(batch.base_sequence),
        },
    }


def _or_none(number: int) -> int | None:
    return None if number < 0 else number
