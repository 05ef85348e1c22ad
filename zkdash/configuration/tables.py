"""A table of the file becomes its Struct, or one sentence that says which file, key and value is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar, cast

import msgspec
from msgspec import inspect

from zkdash.configuration import keys
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.keys import Key


class Place(NamedTuple):
    """Where a table stands: in which file, under which dotted name; "" is the whole file."""

    file: str
    table: str = ""

    def below(self, name: str) -> Place:
        return Place(self.file, f"{self.table}.{name}" if self.table else name)

    def __str__(self) -> str:
        return f"{self.file}: [{self.table}]" if self.table else self.file


class Table(msgspec.Struct, frozen=True):
    """What each table's Struct is."""

    def check(self) -> None:
        """See that keys go together. Raises ConfigError, whose sentence begins with one of them."""


T = TypeVar("T", bound=Table)


def read(kind: type[T], place: Place, given: object, usual: Table | Mapping[str, Any] | None = None) -> T:
    """The table that was given; what it lacks is as in `usual`, else as declared. Raises ConfigError."""
    if not isinstance(given, dict):
        raise ConfigError(f"{place.file}: {place.table} = {given!r} is no table: write [{place.table}].")
    keys_by_name = keys.of(kind)
    refuse_unknown(place, given, keys_by_name)
    values = dict(usual if isinstance(usual, Mapping) else _values(usual))
    for name, key in keys_by_name.items():
        if name in given:
            values[name] = _value(key, place, given[name], values.get(name))
        elif key.required and name not in values:
            example = f'"{key.extra["example"]}"' if "example" in key.extra else "…"
            raise ConfigError(f"{place} lacks the key {name}: add {name} = {example}.")
    table = kind(**values)
    try:
        table.check()
    except ConfigError as error:
        raise ConfigError(f"{place} {error}") from None
    return table


def refuse_unknown(place: Place, given: Mapping[str, object], keys_by_name: Mapping[str, Key]) -> None:
    unknown = sorted(given.keys() - keys_by_name.keys())
    if unknown:
        now = {key.extra.get("was"): name for name, key in keys_by_name.items()}.get(unknown[0])
        what_to_do = f"write {now}" if now else f"known are {', '.join(sorted(keys_by_name))}"
        # without its value, which may be a secret under a wrong name
        raise ConfigError(f"{place} has the unknown key {unknown[0]!r}: {what_to_do}.")


def _values(table: Table | None) -> Mapping[str, Any]:
    return {} if table is None else {name: getattr(table, name) for name in table.__struct_fields__}


def _value(key: Key, place: Place, given: Any, usual: Any) -> Any:
    takes = key.takes
    if isinstance(takes, inspect.StructType):
        return read(cast("type[Table]", takes.cls), place.below(key.name), given, usual)
    if isinstance(takes, inspect.VarTupleType):
        return _list(key, place, given)
    try:
        return _converted(key, given)
    except msgspec.ValidationError:
        shown = "" if key.extra.get("hidden") else f" = {given!r}"
        raise ConfigError(f"{place} {key.name}{shown} {_wrong(key, given)}.") from None


def _list(key: Key, place: Place, given: Any) -> tuple[Any, ...]:
    item = keys.item(key)
    if key.extra.get("alone") and isinstance(given, str):
        given = [given] if given.strip() else []
    if isinstance(item.takes, inspect.StructType):
        rows = place.below(key.name)
        if isinstance(given, str) and "short" in key.extra:
            given = [{key.extra["short"]: [given]}] if given.strip() else []
        if not isinstance(given, list) or not all(isinstance(row, dict) for row in given):
            wrong = key.extra.get("wrong", f"is not a list: write [[{rows.table}]]")
            raise ConfigError(f"{place.file}: {rows.table} = {given!r} {wrong}.")
        kind, row_place = cast("type[Table]", item.takes.cls), Place(place.file, f"[{rows.table}]")
        return tuple(read(kind, row_place, row) for row in given)
    shown = "" if key.extra.get("hidden") else f" = {given!r}"
    if not isinstance(given, list) or not all(isinstance(entry, str) for entry in given):
        raise ConfigError(f"{place} {key.name}{shown} {_wrong(key, given)}.")
    entries = []
    for number, entry in enumerate(given, 1):
        try:
            entries.append(_converted(item, entry))
        except msgspec.ValidationError:
            named = f"number {number}" if key.extra.get("hidden") else repr(entry)
            raise ConfigError(f"{place} {key.name}: {named} {_wrong(item, entry)}.") from None
    return tuple(entries)


def _converted(key: Key, given: Any) -> Any:
    """Raises msgspec.ValidationError."""
    if isinstance(key.takes, inspect.IntType) and isinstance(given, float) and given.is_integer():
        given = int(given)  # 100.0 is a whole number
    elif isinstance(given, str) and key.extra.get("strip"):
        given = given.strip()
    return msgspec.convert(given, key.annotation)


def _wrong(key: Key, given: object) -> str:
    """The end of the sentence about a value that is refused."""
    takes, extra = key.takes, key.extra
    longest = takes.max_length if isinstance(takes, inspect.StrType) else None
    if longest is not None and isinstance(given, str) and len(given.strip()) > longest:
        return f"is longer than {longest} characters"
    if "wrong" in extra:
        return str(extra["wrong"])
    if isinstance(takes, inspect.IntType):
        return f"is no whole number from {takes.ge} to {takes.le}"
    if isinstance(takes, inspect.FloatType):
        kind = "number of seconds" if extra.get("unit") == keys.SECONDS else "number"
        least = f"above {takes.gt:.12g} and up" if takes.ge is None else f"from {takes.ge:.12g}"
        return f"is no {kind} {least} to {takes.le:.12g}"
    return "is neither true nor false"
