"""The cluster at a glance: racks as columns, brokers as tiles, each with what it carries against the mean.

A broker that is gone, but has partitions assigned to it, keeps its place, by what it said of itself last.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.cluster.analysis import skew
from zkdash.cluster.analysis.skew import Means
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables.brokers import rows as broker_rows
from zkdash.cluster.tables.brokers.rows import BrokerRow
from zkdash.kafka.values import Broker, Layout
from zkdash.live.parts import Block
from zkdash.live.snapshot import Snapshot
from zkdash.web.brokers import departed
from zkdash.web.drawing import bars
from zkdash.web.frame import cells, links

PART: Final = "cluster-map"
# With more, tiles show no more than the id and the bars, so that 100 brokers are one screen.
ROOMY: Final = 24
# Beyond these the map says how many it leaves out: the table has all of them.
_MOST: Final = 400
# A bar has room for this many times the mean before the largest count makes it longer.
_ROOM: Final = 1.6
NO_RACK: Final = "no rack"
RACK_UNKNOWN: Final = "rack unknown"


class Scale(msgspec.Struct, frozen=True):
    """What bars of one kind are drawn against: the mean of the registered brokers, and the end of the bar."""

    mean: float
    most: float


class Count(msgspec.Struct, frozen=True):
    """One bar of a tile; `out` are those of `count` that are not in sync."""

    noun: str
    count: int
    scale: Scale
    out: int = 0

    @property
    def told(self) -> str:
        out = f", {cells.grouped(self.out)} of them out of sync" if self.out else ""
        return f"{self.noun} {cells.grouped(self.count)}{out}, mean {self.scale.mean:.1f}"

    def svg(self) -> SafeString:
        return bars.bar(
            self.count, self.scale.most, label=self.told, mean=self.scale.mean, out=self.out, kind=self.noun
        )


class Tile(msgspec.Struct, frozen=True):
    """One broker. `host` is "" where nobody knows it; `gone_ms` is None where it is not known since when."""

    id: int
    href: str
    host: str
    why: str
    is_controller: bool
    is_gone: bool
    gone_ms: int | None
    counts: tuple[Count, ...]


class Rack(msgspec.Struct, frozen=True):
    """The brokers of one rack, by id."""

    name: str
    tiles: tuple[Tile, ...]


class ClusterMap(msgspec.Struct, frozen=True):
    """What the template draws. `rest` counts the brokers that are left out, `nouns` names the bars."""

    racks: tuple[Rack, ...] = ()
    is_dense: bool = False
    rest: int = 0
    nouns: tuple[str, ...] = ()
    has_gone: bool = False
    has_out: bool = False


def block(snapshot: Snapshot) -> Block:
    """The live part; empty where no broker is known."""
    return _block(of(snapshot))


def roomy_block(snapshot: Snapshot) -> Block:
    """As `block` where brokers are few, empty where a table beside it shows more than dense tiles do."""
    many = len(broker_rows.ids(snapshot.state)) > ROOMY
    return _block(ClusterMap() if many else of(snapshot))


def _block(shown: ClusterMap) -> Block:
    return Block(id=PART, template="brokers/cluster_map.html", values=shown, is_kept=True)


def of(snapshot: Snapshot) -> ClusterMap:
    """The map of a snapshot."""
    state = snapshot.state
    means = skew.means(state)
    numbers = sorted(broker_rows.ids(state))
    rows = [
        departed.recalled(snapshot, broker_rows.broker(state, number, means)) for number in numbers[:_MOST]
    ]
    scales = _scales(state, rows, means)
    racks: dict[str, list[Tile]] = {}
    for row in rows:
        racks.setdefault(_rack(row), []).append(_tile(snapshot.cluster, row, scales))
    return ClusterMap(
        racks=tuple(Rack(name, tuple(racks[name])) for name in sorted(racks, key=_rack_order)),
        is_dense=len(rows) > ROOMY,
        rest=len(numbers) - len(rows),
        nouns=tuple(scales),
        has_gone=any(row.broker is None for row in rows),
        has_out=any(count.out for tiles in racks.values() for tile in tiles for count in tile.counts),
    )


def _scales(state: ClusterState, rows: Iterable[BrokerRow], means: Means) -> dict[str, Scale]:
    """By the noun of each bar that the cluster's layout can fill."""
    if state.layout is Layout.V07:
        counts = [row.load.partitions_07 for row in rows]
        return {"partitions": _scale(sum(counts), means.brokers, counts)}
    return {
        "leaders": _scale(means.leaders, means.brokers, (row.load.leaders for row in rows)),
        "replicas": _scale(means.replicas, means.brokers, (row.load.replicas for row in rows)),
    }


def _scale(total: int, brokers: int, counts: Iterable[int]) -> Scale:
    mean = total / brokers if brokers else 0.0
    return Scale(mean, max(mean * _ROOM, *counts, 1))


def _tile(cluster: str, row: BrokerRow, scales: dict[str, Scale]) -> Tile:
    host, why = _host(row)
    return Tile(
        id=row.id,
        href=links.broker(cluster, row.id),
        host=host,
        why=why,
        is_controller=row.is_controller,
        is_gone=row.broker is None,
        gone_ms=row.gone_ms,
        counts=tuple(_count(noun, row, scale) for noun, scale in scales.items()),
    )


def _count(noun: str, row: BrokerRow, scale: Scale) -> Count:
    load = row.load
    if noun == "leaders":
        return Count(noun, load.leaders, scale)
    if noun == "replicas":
        return Count(noun, load.replicas, scale, out=min(load.under_replicated, load.replicas))
    return Count(noun, load.partitions_07, scale)


def _host(row: BrokerRow) -> tuple[str, str]:
    """Host and port as registered, or registered last; "" and why where nobody knows."""
    if row.broker is None:
        if row.gone_ms is None:
            return "", "host unknown: it was gone before zkdash began to watch"
        return ("" if row.last is None else row.last.address), ""
    if isinstance(row.broker, Broker):
        return row.broker.address, ""
    return "", row.broker.reason


def _rack(row: BrokerRow) -> str:
    last_known = row.broker or row.last
    if not isinstance(last_known, Broker):
        return RACK_UNKNOWN
    return last_known.rack or NO_RACK


def _rack_order(name: str) -> tuple[bool, bool, str]:
    """By name; those that have none last."""
    return name == RACK_UNKNOWN, name == NO_RACK, name
