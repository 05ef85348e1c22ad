"""What a page's JSON holds, as the page declares it: in words of JSON Schema 2020-12, for OpenAPI 3.1.

What is declared is held against the pages' answers by tests/web/api/test_openapi.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from zkdash.web.frame.tables import Column

Schema = dict[str, Any]
# Columns of one layout of Kafka, or of another: a row has those of one of them.
Columns = Sequence[Column[Any] | str]

TEXT: Final[Schema] = {"type": "string"}
TEXTS: Final[Schema] = {"type": "array", "items": TEXT}
INSTANT: Final[Schema] = {"type": "string", "examples": ["2026-11-20T10:42:07Z"]}
WHETHER: Final[Schema] = {"type": "boolean"}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
PAGE: Final[Schema] = {"type": "integer", "minimum": 1, "maximum": 9_999_999}
NUMBER: Final[Schema] = {"type": ["number", "string", "null"]}
INTEGER_OR_NULL: Final[Schema] = {"type": ["integer", "null"]}
TEXT_OR_NULL: Final[Schema] = {"type": ["string", "null"]}
NUMBERS: Final[Schema] = {"type": "array", "items": {"type": "integer"}}
# What a cell holds: numbers in a list are ids of brokers, texts are names.
VALUE: Final[Schema] = {
    "type": ["string", "number", "boolean", "array", "null"],
    "items": {"type": ["string", "integer"]},
}
_WHY: Final[Schema] = {"type": ["string", "null"], "description": "why the value is null, where it is"}


class Shape(msgspec.Struct, frozen=True):
    """One page: `rows` are the columns that it can have, by layout; `extra` what is beside the rows.

    `optional` names what of `extra` is not there where what was asked for itself is not. `parameters` are
    what its address may ask, beside what every list takes.
    """

    rows: tuple[Columns, ...]
    extra: Mapping[str, Schema] = {}
    optional: frozenset[str] = frozenset()
    parameters: Mapping[str, Schema] = {}


# Of what stands only in frames of other pages, and so has no address and no JSON.
NONE: Final = Shape(())


def fields(**of: Schema) -> Schema:
    """An object with these fields and no others, but for the reason of one that is null."""
    return {
        "type": "object",
        "properties": of,
        "patternProperties": {"_reason$": _WHY},
        "additionalProperties": False,
    }


def named(value: Schema) -> Schema:
    """An object whose keys are names of the cluster's own, each with such a value."""
    return {"type": "object", "additionalProperties": value}


def many(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def columns(of: Columns) -> dict[str, Schema]:
    """The fields of a row, by the columns of its table."""
    schemas: dict[str, Schema] = {}
    for column in of:
        if isinstance(column, str):
            schemas[column] = VALUE
            continue
        words = {"title": column.heading, **({"description": column.title} if column.title else {})}
        schemas[column.name] = {**words, **(NUMBER if column.is_number else VALUE)}
    return schemas


def row(of: Columns) -> Schema:
    """One row of a table."""
    return fields(**columns(of))


def struct(of: type[msgspec.Struct]) -> Schema:
    """One of our values, field by field, where each of them is plain."""
    _, components = msgspec.json.schema_components((of,))
    schema: Schema = components[of.__name__]
    return fields(**schema["properties"])
