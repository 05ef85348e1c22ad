"""What a key of a table takes: annotations of the Structs' fields, and what can be asked of them.

A `msgspec.Meta` bounds the value and describes the key. Its `extra` says more, where that is needed: "unit"
is what a number counts, "choices" are all that may be written, "wrong" ends the sentence about a value that
is refused, "example" is shown where a key lacks, "hidden" keeps the value out of every sentence, for it may
be a secret, "strip" takes away space around it, and "was" is the name that the key had before. Of a list of
one text the brackets may be left out where it is "alone"; a list of tables has a "short" form where it may be
one text: that of a single table with this key alone.
"""

from __future__ import annotations

import functools
import re
import typing
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

SECONDS, BYTES, PERCENT = "seconds", "bytes", "percent"
_TEXT = r"\A[^\0]*\Z"
_SOME_TEXT = r"\A[^\0]*[^\0\s][^\0]*\Z"


class Key(NamedTuple):
    """A key as its table declares it: what it takes, and by `extra` how that is told."""

    name: str
    annotation: Any
    takes: inspect.Type
    description: str
    extra: Mapping[str, Any]
    required: bool
    default: Any


@functools.cache
def of(table: type[msgspec.Struct]) -> Mapping[str, Key]:
    """The keys of a table by their names, in the order in which they are declared."""
    struct = inspect.type_info(table)
    assert isinstance(struct, inspect.StructType)  # noqa: S101 - of a Struct
    annotated = {field.encode_name: field.type for field in msgspec.structs.fields(table)}
    return {field.encode_name: _key(field, annotated[field.encode_name]) for field in struct.fields}


def item(key: Key) -> Key:
    """An item of a key that takes a list."""
    listed = key.annotation
    if typing.get_origin(listed) is typing.Annotated:
        listed = typing.get_args(listed)[0]
    annotation = typing.get_args(listed)[0]
    takes, _, extra = _told(inspect.type_info(annotation))
    return Key(key.name, annotation, takes, key.description, extra, required=True, default=None)


def _key(field: inspect.Field, annotation: Any) -> Key:
    takes, description, extra = _told(field.type)
    default = None if field.default is msgspec.NODEFAULT else field.default
    return Key(field.encode_name, annotation, takes, description, extra, field.required, default)


def _told(takes: inspect.Type) -> tuple[inspect.Type, str, Mapping[str, Any]]:
    """The type itself, and what its annotations tell of it."""
    if isinstance(takes, inspect.UnionType):  # None where a key is not given
        (takes,) = (kind for kind in takes.types if not isinstance(kind, inspect.NoneType))
    if isinstance(takes, inspect.Metadata):
        schema = takes.extra_json_schema or {}
        return takes.type, schema.get("description", ""), takes.extra or {}
    return takes, "", {}


def told(description: str) -> msgspec.Meta:
    """Of a switch, or of what its type alone bounds."""
    return msgspec.Meta(description=description)


def seconds(description: str, *, most: float, least: float | None = None) -> msgspec.Meta:
    """A duration; where there is no least one, any above 0."""
    extra = {"unit": SECONDS}
    if least is None:
        return msgspec.Meta(gt=0, le=most, description=description, extra=extra)
    return msgspec.Meta(ge=least, le=most, description=description, extra=extra)


def count(description: str, *, most: int, unit: str = "") -> msgspec.Meta:
    return msgspec.Meta(ge=1, le=most, description=description, extra={"unit": unit})


def choice(description: str, choices: tuple[str, ...], wrong: str = "", was: str = "") -> msgspec.Meta:
    """One of a few words."""
    any_of = "|".join(re.escape(word) for word in choices)
    extra = {"choices": choices, "wrong": wrong or f"is none: write one of {', '.join(choices)}", "was": was}
    return msgspec.Meta(pattern=rf"\A(?:{any_of})\Z", description=description, extra=extra)


def text(
    description: str, *, empty: bool = False, longest: int | None = None, example: str = "…"
) -> msgspec.Meta:
    """A text, without the space around it; where it may be empty, that is as if it were not given."""
    return msgspec.Meta(
        pattern=_TEXT if empty else _SOME_TEXT,
        max_length=longest,
        description=description,
        extra={"wrong": "is no text that could be used", "strip": True, "example": example},
    )


def path(description: str, example: str) -> msgspec.Meta:
    """A file or directory; "" for none."""
    extra = {"wrong": f"is no path: write {example}", "strip": True}
    return msgspec.Meta(pattern=_TEXT, description=description, extra=extra)


def paths(description: str, example: str) -> msgspec.Meta:
    """Files or directories; one may stand without a list, and "" is none."""
    return msgspec.Meta(
        description=description, extra={"wrong": f"is no path: write {example}", "alone": True}
    )


def variable(description: str) -> msgspec.Meta:
    """The name of an environment variable that holds a secret, and not the secret."""
    return msgspec.Meta(
        pattern=r"\A[A-Za-z_][A-Za-z0-9_]*\Z",
        description=description,
        extra={"wrong": "names no variable: write the name of the one with the secret", "hidden": True},
    )


def secret_file(description: str) -> msgspec.Meta:
    """The path of a file that holds a secret."""
    return msgspec.Meta(
        pattern=r"\A[^\0]+\Z",
        description=description,
        extra={"wrong": "names no file: write the path of the one with the secret", "hidden": True},
    )
