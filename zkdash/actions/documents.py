"""How intents, plans and names are kept in the database: as bytes, whatever is in them.

JSON with every character beyond ASCII written out, so that lone surrogates, which UTF-8 does not take, and
NUL, which PostgreSQL's text does not take, come back as they were. A plan's data are base64.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.values import Plan

_NO_CHARACTER = "\ufffd"


class DocumentError(ValueError):
    """Something that is no document of its kind; the sentence says what it is and what is wrong with it."""


def encode(value: object) -> bytes:
    """JSON of an intent, a plan, or of anything made of what JSON has."""
    builtins = msgspec.to_builtins(value, str_keys=True)
    return json.dumps(builtins, separators=(",", ":"), allow_nan=False).encode()


def intent(data: bytes | memoryview | str) -> Intent:
    """The intent of such JSON, also of a person's. Raises DocumentError."""
    found: Intent = _decode(data, Intent, "intent")
    return found


def plan(data: bytes | memoryview) -> Plan | None:
    """The plan of such JSON; None of no bytes: planned when its time has come. Raises DocumentError."""
    return _decode(data, Plan, "plan") if data else None


def detail(data: bytes | memoryview) -> Any:
    """Any JSON that `encode` made, as plain values; None of no bytes."""
    return json.loads(bytes(data)) if data else None


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


def _decode(data: bytes | memoryview | str, kind: Any, what: str) -> Any:
    """Strict but for the keys of objects, which JSON has only as text."""
    try:
        document = json.loads(data if isinstance(data, str) else bytes(data).decode())
        return msgspec.convert(document, kind, str_keys=True)
    except RecursionError as error:
        raise DocumentError(f"This {what} is nested too deeply.") from error
    except ValueError as error:
        raise DocumentError(f"This is no {what}: {error}.") from error
