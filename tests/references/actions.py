"""What docs/actions.md has to say, made of the kinds of actions, their forms and the table of writes."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from django import forms

from tests.cluster.plans import cells, worlds
from tests.references.markdown import code, table
from zkdash.cluster.plans import intents, registry
from zkdash.cluster.plans.intents import Intent
from zkdash.web.actions.forms import LISTED
from zkdash.web.actions.forms.base import ABOUT, ActionForm

_HEAD = """\
# The actions

Every kind of action: what it does, what its form takes, its intent as `zkdash action plan` takes it, and
what it writes to ZooKeeper in each release. How actions are proposed, reviewed and carried out, and what is
promised of them: [acting](acting.md).

An address such as `/c/shop/actions/new/reassign/?way=drain&broker=3` fills a form, by the parameters named
here. Every form has `reason` and `not_before` too, those of what may be repeated also `repeat`. In an
intent, what has a value in the last column may be left out.

What is written is told for an example, a line a transaction, its writes between bars: from the table that
plans are tested by (`tests/cluster/plans/matrix.toml`), whose rules were seen on real brokers. While a
KRaft controller owns the metadata, every kind is refused.

This page is what these declarations say of themselves; `make check` keeps the two equal.
"""
_MATRIX: Final = Path(__file__).resolve().parents[1] / "cluster" / "plans" / "matrix.toml"
_OWNED: Final = "KRaft"
_ANY_ERA: Final = "1.1.1"


def text() -> str:
    """The whole page."""
    parts = [_HEAD]
    for heading, listed in LISTED:
        parts.append(f"## {heading}\n")
        parts += (part for form in listed for part in _kind(form))
    return "\n".join(parts)


def _kind(form: type[ActionForm]) -> Iterator[str]:
    kind = registry.BY_TAG[form.kind]
    yield f"### {kind.tag}\n\n**{kind.title}.** {form.lead}\n"
    if kind.repeats:
        yield "It may be repeated.\n"
    if _own(form):
        yield f"The form, `/c/<cluster>/actions/new/{kind.tag}/`, takes\n"
        yield table(("parameter", "of the form", "meaning"), _parameters(form))
    fields = _fields(kind.intent)
    more = ", …" if fields else ""
    yield f'The intent is `{{"kind": "{kind.tag}"{more}}}`. {_about(kind.intent)}\n'
    if fields:
        yield table(("field", "holds", "unless given"), fields)
    yield table(("release", "writes"), _writes(kind.tag))


def _own(form: type[ActionForm]) -> dict[str, forms.Field]:
    return {name: field for name, field in form.base_fields.items() if name not in ABOUT}


def _parameters(form: type[ActionForm]) -> Iterator[tuple[str, str, str]]:
    others = {field: parameter for parameter, field in form.names.items()}
    for name, field in _own(form).items():
        named = code(name) + (f", {code(others[name])}" if name in others else "")
        choices = [f"{code(str(value))} {label}" for value, label in getattr(field, "choices", ())]
        meaning = " ".join(filter(None, (str(field.help_text), "; ".join(choices))))
        yield named, str(field.label or name.replace("_", " ").capitalize()), meaning


def _about(intent: type[Intent]) -> str:
    return " ".join((inspect.getdoc(intent) or "").split())


def _fields(struct: type[msgspec.Struct]) -> list[tuple[str, str, str]]:
    hints = inspect.get_annotations(struct)
    return [
        (code(field.encode_name), _holds(hints[field.name]), _unless(field))
        for field in msgspec.structs.fields(struct)
    ]


_TYPES: Final = {
    "str": "a text",
    "int": "a number",
    "bool": "`true` or `false`",
    "int | None": "a number",
    "str | None": "a text",
    "tuple[str, ...]": "a list of texts",
    "tuple[tuple[str, int], ...]": "a list of `[topic, partition]`",
    "tuple[Move, ...]": 'a list of `{"topic": …, "partition": …, "replicas": […]}`',
    "tuple[OffsetAt, ...]": 'a list of `{"topic": …, "part": …, "value": …}`',
    "Mapping[str, str]": "an object of texts",
    "Mapping[int, tuple[int, ...]]": "an object, replicas by partition",
}


def _holds(annotation: str) -> str:
    return _TYPES[annotation]


def _unless(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "must be given"
    default: Any = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    return code(msgspec.json.encode(default).decode())


@cache
def _rows() -> Mapping[str, dict[str, str | list[str]]]:
    """The first row of each kind that is carried out somewhere."""
    written: dict[str, dict[str, str | list[str]]] = {}
    for name, row in tomllib.loads(_MATRIX.read_text(encoding="utf-8")).items():
        asked, _ = cells.ROWS[name]
        tag = intents.kind(asked(worlds.world(_ANY_ERA)))
        if any(isinstance(cell, list) for cell in row.values()):
            written.setdefault(tag, row)
    return written


def _writes(tag: str) -> Iterator[tuple[str, str]]:
    for eras, cell in _rows()[tag].items():
        if eras != _OWNED:
            yield eras, cell if isinstance(cell, str) else "<br>".join(map(code, cell))
