"""Whether a broker was registered, over the last day: as far as this process knows, else unknown."""

from __future__ import annotations

from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.history.queries.lanes import NOTHING
from zkdash.live.parts import Block
from zkdash.live.snapshot import Snapshot
from zkdash.time_units import DAY_MS, MINUTE_MS
from zkdash.web.drawing import lanes
from zkdash.web.drawing.lanes import Stretch
from zkdash.web.frame import links, times
from zkdash.web.history import lane_stretches

PART: Final = "presence"


class Presence(msgspec.Struct, frozen=True):
    """The stretches of one day, the last of which is now. `href` is the Timeline of that day."""

    from_ms: int
    to_ms: int
    stretches: tuple[Stretch, ...]
    href: str

    @property
    def sentence(self) -> str:
        """The same in words."""
        lengths = dict.fromkeys(("up", "down", lane_stretches.UNKNOWN), 0)
        for stretch in self.stretches:
            lengths[stretch.kind] += stretch.to_ms - stretch.from_ms
        away = sum(stretch.kind == "down" for stretch in self.stretches)
        clauses = [f"registered for {times.span_text(lengths['up'])}"] if lengths["up"] else []
        clauses += [f"away for {times.span_text(lengths['down'])} ({away}×)"] if away else []
        clauses += [f"unknown for {times.span_text(lengths[lane_stretches.UNKNOWN])}"]
        return ", ".join(clauses[: None if lengths[lane_stretches.UNKNOWN] else -1])

    @property
    def svg(self) -> SafeString:
        return lanes.lane(self.stretches, self.from_ms, self.to_ms, label=f"Last day: {self.sentence}")


def block(snapshot: Snapshot, number: int | None) -> Block:
    """The live part; empty of a broker that is not there (`number` is None) or before the first load."""
    shown = None if number is None or not snapshot.state.loaded else _of(snapshot, number)
    return Block(id=PART, template="brokers/presence.html", values=shown, is_kept=True)


def _of(snapshot: Snapshot, number: int) -> Presence:
    now = lane_stretches.proved_ms(snapshot)
    # The window moves on by a minute at a time: an open page is sent the picture as often.
    to_ms = now - now % MINUTE_MS + MINUTE_MS
    from_ms = to_ms - DAY_MS
    stretches = [
        msgspec.structs.replace(stretch, to_ms=to_ms) if stretch.to_ms == now else stretch
        for stretch in lane_stretches.broker(number, snapshot, snapshot.incidents.newest, NOTHING)
    ]
    return Presence(
        from_ms,
        to_ms,
        lane_stretches.filled(stretches, from_ms, to_ms),
        links.cluster(
            snapshot.cluster,
            "timeline/",
            links.query(
                [
                    ("broker", str(number)),
                    ("from", times.utc_text(from_ms) or ""),
                    ("to", times.utc_text(to_ms) or ""),
                ]
            ),
        ),
    )
