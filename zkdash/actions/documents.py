"""How intents, plans and names are kept in the database: as bytes, whatever is in them.

JSON in UTF-8 that also takes surrogates, each for itself (escaped, two of them in a row would come back as
one character), in binary columns: PostgreSQL's text takes neither those nor NUL. A plan's data are base64.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.values import Plan

_NO_CHARACTER = "\ufffd"

# What msgspec knows of a type it finds out when the type is first used, and a second thread that uses it
# meanwhile makes the process crash. So it finds out here, in the one thread that imports this.
_READ_HERE = [msgspec.json.Decoder(kind) for kind in (Intent, Plan)]


class DocumentError(ValueError):
    """A document that cannot be understood; the sentence says which kind it should be and what is wrong."""


def encode(value: object) -> bytes:
    """JSON of an intent, a plan, or of anything made of what JSON has."""
    builtins = msgspec.to_builtins(value, str_keys=True)
    return pack(json.dumps(builtins, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def intent(data: bytes | memoryview | str) -> Intent:
    """The intent of such JSON, also of a person's: a field that no intent of its kind has is refused, as a
    misspelt limit would be none. Raises DocumentError."""
    given, value = _decode(data, Intent, "intent")
    if unknown := _unknown(given, msgspec.to_builtins(value, str_keys=True)):
        raise DocumentError(f"This is no intent: {json.dumps(unknown)} is no field of it.")
    taken: Intent = value
    return taken


def plan(data: bytes | memoryview) -> Plan | None:
    """The plan of such JSON; None of no bytes: planned when its time has come. Raises DocumentError."""
    if not data:
        return None
    taken: Plan = _decode(data, Plan, "plan")[1]
    return taken


def detail(data: bytes | memoryview) -> Any:
    """Any JSON that `encode` made, as plain values; None of no bytes."""
    return json.loads(unpack(data)) if data else None


def pack(name: str) -> bytes:
    """A name or a path of ZooKeeper as bytes of a column."""
    return name.encode("utf-8", "surrogatepass")


def unpack(data: bytes | memoryview) -> str:
    """The name that `pack` was given."""
    return bytes(data).decode("utf-8", "surrogatepass")


def text(value: str, most: int | None = None) -> str:
    """A sentence as a text column takes it, cut at `most` characters: what no database takes is replaced."""
    clean = value.replace("\0", _NO_CHARACTER)
    if not clean.isascii():
        clean = "".join(_NO_CHARACTER if "\ud800" <= char <= "\udfff" else char for char in clean)
    return clean if most is None or len(clean) <= most else clean[: most - 1] + "…"


def _decode(data: bytes | memoryview | str, kind: Any, noun: str) -> tuple[Any, Any]:
    """The document and what it stands for. Strict but for objects' keys, which JSON has only as text."""
    try:
        given = json.loads(data if isinstance(data, str) else unpack(data), object_pairs_hook=_object)
        return given, msgspec.convert(given, kind, str_keys=True)
    except RecursionError as error:
        raise DocumentError(f"This {noun} is nested too deeply.") from error
    except ValueError as error:
        raise DocumentError(f"This is no {noun}: {error}.") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if key in fields:
            raise ValueError(f"{json.dumps(key)} is given twice")
        fields[key] = value
    return fields


def _unknown(given: Any, understood: Any) -> str | None:
    """The first key of a document that did not become a part of what it stands for."""
    pairs: list[tuple[Any, Any]] = []
    if isinstance(given, dict) and isinstance(understood, dict):
        for key, value in given.items():
            if key not in understood:
                return str(key)
            pairs.append((value, understood[key]))
    elif isinstance(given, list) and isinstance(understood, list | tuple):
        pairs = list(zip(given, understood, strict=True))
    return next((name for pair in pairs if (name := _unknown(*pair))), None)
