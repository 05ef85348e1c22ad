"""The bar of time on each page of the past: which moment it is, who recorded it, and the ways to others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import msgspec
from django.http import QueryDict

from zkdash.cluster.changes import row
from zkdash.history.queries.instants import Instant
from zkdash.live.snapshot import Past
from zkdash.web.frame import links, shapes, times
from zkdash.web.past import asked

_MINUTE_MS: Final = 60_000
_STEPS: Final = (
    ("−1 h", -60 * _MINUTE_MS),
    ("−15 m", -15 * _MINUTE_MS),
    ("−1 m", -_MINUTE_MS),
    ("+1 m", _MINUTE_MS),
    ("+15 m", 15 * _MINUTE_MS),
    ("+1 h", 60 * _MINUTE_MS),
)
# How programs hear who recorded a moment, and how people do.
_BY: Final = {row.LOGGED: "logs", row.WATCHED: "recorder"}
_WHO: Final = {row.LOGGED: "ZooKeeper’s own logs", row.WATCHED: "zkdash’s recorder"}


class Way(msgspec.Struct, frozen=True):
    """To another moment; `href` is "" where there is none."""

    label: str
    href: str


class Bar(msgspec.Struct, frozen=True):
    """What templates/frame/time_bar.html shows, times in UTC: they are looked at beside other times.

    `at` is the moment as the script reads it, by which a page of the past words other times.
    """

    title: str
    at: str
    zxid: str
    who: str
    since: str
    until: str
    why: str
    ways: tuple[Way, ...]
    now: str
    differences: str


def of(cluster: str, past: Past, path: str, query: QueryDict, now_ms: int | None = None) -> Bar:
    """The bar of the page of a cluster at `path` that was asked for by `query`."""
    now_ms = int(time.time() * 1000) if now_ms is None else now_ms
    around, at_ms = past.around, past.instant.time_ms
    steps = [
        Way(label, _way(query, asked.of_time(at_ms + by).text) if 0 <= at_ms + by <= now_ms else "")
        for label, by in _STEPS
    ]
    half = len(steps) // 2
    here = asked.of_zxid(past.instant.zxid).text
    ways = (
        *steps[:half],
        Way("Previous change", _change(query, around.previous)),
        Way("Next change", _change(query, around.following)),
        *steps[half:],
    )
    return Bar(
        title=_words(at_ms),
        at=times.utc_text(at_ms) or "",
        zxid=f"0x{past.instant.zxid:x}",
        who=_WHO[around.source],
        since=_words(around.from_ms),
        until=_words(around.to_ms),
        why=around.why,
        ways=ways,
        now=_now(path, query),
        differences=links.differences(cluster, here, links.LATEST),
    )


def elsewhere(path: str, query: QueryDict, near_ms: Sequence[int] = ()) -> tuple[tuple[str, str], ...]:
    """Where to go from a moment that is not told: moments next to it that are, and now; label and address."""
    near = [
        (f"As it was at {_words(at_ms)} UTC", _way(query, asked.of_time(at_ms).text))
        for at_ms in dict.fromkeys(near_ms)
    ]
    return (*near, ("This page now", _now(path, query)))


def the_other_way_round(query: QueryDict) -> tuple[tuple[str, str], ...]:
    """Where to go from an address whose two moments are the wrong way round; label and address."""
    changed = query.copy()
    changed[asked.NAME], changed[asked.SINCE] = query.get(asked.SINCE, ""), query.get(asked.NAME, "")
    return (("The other way round", f"?{changed.urlencode()}"),)


def record(past: Past) -> dict[str, str | int | None]:
    """What JSON says of the moment beside what every answer has."""
    around = past.around
    return {
        "at": times.utc_text(past.instant.time_ms),
        "zxid": past.instant.zxid,
        "recorded_by": _BY[around.source],
        "whole_from": times.utc_text(around.from_ms),
        "whole_to": times.utc_text(around.to_ms),
        "previous": _text(around.previous),
        "next": _text(around.following),
    }


RECORD: Final = shapes.fields(
    at=shapes.TEXT_OR_NULL,
    zxid=shapes.INTEGER_OR_NULL,
    recorded_by={"type": "string", "enum": list(_BY.values())},
    whole_from=shapes.TEXT_OR_NULL,
    whole_to=shapes.TEXT_OR_NULL,
    previous=shapes.TEXT_OR_NULL,
    next=shapes.TEXT_OR_NULL,
)


def _words(epoch_ms: int) -> str:
    return (times.utc_text(epoch_ms) or f"{epoch_ms} ms")[:19].replace("T", " ")


def _text(instant: Instant | None) -> str | None:
    return None if instant is None else asked.of_zxid(instant.zxid).text


def _change(query: QueryDict, instant: Instant | None) -> str:
    return "" if instant is None else _way(query, asked.of_zxid(instant.zxid).text)


def _way(query: QueryDict, at: str) -> str:
    changed = query.copy()
    changed[asked.NAME] = at
    return f"?{changed.urlencode()}"


def _now(path: str, query: QueryDict) -> str:
    changed = query.copy()
    changed.pop(asked.NAME, None)
    return f"{path}?{changed.urlencode()}" if changed else path
