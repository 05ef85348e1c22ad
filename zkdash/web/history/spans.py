"""The time that a page of what was is asked for: `?last=6h`, or `?from=…&to=…` in UTC."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode

import msgspec

from zkdash.history.queries import window as windows
from zkdash.history.queries.window import Span, Window
from zkdash.time_units import DAY_MS, HOUR_MS, MINUTE_MS
from zkdash.web.frame import times
from zkdash.web.frame.parameters import Parameters, of_canonical

LASTS: Final = {"1h": HOUR_MS, "6h": 6 * HOUR_MS, "1d": DAY_MS, "7d": 7 * DAY_MS, "30d": 30 * DAY_MS}
_DEFAULT: Final = "1h"
_LONGEST_MS: Final = 3_660 * DAY_MS
_PARAMETERS: Final = Parameters(frozenset({"last", "from", "to"}), longest=60, most=20)
_EXAMPLE: Final = "2026-11-20T10:42Z"


class SpanChoice(msgspec.Struct, frozen=True):
    """The window, and the name of the choice that it is ("" where it was given by its ends)."""

    window: Window
    last: str = ""


class Choice(msgspec.Struct, frozen=True):
    """A stretch of time to choose."""

    words: str
    href: str
    is_current: bool


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """The query with what is not understood left out, and a sentence for each of these."""
    given = _PARAMETERS.read(raw)
    notes = given.notes
    ends = {name: given.last(name) for name in ("from", "to") if name in given}
    last = given.last_as_written("last")
    if "from" in ends and "to" in ends:
        first, until = map(instant, (ends["from"], ends["to"]))
        if first is not None and until is not None and 0 < until - first <= _LONGEST_MS:
            return urlencode([("from", written(first)), ("to", written(until))]), tuple(notes)
        notes.append(
            f"“{ends['from']}” to “{ends['to']}” is not a time to look at: both are to be UTC, like "
            f"{_EXAMPLE}, the first before the second, ten years apart at most."
        )
    elif "to" in ends:
        notes.append("The parameter “to” needs a “from”.")
    if last in LASTS:
        return ("" if last == _DEFAULT else urlencode({"last": last})), tuple(notes)
    if last:
        notes.append(f"“{last}” is no span of time; there are {', '.join(LASTS)}.")
    return "", tuple(notes)


def chosen(query: str, now_ms: int) -> SpanChoice:
    """The window of a canonical query."""
    given = of_canonical(query)
    first, until = instant(given.get("from", "")), instant(given.get("to", ""))
    if first is not None and until is not None:
        return SpanChoice(windows.window(first, until))
    last = given.get("last", _DEFAULT)
    window = windows.window(now_ms - LASTS[last], now_ms)
    return SpanChoice(Window(window.to_ms - LASTS[last], window.to_ms, window.step_ms), last)


def choices(last: str, link: Callable[[str], str]) -> tuple[Choice, ...]:
    """The stretches that end now; `last` names the one that is shown, `link` makes their addresses."""
    return tuple(Choice(f"last {name}", link(name), name == last) for name in LASTS)


def of(span: Span) -> str:
    """The query for a span that the tables know."""
    return urlencode({"from": written(span.from_ms), "to": written(span.to_ms + MINUTE_MS)})


def instant(text: str) -> int | None:
    """Epoch ms of an instant in ISO 8601; one without an offset is UTC. None for what is none."""
    try:
        moment = datetime.datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
        instant_ms = int(moment.timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return instant_ms if instant_ms >= 0 else None


def written(epoch_ms: int) -> str:
    """To the minute, as `instant` reads it."""
    moment = times.utc(epoch_ms)
    return "" if moment is None else f"{moment:%Y-%m-%dT%H:%MZ}"
