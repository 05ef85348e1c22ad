"""Which moment an address asks for: `?at=` a time, so long ago, after a transaction, or the newest recorded.

`from=` beside it asks what differs between an earlier moment and that one.
"""

from __future__ import annotations

import datetime
import re
import time
from typing import Final

import msgspec
from django.http import HttpRequest

from zkdash.history.queries import density
from zkdash.web.frame import links

NAME: Final = "at"
SINCE: Final = "from"
WIDTH: Final = "width"
_EXAMPLES: Final = "2026-11-20T10:42Z, -15m, -2h, zxid:0x500000012, zxid:21474836498 or latest"
_UNITS_S: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_AGO: Final = re.compile(r"-(\d{1,7})([smhd])", re.ASCII)
_ZXID: Final = re.compile(r"zxid:(0x[0-9a-f]{1,16}|\d{1,19})", re.ASCII)
_MOST_ZXID: Final = (1 << 63) - 1
_LONGEST: Final = 60
# What a schema says of it: all but a leap day.
PATTERN: Final = (
    "^(latest|-[0-9]{1,5}[smh]|-[0-9]{1,4}d|zxid:(0x[0-9a-f]{1,15}|[0-9]{1,18})|"
    "(19[7-9][0-9]|20[0-9]{2})-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|"
    "(0[13578]|1[02])-31)T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{3})?)?Z?)$"
)


class UnreadableError(ValueError):
    """What is asked for is no moment; one sentence says what one looks like."""


class At(msgspec.Struct, frozen=True):
    """A moment as it is asked for: of a time (epoch ms), or after a transaction; both are None of the newest.

    `text` asks for the very same at any time. `since` is the moment that it is compared with. `width` is that
    of the bar of time, which leads to the changes `below` some paths, those that the page is about.
    """

    text: str
    time_ms: int | None = None
    zxid: int | None = None
    since: At | None = None
    width: str = density.USUAL
    below: tuple[str, ...] = ()

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What a link has that stays at the moment."""
        return ((NAME, self.text), *(((WIDTH, self.width),) if self.width != density.USUAL else ()))


def is_asked(request: HttpRequest, *, compares: bool = False) -> bool:
    """Whether a request asks for a moment, as one for a page that `compares` also does by `from=` alone."""
    return NAME in request.GET or (compares and SINCE in request.GET)


def read(
    request: HttpRequest, now_ms: int | None = None, *, compares: bool = False, below: tuple[str, ...] = ()
) -> At:
    """What a request asks for. Raises UnreadableError."""
    now_ms = int(time.time() * 1000) if now_ms is None else now_ms
    at = moment(request.GET.get(NAME, links.LATEST if compares else ""), NAME, now_ms)
    width = request.GET.get(WIDTH, density.USUAL)
    at = msgspec.structs.replace(at, width=width if width in density.WIDTHS else density.USUAL, below=below)
    if not compares or SINCE not in request.GET:
        return at
    return msgspec.structs.replace(at, since=moment(request.GET[SINCE], SINCE, now_ms))


def moment(text: str, name: str, now_ms: int) -> At:
    """The moment that the parameter of a name asks for. Raises UnreadableError."""
    given = text.strip()
    if given == links.LATEST:
        return At(given)
    if zxid := _ZXID.fullmatch(given.lower()):
        number = int(zxid[1], 0) if zxid[1].startswith("0x") else int(zxid[1])
        if number <= _MOST_ZXID:
            return of_zxid(number)
    time_ms = _ago(given, now_ms) if given.startswith("-") else _time(given)
    if time_ms is None:
        raise UnreadableError(f"“{given[:_LONGEST]}” is no moment. Write {name}={_EXAMPLES}.")
    return of_time(time_ms)


def of_time(time_ms: int) -> At:
    """The moment of a time that a calendar holds."""
    return At(links.at_time(time_ms), time_ms=time_ms)


def of_zxid(zxid: int) -> At:
    return At(links.at_zxid(zxid), zxid=zxid)


def _ago(given: str, now_ms: int) -> int | None:
    parts = _AGO.fullmatch(given)
    time_ms = now_ms - int(parts[1]) * _UNITS_S[parts[2]] * 1000 if parts else -1
    return time_ms if time_ms >= 0 else None


def _time(given: str) -> int | None:
    """A time as ISO 8601 has it, in UTC where it does not say otherwise."""
    try:
        # in an address a plus is a blank
        when = datetime.datetime.fromisoformat(given[:_LONGEST].replace(" ", "T"))
        when = when if when.tzinfo else when.replace(tzinfo=datetime.UTC)
        time_ms = round(when.timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return time_ms if time_ms >= 0 and "T" in given.replace(" ", "T") else None
