"""The lanes of a Timeline: who was there, who was the controller, what was out of sync, who rebalanced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec
from django.utils.safestring import SafeString

from zkdash.cluster.incidents import Incident
from zkdash.history.queries.lanes import NOTHING, Past
from zkdash.history.queries.window import Span
from zkdash.live.queue import Queue
from zkdash.live.recent_numbers import EVERY_S
from zkdash.live.snapshot import Snapshot
from zkdash.time_units import HOUR_MS
from zkdash.web.drawing import lanes, series, svg
from zkdash.web.drawing.lanes import Stretch
from zkdash.web.frame import links, times
from zkdash.web.history import lane_stretches
from zkdash.web.history.lane_stretches import UNKNOWN

MOST_BROKERS: Final = 40
_MOST_GROUPS: Final = 8
_STEPS: Final = 120
# So many stretches of a lane are told in words, the last ones.
_MOST_TOLD: Final = 20
_ZOOM: Final = 4

UNDER_REPLICATED: Final = "under_replicated"
OFFLINE: Final = "offline"


class Sample(NamedTuple):
    """A number of partitions that was seen from one instant to another (epoch ms)."""

    from_ms: int
    to_ms: int
    value: int


class Lane(msgspec.Struct, frozen=True):
    """One line of the picture: stretches, or the values of `line` in steps of the window with the stretches
    of which none is known."""

    name: str
    told: str
    stretches: tuple[Stretch, ...] = ()
    line: tuple[float | None, ...] | None = None
    severity: str = ""
    from_ms: int = 0
    to_ms: int = 0
    has_names: bool = False

    def svg(self) -> SafeString:
        if self.line is not None:
            gaps = lanes.lane(self.stretches, self.from_ms, self.to_ms, label="")
            return svg.joined(series.sparkline(self.line, label=self.told, severity=self.severity), gaps)
        drawn = lanes.lane(self.stretches, self.from_ms, self.to_ms, label=self.told)
        if not self.has_names:
            return drawn
        return svg.joined(drawn, lanes.names(self.stretches, self.from_ms, self.to_ms))


class Window(msgspec.Struct, frozen=True):
    """The time that is drawn, in epoch ms, with where it can be seen closer, wider, and elsewhere."""

    from_ms: int
    to_ms: int
    ticks: tuple[str, ...] = ()
    moves: tuple[tuple[str, str], ...] = ()


class Picture(msgspec.Struct, frozen=True):
    """The lanes over one window. `rest` counts the brokers that are left out."""

    window: Window
    lanes: tuple[Lane, ...]
    rest: int = 0


def window(cluster: str, from_ms: int, to_ms: int, pairs: Iterable[tuple[str, str]], now_ms: int) -> Window:
    """The window, and the addresses that show another one with the same filters."""
    length = to_ms - from_ms
    others = [(name, value) for name, value in pairs if name not in {"from", "to"}]

    def address(begin: int, end: int) -> str:
        ends = [("from", times.utc_text(begin) or ""), ("to", times.utc_text(end) or "")]
        return links.cluster(cluster, "timeline/", links.query([*others, *ends]))

    inner, outer = length // _ZOOM, length * _ZOOM
    middle = (from_ms + to_ms) // 2
    moves = [
        ("Earlier", address(max(from_ms - length, 0), to_ms - length)),
        ("Zoom in", address(middle - inner // 2, middle + inner // 2)),
        ("Zoom out", address(max(middle - outer // 2, 0), middle + outer // 2)),
    ]
    if to_ms < now_ms:
        moves.append(("Later", address(to_ms, to_ms + length)))
    moves.append(("Last hour", links.cluster(cluster, "timeline/", links.query(others))))
    return Window(from_ms, to_ms, tuple(_ticks(from_ms, to_ms)), tuple(moves))


def picture(
    snapshot: Snapshot, incidents: Iterable[Incident], shown: Window, past: Past = NOTHING
) -> Picture:
    """What is known of the window: of a cluster that is watched, and from its tables."""
    stories = tuple(incidents)
    brokers = sorted(
        {
            *snapshot.state.brokers,
            *(number for incident in stories for number in incident.brokers),
            *(term.broker for term in past.registered),
        }
    )
    drawn = [
        *(_broker(number, snapshot, stories, shown, past) for number in brokers[:MOST_BROKERS]),
        _line("under-replicated", "warning", shown, _samples(snapshot, shown, past, UNDER_REPLICATED)),
        _line("offline", "critical", shown, _samples(snapshot, shown, past, OFFLINE)),
        _controller(snapshot, stories, shown, past),
        *_groups(snapshot, stories, shown, past),
        _stretches("actions", shown, _actions(snapshot.queue, shown), _queued(snapshot.queue, shown)),
    ]
    return Picture(
        shown,
        tuple(lane for lane in drawn if _says_anything(lane)),
        max(0, len(brokers) - MOST_BROKERS),
    )


def _says_anything(lane: Lane) -> bool:
    if lane.line is not None:
        return any(value is not None for value in lane.line)
    return any(stretch.kind != UNKNOWN for stretch in lane.stretches)


def _broker(
    number: int, snapshot: Snapshot, stories: tuple[Incident, ...], shown: Window, past: Past
) -> Lane:
    pieces = lane_stretches.broker(number, snapshot, stories, past)
    stretches = lane_stretches.filled(pieces, shown.from_ms, shown.to_ms)
    down = sum(stretch.kind == "down" for stretch in stretches)
    there = "there" if any(stretch.kind == "up" for stretch in stretches) else "not seen there"
    words = f"{down} {'time' if down == 1 else 'times'} away" if down else there
    return _lane(f"broker {number}", words, stretches, shown)


def _controller(snapshot: Snapshot, stories: Iterable[Incident], shown: Window, past: Past) -> Lane:
    changes = (*(change for story in stories for change in story.rows), *snapshot.incidents.singles)
    pieces = lane_stretches.controller(snapshot, changes, past)
    stretches = lane_stretches.filled(pieces, shown.from_ms, shown.to_ms)
    words = ", ".join(
        f"{stretch.name or 'none'} until {times.utc_text(stretch.to_ms)}"
        for stretch in stretches[-_MOST_TOLD:]
        if stretch.kind != UNKNOWN
    )
    lane = _lane("controller", words or "not known", stretches, shown)
    return msgspec.structs.replace(lane, has_names=True)


def _lane(name: str, words: str, stretches: tuple[Stretch, ...], shown: Window) -> Lane:
    """With what is not known of the window, in words."""
    gaps = sorted(
        (stretch for stretch in stretches if stretch.kind == UNKNOWN), key=lambda stretch: stretch.from_ms
    )
    if gaps:
        first = gaps[0]
        only = len(gaps) == 1 and first.from_ms == shown.from_ms
        words += (
            f", not known before {times.utc_text(first.to_ms)}" if only else ", with gaps that nobody knows"
        )
    return Lane(name, f"{name}: {words}", stretches, from_ms=shown.from_ms, to_ms=shown.to_ms)


def _groups(snapshot: Snapshot, stories: tuple[Incident, ...], shown: Window, past: Past) -> Iterator[Lane]:
    known_spans = (*past.spans, *lane_stretches.watched(snapshot, stories))
    by_group = lane_stretches.rebalances(stories, past, shown.to_ms)
    for name, stretches in sorted(by_group.items(), key=lambda item: -len(item[1]))[:_MOST_GROUPS]:
        yield _stretches(name, shown, stretches, known_spans)


def _actions(queue: Queue, shown: Window) -> Iterator[Stretch]:
    for entry in queue.entries:
        if entry.started is not None:
            until = shown.to_ms if entry.ended is None else entry.ended
            yield Stretch(entry.started, until, "action")


def _queued(queue: Queue, shown: Window) -> tuple[Span, ...]:
    """The time of which all actions are at hand."""
    if not queue.read or queue.trouble:
        return ()
    oldest = min((entry.requested for entry in queue.entries), default=0) if queue.more else 0
    return (Span(min(oldest, shown.to_ms), shown.to_ms),)


def _stretches(name: str, shown: Window, stretches: Iterable[Stretch], known_spans: Iterable[Span]) -> Lane:
    """What happened now and then, over what of the window nobody knows."""
    inside = tuple(
        stretch for stretch in stretches if stretch.from_ms < shown.to_ms and stretch.to_ms >= shown.from_ms
    )
    words = [f"{len(inside)} {'stretch' if len(inside) == 1 else 'stretches'}"]
    words += [stretch.name for stretch in inside[-_MOST_TOLD:] if stretch.name]
    gaps = lane_stretches.gaps(known_spans, shown.from_ms, shown.to_ms)
    return _lane(name, "; ".join(words), (*gaps, *inside), shown)


def _samples(snapshot: Snapshot, shown: Window, past: Past, of: str) -> Iterator[Sample]:
    """What was counted, from when to when: in the minutes of the tables, and every few seconds since."""
    by_step = {step.from_ms: getattr(step, of) for step in past.steps}
    for span in past.spans:
        first = max(span.from_ms, shown.from_ms)
        for begin in range(first - first % past.step_ms, min(span.to_ms, shown.to_ms), past.step_ms):
            yield Sample(begin, begin + past.step_ms, by_step.get(begin, 0))
    for numbers in snapshot.recent:
        value = getattr(numbers, of)
        if value is not None:
            yield Sample((numbers.at - EVERY_S) * 1000, numbers.at * 1000, value)


def _line(name: str, severity: str, shown: Window, samples: Iterable[Sample]) -> Lane:
    """The highest of each step; where nothing was counted, an unknown stretch."""
    wide = max((shown.to_ms - shown.from_ms) / _STEPS, EVERY_S * 1000)
    count = max(1, round((shown.to_ms - shown.from_ms) / wide))
    values: list[float | None] = [None] * count
    for sample in samples:
        first = max(0, int((sample.from_ms - shown.from_ms) // wide))
        last = min(count - 1, int((sample.to_ms - 1 - shown.from_ms) // wide))
        for place in range(first, last + 1):
            values[place] = max(sample.value, values[place] or 0)
    counted = [value for value in values if value is not None]
    gaps = lane_stretches.filled(_known(values, shown, wide), shown.from_ms, shown.to_ms)
    lane = _lane(name, f"at most {max(counted):g}" if counted else "not known", gaps, shown)
    unknown = tuple(stretch for stretch in gaps if stretch.kind == UNKNOWN)
    return msgspec.structs.replace(lane, stretches=unknown, line=tuple(values), severity=severity)


def _known(values: Iterable[float | None], shown: Window, wide: float) -> Iterator[Stretch]:
    for place, value in enumerate(values):
        if value is not None:
            begin = shown.from_ms + int(place * wide)
            yield Stretch(begin, shown.from_ms + int((place + 1) * wide), "counted")


def _ticks(from_ms: int, to_ms: int) -> Iterator[str]:
    """The times at five places of the window, with the day where it is longer than one."""
    for number in range(5):
        moment = times.utc(from_ms + (to_ms - from_ms) * number // 4)
        if moment is not None:
            yield f"{moment:%m-%d %H:%M}" if to_ms - from_ms > 24 * HOUR_MS else f"{moment:%H:%M:%S}"
