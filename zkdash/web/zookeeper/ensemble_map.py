"""The ensemble at a glance: the leader first, then its followers, how far behind and how slow each is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.cluster.model.severity import Severity
from zkdash.formats.ensemble.values import Reach
from zkdash.live.parts import Block
from zkdash.live.recent_numbers import Recent, by_minute
from zkdash.web.drawing import bars, series
from zkdash.web.frame import cells
from zkdash.web.zookeeper import cells as ensemble_cells
from zkdash.web.zookeeper.cells import Row

PART: Final = "ensemble-map"
# An ensemble has a handful; the table has all of one that is configured otherwise.
_MOST: Final = 50
# The shortest scales: transactions and milliseconds that fill no bar.
_CALM: Final = 100
_QUICK_MS: Final = 10.0
_MODES: Final = ("leader", "follower", "observer", "standalone")


class Measure(msgspec.Struct, frozen=True):
    """One number of a server, on a scale that all servers share; None where it is not known, with `why`."""

    noun: str
    kind: str
    unit: str
    number: float | None
    most: float
    why: str = ""

    @property
    def words(self) -> str:
        if self.number is None:
            return "unknown"
        number = cells.grouped(self.number) if isinstance(self.number, int) else f"{self.number:.4g}"
        return f"{number} {self.unit}"

    @property
    def svg(self) -> SafeString | None:
        """A bar beside the words, where there is a number."""
        return None if self.number is None else bars.bar(self.number, self.most, kind=self.kind)


class Tile(msgspec.Struct, frozen=True):
    """One server; `mode` is what it is, or that it does not serve."""

    address: str
    mode: str
    severity: Severity
    is_leader: bool
    is_gone: bool
    measures: tuple[Measure, ...]
    hour: tuple[float | None, ...] = ()

    @property
    def spark(self) -> SafeString:
        """How its latency moved in the last hour; nothing where none is known."""
        latencies = [value for value in self.hour if value is not None]
        if not latencies:
            return SafeString("")
        least, most = (f"{latency:.4g}" for latency in (min(latencies), max(latencies)))
        sentence = f"latency of {self.address} in the last hour: from {least} to {most} ms"
        if len(latencies) < len(self.hour):
            sentence += f"; known of {len(latencies)} of {len(self.hour)} minutes"
        return series.sparkline(self.hour, label=sentence)


def block(rows: Sequence[Row], recent: Recent = ()) -> Block:
    """The live part, of the rows of the table and of the last hour; empty where no server was asked yet."""
    shown = sorted(rows[:_MOST], key=_order)
    behind = [ensemble_cells.behind(row) for row in shown]
    late = max((cell.plain for cell in behind if isinstance(cell.plain, int)), default=0)
    slow = max((row.server.told.latency_avg or 0 for row in shown), default=0)
    tiles = tuple(_tile(row, cell, late, slow, recent) for row, cell in zip(shown, behind, strict=True))
    return Block(id=PART, template="zookeeper/ensemble_map.html", values=tiles)


def _order(row: Row) -> tuple[int, str]:
    mode = row.server.told.mode
    return _MODES.index(mode) if mode in _MODES else len(_MODES), row.server.address


def _tile(row: Row, behind: cells.Cell, late: int, slow: float, recent: Recent) -> Tile:
    server = row.server
    number = behind.plain if isinstance(behind.plain, int) else None
    latency = server.told.latency_avg
    return Tile(
        address=server.address,
        mode=server.told.mode or server.reach.value,
        severity=row.severity,
        is_leader=server.told.mode == "leader",
        is_gone=server.reach is Reach.DOWN,
        measures=(
            Measure("behind", "out-of", "zxids", number, max(late, _CALM), behind.reason or ""),
            Measure(
                "latency", "replicas", "ms", latency, max(slow, _QUICK_MS), "it does not tell its latency"
            ),
        ),
        hour=by_minute(recent, lambda sample: dict(sample.latencies).get(server.address)),
    )
