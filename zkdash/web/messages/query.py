"""What an address asks of a partition: which messages, how many, which of them, and how they are shown."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

import msgspec

from zkdash.broker.messages.values import At, Before, From, Last, Place
from zkdash.web.frame.parameters import Given, Parameters
from zkdash.web.history import spans

LAST, FROM, BEFORE, TIME = "last", "from", "before", "time"
PLACES: Final = {LAST: "the last", FROM: "from an offset", BEFORE: "before an offset", TIME: "from a time"}
AUTO, TEXT, JSON, HEX = "auto", "text", "json", "hex"
FORMATS: Final = {AUTO: "as it is", TEXT: "text", JSON: "JSON", HEX: "hex"}
USUAL: Final = 50
_MOST_OFFSET: Final = (1 << 63) - 1
_PARAMETERS: Final = Parameters(
    frozenset({"partition", "place", "offset", "time", "count", "q", "show", "as"}), longest=200, most=30
)


NO_PLACE: Final = "Which messages? Write place=last, from, before or time."


class FaultError(ValueError):
    """What is asked for cannot be looked for; one sentence says what to write."""


class Asked(msgspec.Struct, frozen=True):
    """What was asked for: `place` is None where nothing is to be fetched yet.

    `q` is what a message must hold, `shows` whether keys and values are shown, `how` in which format.
    """

    partition: int = 0
    place: Place | None = None
    count: int = USUAL
    q: str = ""
    shows: bool = False
    how: str = AUTO

    @property
    def words(self) -> str:
        """Which messages, for the audit."""
        match self.place:
            case From(offset):
                return f"from offset {offset}"
            case Before(offset):
                return f"before offset {offset}"
            case At(time_ms):
                return f"from the time {time_ms}"
            case _:
                return f"the last {self.count}"

    def query(self, place: Place | None, *, shows: bool | None = None) -> str:
        """The query of an address that asks the same of another place."""
        pairs: list[tuple[str, object]] = [("partition", self.partition)]
        match place:
            case Last():
                pairs.append(("place", LAST))
            case From(offset):
                pairs += [("place", FROM), ("offset", offset)]
            case Before(offset):
                pairs += [("place", BEFORE), ("offset", offset)]
            case At(time_ms):
                pairs += [("place", TIME), ("time", time_ms)]
        pairs.append(("count", self.count))
        if self.q:
            pairs.append(("q", self.q))
        if self.how != AUTO:
            pairs.append(("as", self.how))
        if self.shows if shows is None else shows:
            pairs.append(("show", 1))
        return urlencode(pairs, errors="surrogatepass")


def read(raw: str, most: int) -> tuple[Asked, tuple[str, ...]]:
    """What a raw query asks, and sentences about what was not understood of how it is to be shown.

    Raises FaultError: where it is not sure which messages are meant, none are looked at.
    """
    given = _PARAMETERS.read(raw)
    how = given.last("as", AUTO)
    if how not in FORMATS:
        given.notes.append(f"“{how}” is no format; there are {', '.join(FORMATS)}.")
        how = AUTO
    wanted = Asked(
        partition=_number(given, "partition", 0, 0, (1 << 31) - 1),
        place=_place(given),
        count=_number(given, "count", min(USUAL, most), 1, most),
        q=given.last("q"),
        shows=given.last("show") == "1",
        how=how,
    )
    return wanted, tuple(given.notes)


def _place(given: Given) -> Place | None:
    place = given.last("place")
    if not place:
        return None
    if place == LAST:
        return Last()
    if place == TIME:
        return At(_time(given.last("time")))
    if place not in PLACES:
        raise FaultError(f"“{place}” is no place in a log: write place=last, from, before or time.")
    if not given.last("offset"):
        raise FaultError(f"Which offset? Write place={place} with an offset, as offset=1200.")
    offset = _number(given, "offset", 0, 0, _MOST_OFFSET)
    return From(offset) if place == FROM else Before(offset)


def _time(text: str) -> int:
    """Epoch milliseconds, written so or as ISO 8601."""
    if text.isascii() and text.isdecimal() and len(text) <= 15:
        return int(text)
    moment = spans.instant(text.replace(" ", "+"))
    if moment is None:
        moment = spans.instant(text)
    if moment is None:
        raise FaultError(f"“{text}” is no time: write UTC, as 2026-11-20T10:42Z, or epoch milliseconds.")
    return moment


def _number(given: Given, name: str, usual: int, least: int, most: int) -> int:
    text = given.last(name)
    if not text:
        return usual
    if text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and least <= int(text) <= most:
        return int(text)
    raise FaultError(f"“{text}” is no {name}: write a number from {least} to {most}.")
