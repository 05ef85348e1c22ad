"""What the query of an address may ask: declared once a page, read within bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import parse_qs

import msgspec

# What every address may hold: the shape of the answer, the revision that a socket begins from, which moment
# of the past is asked for, and how wide its bar of time is.
EVERYWHERE: Final = frozenset({"format", "from", "at", "width"})
_MOST_DIGITS: Final = 7


def of_canonical(query: str) -> dict[str, str]:
    """The parameters of a canonical query, each of which it has once."""
    return {name: values[-1] for name, values in parse_qs(query, errors="surrogatepass").items()}


class Given:
    """The parameters of one address, and in `notes` a sentence for each that was not understood."""

    def __init__(self, values: Mapping[str, list[str]], longest: int, notes: list[str]) -> None:
        self._values, self._longest, self.notes = values, longest, notes

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def last(self, name: str, otherwise: str = "") -> str:
        """The value that was given last, cut to `longest` characters, without blanks around it."""
        return self.last_as_written(name, otherwise).strip()

    def last_as_written(self, name: str, otherwise: str = "") -> str:
        """The same with its blanks: names may begin or end with one."""
        return self._values.get(name, [otherwise])[-1][: self._longest]

    def all(self, name: str) -> tuple[str, ...]:
        """All values in their order, each cut to `longest` characters."""
        return tuple(value[: self._longest] for value in self.all_as_written(name))

    def all_as_written(self, name: str) -> tuple[str, ...]:
        """The same uncut, for who takes them apart: an address as a whole is bounded by the server."""
        return tuple(self._values.get(name, ()))

    def number(self, name: str, most: int) -> int:
        """A number from 0 to `most`; 0 where none is given, and with a note for what is no such number."""
        value = self.last_as_written(name)
        if not value:
            return 0
        if value.isascii() and value.isdecimal() and len(value) <= _MOST_DIGITS and int(value) <= most:
            return int(value)
        self.notes.append(f"“{value}” is not a number from 0 to {most} for {name}; it is left out.")
        return 0


class Parameters(msgspec.Struct, frozen=True):
    """The names that a page knows beside those of every page. `longest` bounds values, in characters.

    Nothing is read of an address with more than `most` parameters.
    """

    names: frozenset[str]
    longest: int = 200
    most: int = 100

    def read(self, raw: str) -> Given:
        """What a raw query string asks."""
        try:
            values = parse_qs(raw, max_num_fields=self.most, errors="replace")
        except ValueError:
            sentence = f"The address has more than {self.most} parameters; none of them is read."
            return Given({}, self.longest, [sentence])
        strange = (name for name in values if name not in self.names and name not in EVERYWHERE)
        notes = [f"“{name[: self.longest]}” is not a parameter of this page." for name in strange]
        return Given(values, self.longest, notes)
