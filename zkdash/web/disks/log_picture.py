"""A partition's segments on an axis of time, a lane a replica."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.history.queries.disks import LogSegment, PartitionLog
from zkdash.live.parts import Block
from zkdash.web.drawing import lanes
from zkdash.web.drawing.lanes import Stretch
from zkdash.web.frame import times

MOST_LANES: Final = 20
MOST_STRETCHES: Final = 300  # of a lane, the newest


class Lane(msgspec.Struct, frozen=True):
    """A replica: its broker in words, and its segments."""

    name: str
    svg: SafeString


class Picture(msgspec.Struct, frozen=True):
    """Lanes over the same time. `rest` counts the replicas that are left out."""

    lanes: tuple[Lane, ...] = ()
    begin: str = ""
    end: str = ""
    rest: int = 0


def block(log: PartitionLog, due: Collection[LogSegment]) -> Block:
    """The part of the page. Segments in `due` are deleted by retention at a time that is known."""
    return Block(id="log-lanes", template="disks/log_lanes.html", values=picture(log, due))


def picture(log: PartitionLog, due: Collection[LogSegment]) -> Picture:
    """Segments from the time of their first entry to the newest in them; without times there is none."""
    replicas = {
        directory: [*_stretches(list(segments), due)][-MOST_STRETCHES:]
        for directory, segments in groupby(log.segments, key=lambda segment: segment.directory)
    }
    drawn = [(directory, stretches) for directory, stretches in replicas.items() if stretches]
    if not drawn:
        return Picture()
    begin = min(stretch.from_ms for _, stretches in drawn for stretch in stretches)
    end = max(stretch.to_ms for _, stretches in drawn for stretch in stretches)
    brokers = {each.directory: each.broker for each in log.replicas}
    made = []
    for directory, stretches in drawn[:MOST_LANES]:
        broker = brokers.get(directory)
        name = directory if broker is None else f"Broker {broker}"
        label = f"{name}: {len(stretches)} segments from {_moment(stretches[0].from_ms)}"
        made.append(Lane(name, lanes.lane(stretches, begin, max(end, begin + 1), label=label)))
    return Picture(tuple(made), _moment(begin), _moment(end), max(0, len(drawn) - MOST_LANES))


def _stretches(segments: list[LogSegment], due: Collection[LogSegment]) -> Iterator[Stretch]:
    """Of a segment without timestamps from when the one before it was changed to when it was."""
    changed: int | None = None
    for segment in segments:
        begin = segment.first_ms if segment.first_ms is not None else changed
        end = segment.last_ms if segment.last_ms is not None else segment.changed_ms
        changed = segment.changed_ms
        if segment.bytes:
            kind = "damaged" if segment.damaged else "due" if segment in due else "segment"
            yield Stretch(end if begin is None else min(begin, end), end, kind)


def _moment(epoch_ms: int) -> str:
    moment = times.utc(epoch_ms)
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else str(epoch_ms)
