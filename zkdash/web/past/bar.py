"""The bar of time on each page of the past: which moment it is, who recorded it, and the ways to others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import msgspec
from django.http import QueryDict
from django.utils.safestring import SafeString

from zkdash.cluster.changes import row
from zkdash.history.queries import density
from zkdash.history.queries.density import Density
from zkdash.history.queries.neighbours import Instant
from zkdash.history.queries.window import Window
from zkdash.live.snapshot import Past
from zkdash.time_units import DAY_MS, HOUR_MS, MINUTE_MS
from zkdash.web.drawing import changes
from zkdash.web.frame import links, shapes, times
from zkdash.web.frame.subjects import Subject
from zkdash.web.past import asked

_QUIET: Final = density.Step()
_STEPS: Final = (
    ("−1 h", -HOUR_MS),
    ("−15 m", -15 * MINUTE_MS),
    ("−1 m", -MINUTE_MS),
    ("+1 m", MINUTE_MS),
    ("+15 m", 15 * MINUTE_MS),
    ("+1 h", HOUR_MS),
)
# How programs hear who recorded a moment, and how people do.
_BY: Final = {row.LOGGED: "logs", row.WATCHED: "recorder"}
_WHO: Final = {row.LOGGED: "ZooKeeper’s own logs", row.WATCHED: "zkdash’s recorder"}


class Way(msgspec.Struct, frozen=True):
    """To another moment; `href` is "" where there is none. `rel` is "prev" or "next" of those by change."""

    label: str
    href: str
    rel: str = ""
    is_current: bool = False


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
    keep: str
    picture: SafeString
    scale: tuple[str, ...]
    steps: tuple[Way, ...]
    widths: tuple[Way, ...]


def of(
    cluster: str,
    past: Past,
    path: str,
    query: QueryDict,
    subject: Subject | None = None,
) -> Bar:
    """The bar of the page of a cluster at `path` that was asked for by `query`, and is about `subject`."""
    now_ms = int(time.time() * 1000)
    around, at_ms = past.around, past.instant.time_ms
    steps = [
        Way(label, _way(query, asked.of_time(at_ms + by).text) if 0 <= at_ms + by <= now_ms else "")
        for label, by in _STEPS
    ]
    half = len(steps) // 2
    here = asked.of_zxid(past.instant.zxid).text
    ways = (
        *steps[:half],
        Way("Previous change", _change(query, around.previous), "prev"),
        Way("Next change", _change(query, around.following), "next"),
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
        differences=links.differences(cluster, here, links.LATEST, subject.pairs if subject else ()),
        keep=links.keep(
            cluster, here, "" if past.earlier is None else links.at_zxid(past.earlier.instant.zxid)
        ),
        picture=_picture(past, query, now_ms),
        scale=_scale(past.density.window),
        steps=tuple(
            Way(_step_words(past.density, begin), _step_href(past.density, query, begin))
            for begin in sorted(past.density.steps)
        ),
        widths=tuple(
            Way(name, _width(query, name), is_current=past.density.window == density.of_width(at_ms, name))
            for name in density.WIDTHS
        ),
    )


def _scale(window: Window) -> tuple[str, ...]:
    """The times of its quarters: of the day where it is no longer than one."""
    wide = window.to_ms - window.from_ms
    place = slice(11, 16) if wide <= DAY_MS else slice(5, 10)
    return tuple(_words(window.from_ms + wide * quarter // 4)[place] for quarter in range(5))


def _picture(past: Past, query: QueryDict, now_ms: int) -> SafeString:
    around = past.density
    window = around.window
    steps = [
        changes.Step(
            begin,
            step.changes,
            "gone" if step.gone else "elected" if step.elected else "",
            _step_words(around, begin),
            _step_href(around, query, begin),
        )
        for begin in window.steps
        if begin <= now_ms
        for step in [around.steps.get(begin, _QUIET)]
    ]
    ends = [window.from_ms, *(each for span in around.known for each in (span.from_ms, span.to_ms))]
    ends.append(min(window.to_ms, max(now_ms, window.from_ms)))
    unknown = [(begin, end) for begin, end in zip(ends[::2], ends[1::2], strict=True) if end > begin]
    return changes.bar_of_time(
        steps,
        unknown,
        past.instant.time_ms,
        from_ms=window.from_ms,
        to_ms=window.to_ms,
        step_ms=window.step_ms,
    )


def _step_href(around: Density, query: QueryDict, begin: int) -> str:
    """The way to the end of a step, or to the end of what is told within it."""
    end = begin + around.window.step_ms
    told_until = max((min(span.to_ms, end) for span in around.known if span.from_ms < end), default=end)
    return _way(query, asked.of_time(told_until if told_until > begin else end - 1).text)


def _step_words(around: Density, begin: int) -> str:
    """One step in words."""
    step = around.steps.get(begin, _QUIET)
    words = [f"{_words(begin)[5:16]} UTC", f"{step.changes} change{'s' * (step.changes != 1)}"]
    if step.gone:
        words.append(f"{step.gone} broker{'s' * (step.gone != 1)} gone")
    if step.elected:
        words.append("a controller elected")
    return ", ".join(words)


def _width(query: QueryDict, width: str) -> str:
    changed = query.copy()
    changed[asked.WIDTH] = width
    return f"?{changed.urlencode()}"


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


def identity(past: Past) -> object:
    """What tells two moments of one page apart; equal where their pages are."""
    earlier = None if past.earlier is None else past.earlier.instant
    return (past.instant, past.around, past.density, earlier)


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
