"""Which page is seen of each long list of a review: partitions, values, steps that are written."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from zkdash.web.frame import listing, shapes
from zkdash.web.frame.listing import Pager, Slice
from zkdash.web.frame.parameters import Parameters
from zkdash.web.frame.shapes import Schema

NAMES: Final = ("partitions", "values", "written")
_WORDS: Final = {"partitions": "the partitions", "values": "the values", "written": "the steps"}
_PARAMETERS: Final = Parameters(frozenset(NAMES), most=20)
SHAPE: Final[dict[str, Schema]] = dict.fromkeys(NAMES, shapes.PAGE)


class Pages(msgspec.Struct, frozen=True):
    """The page of each list, from 1."""

    partitions: int = 1
    values: int = 1
    written: int = 1

    def pager(self, name: str, cut: Slice) -> Pager:
        """Where one of the lists stands; the others stay where they are."""
        return listing.of_pages(cut.at, cut.pages, lambda at: self._address(name, at), _WORDS[name])

    def _address(self, name: str, at: int) -> str:
        return f"?{_write(msgspec.structs.replace(self, **{name: at}))}#{name}"


FIRST: Final = Pages()


def read(raw: str) -> Pages:
    """What a query asks for."""
    return _understood(raw)[0]


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """The query without its defaults, and a sentence for each value that is left out."""
    pages, notes = _understood(raw)
    return _write(pages), notes


def _write(pages: Pages) -> str:
    return urlencode([(name, number) for name in NAMES if (number := getattr(pages, name)) > 1])


def _understood(raw: str) -> tuple[Pages, tuple[str, ...]]:
    given = _PARAMETERS.read(raw)
    numbers: dict[str, Any] = {
        name: listing.page_number(given.last_as_written(name, "1"), given.notes) for name in NAMES
    }
    return Pages(**numbers), tuple(given.notes)
