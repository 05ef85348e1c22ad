"""JSON as Kafka writes it into znodes: decoded without ever raising, its fields read one by one.

Each wrong field leaves a sentence, so that one bad field never hides the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import msgspec

from zkdash.kafka.values import Unparsable

T = TypeVar("T")
Parsed: TypeAlias = tuple[T | Unparsable, tuple[str, ...]]

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
# A sentence for each wrong entry of a large map would itself be a flood.
MOST_REASONS = 5

_KINDS = {
    type(None): "null",
    bool: "true or false",
    int: "a number",
    float: "a fraction",
    str: "text",
    list: "a list",
    dict: "an object",
}
_DECODER = msgspec.json.Decoder()
# Faults that the decoder places one byte behind the character at fault.
_BEHIND = frozenset({"trailing characters", "invalid escape character in string"})
_PLACE_IN_TEXT = re.compile(r"JSON is malformed: (.*) \(byte (\d+)\)")


def unparsable(*reasons: str) -> tuple[Unparsable, tuple[str, ...]]:
    return Unparsable("; ".join(reasons)), reasons


def decode(data: bytes | None, what: str) -> dict[str, Any] | Unparsable:
    """The JSON object in a znode; `what` names it in the sentence ("a partition state")."""
    if not data:
        return Unparsable(f"empty where {what} belongs")
    try:
        document = _DECODER.decode(data)
    except RecursionError:
        return Unparsable("not JSON that can be read: nested too deeply")
    except ValueError as error:
        return Unparsable(f"not JSON: {_fault(error)}")
    if not isinstance(document, dict):
        return Unparsable(f"{kind_of(document)} where {what} belongs")
    return document


def _fault(error: ValueError) -> str:
    """What is wrong with the text, in the decoder's words, with the byte where it is."""
    if isinstance(error, UnicodeDecodeError):
        return "text that is not UTF-8"
    said = str(error)
    if found := _PLACE_IN_TEXT.fullmatch(said):
        fault, byte = found[1], int(found[2])
        return f"{fault} at byte {byte - 1 if fault in _BEHIND else byte}"
    if "truncated" in said:
        return "cut short"
    return "a number out of range" if "range" in said else said


def kind_of(value: object) -> str:
    """The JSON type of a value, as words for a sentence."""
    return _KINDS.get(type(value), "something else")


def few(reasons: Sequence[str]) -> list[str]:
    """The first reasons, and how many more there are."""
    return few_of(reasons, str)


def few_of(wrong: Sequence[T], sentence: Callable[[T], str]) -> list[str]:
    """A sentence for each of the first wrong things, and how many more there are."""
    shown = [sentence(one) for one in wrong[:MOST_REASONS]]
    return shown + ([f"and {len(wrong) - len(shown)} more like these"] if len(wrong) > len(shown) else [])


def quote(text: str) -> str:
    """A name inside a sentence: quoted, its control characters escaped, cut after 60 characters."""
    shown = text if len(text) <= 60 else text[:60] + "…"
    return '"' + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown) + '"'


class Fields:
    """The fields of one JSON object. A getter returns None where one is missing or wrong, and notes why."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = fields
        self.reasons: list[str] = []

    def note(self, reason: str) -> None:
        self.reasons.append(reason)

    def unparsable(self) -> tuple[Unparsable, tuple[str, ...]]:
        """The result of a parser that found a field missing without which there is no value."""
        return unparsable(*self.reasons)

    def version(self, *known: int, required: bool = False) -> int | None:
        """The format's version; an unknown one is noted and returned."""
        version = self.integer("version", optional=not required, low=-LONG_MAX, high=LONG_MAX)
        if version is not None and version not in known:
            which = f"{known[0]} is" if len(known) == 1 else f"{known[0]} to {known[-1]} are"
            self.note(f"version {version} is not known ({which})")
        return version

    def integer(self, name: str, *, optional: bool = False, low: int = 0, high: int = INT_MAX) -> int | None:
        value = self._take(name, optional)
        if value is None:
            return None
        if type(value) is not int:
            self._holds(name, kind_of(value), "a number belongs")
        elif not low <= value <= high:
            self._holds(name, "a number out of range", f"{low} to {high} belongs")
        else:
            return value
        return None

    def text(self, name: str, *, optional: bool = False) -> str | None:
        value = self._take(name, optional)
        if value is None or isinstance(value, str):
            return value
        self._holds(name, kind_of(value), "text belongs")
        return None

    def timestamp(self, name: str = "timestamp", *, optional: bool = True) -> int | None:
        """Epoch milliseconds: text in everything that Kafka writes, a number from others."""
        return self._number(name, optional, "epoch milliseconds belong")

    def long(self, name: str) -> int | None:
        """A number from 0 that Kafka writes as text, for readers who have no 64 bits."""
        value = self._number(name, optional=False, wanted="a number belongs")
        if value is not None and value < 0:
            self._holds(name, "a number out of range", f"0 to {LONG_MAX} belongs")
            return None
        return value

    def table(self, name: str, *, optional: bool = False) -> dict[str, Any] | None:
        value = self._take(name, optional)
        if value is None or isinstance(value, dict):
            return value
        self._holds(name, kind_of(value), "an object belongs")
        return None

    def items(self, name: str, *, optional: bool = False) -> list[Any] | None:
        value = self._take(name, optional)
        if value is None or isinstance(value, list):
            return value
        self._holds(name, kind_of(value), "a list belongs")
        return None

    def _number(self, name: str, optional: bool, wanted: str) -> int | None:
        value = self._take(name, optional)
        if isinstance(value, str):
            # 19 digits at most: what fits Java's long
            value = int(value) if re.fullmatch(r"-?[0-9]{1,19}", value) else value
        if value is None or (type(value) is int and abs(value) <= LONG_MAX):
            return value
        self._holds(name, kind_of(value), wanted)
        return None

    def _take(self, name: str, optional: bool) -> Any:
        """The raw value; None where it is missing or null, which is noted unless the field is optional."""
        value = self.fields.get(name)
        if value is None and not optional:
            self.note(f'"{name}" holds null' if name in self.fields else f'"{name}" is missing')
        return value

    def _holds(self, name: str, found: str, wanted: str) -> None:
        self.note(f'"{name}" holds {found} where {wanted}')
