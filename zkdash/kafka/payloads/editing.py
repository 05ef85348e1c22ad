"""Editing a JSON document that somebody else wrote: what is not meant stays, fields and their order.

A document that could not be written back as it was is refused with a sentence, never half kept.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

INT_MAX = 2**31 - 1


class Uneditable(ValueError):  # noqa: N818 - it names the document, not a fault of ours
    """A document that must not be edited; the text is a sentence without the path."""


def read(data: bytes | None, known_versions: Iterable[int]) -> dict[str, Any]:
    """The document, to be changed in place and written with `write`.

    Raises Uneditable where it is not a JSON object or has an unknown version, and where JSON holds what
    cannot be written back: a key twice, a number out of range.
    """
    try:
        document = json.loads(
            data or b"", object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite
        )
    except Uneditable:
        raise
    except (ValueError, RecursionError):
        message = "it is not JSON"
        raise Uneditable(message) from None
    if not isinstance(document, dict):
        message = "it is no JSON object"
        raise Uneditable(message)
    if "version" in document and (
        type(document["version"]) is not int or document["version"] not in known_versions
    ):
        message = f"its version {json.dumps(document['version'])[:40]} is not known"
        raise Uneditable(message)
    return document


def write(document: object) -> bytes:
    """The document as Kafka writes it, without spaces."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can spell and UTF-8 cannot
        return json.dumps(document, separators=(",", ":"), allow_nan=False).encode()


def extend_assignment(data: bytes | None, added: Mapping[int, tuple[int, ...]]) -> bytes:
    """/brokers/topics/T with more partitions; topic_id, adding_replicas and all else stay as they are."""
    document = read(data, (1, 2, 3))
    partitions = document.get("partitions")
    if not isinstance(partitions, dict):
        message = 'its "partitions" is no object'
        raise Uneditable(message)
    for number, replicas in added.items():
        if str(number) in partitions:
            message = f"it holds partition {number} already"
            raise Uneditable(message)
        partitions[str(number)] = list(replicas)
    return write(document)


def merge_config(data: bytes | None, put: Mapping[str, str], drop: Iterable[str] = ()) -> bytes:
    """A configuration (any /config/<type>/<name>) with keys put and dropped; null data is an empty one."""
    document = read(data, (1,)) if data else {"version": 1, "config": {}}
    config = document.setdefault("config", {})
    if not isinstance(config, dict):
        message = 'its "config" is no object'
        raise Uneditable(message)
    for name in drop:
        config.pop(name, None)
    config.update(put)
    return write(document)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        message = "it holds a key twice"
        raise Uneditable(message)
    return document


def _constant(name: str) -> float:
    message = f"it holds {name}, which is no JSON"
    raise Uneditable(message)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        message = "it holds a number out of range"
        raise Uneditable(message)
    return number
