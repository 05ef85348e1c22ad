"""Offsets of a group that its log does not hold, and what each setting of its consumers does about them."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec
from django.utils.safestring import SafeString

from zkdash.cluster.model.brokers.out_of_range import OutOfRange, Reset
from zkdash.live.parts import Block
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, shapes, tables
from zkdash.web.frame.cells import Cell, Record, grouped
from zkdash.web.frame.tables import Column, Heading


class Entry(NamedTuple):
    """One offset of a group of a cluster."""

    cluster: str
    outside: OutOfRange


class Shown(msgspec.Struct, frozen=True):
    """What the template draws: a sentence, and of each offset its cells; `more` are not among them."""

    sentence: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    more: int


def block(snapshot: Snapshot, group: str) -> Block:
    """The live part; nothing where all offsets are in their logs, as far as brokers told."""
    lag = snapshot.lags.of_group(group)
    values = None
    if lag.outside:
        rows = tuple(
            tuple(column.cell(Entry(snapshot.cluster, outside)) for column in COLUMNS)
            for outside in lag.furthest
        )
        values = Shown(_sentence(lag.outside), tables.headings(COLUMNS, ""), rows, lag.outside - len(rows))
    return Block(id="out-of-range", template="groups/offset_range.html", values=values)


def record(snapshot: Snapshot, group: str) -> Record:
    """The same as JSON has it: how many there are, and the furthest of them."""
    lag = snapshot.lags.of_group(group)
    entries = (Entry(snapshot.cluster, outside) for outside in lag.furthest)
    return {"count": lag.outside, "offsets": list(tables.records(COLUMNS, entries))}


def _sentence(count: int) -> str:
    lie = "1 offset of the group lies" if count == 1 else f"{grouped(count)} offsets of the group lie"
    return f"{lie} outside of the log. A consumer that fetches from there is answered OFFSET_OUT_OF_RANGE."


class ResetCell(Cell, frozen=True):
    """Where a consumer goes on, and what becomes of the offsets between: a sentence, in JSON numbers."""

    reset: Reset

    @property
    def plain(self) -> dict[str, int]:
        return self.reset._asdict()

    def html(self) -> SafeString:
        reset = self.reset
        effects = [
            f"{_offsets(reset.lost)} no longer in the log" if reset.lost else "",
            f"skips {_offsets(reset.skipped)} of the log" if reset.skipped else "",
            f"reads {_offsets(reset.again)} again" if reset.again else "",
        ]
        words = ", ".join(filter(None, effects)) or "nothing of the log is skipped or read again"
        return cells.Text(f"at {grouped(reset.to)}: {words}").html()


def _offsets(count: int) -> str:
    return f"{grouped(count)} offset{'' if count == 1 else 's'}"


COLUMNS: tuple[Column[Entry], ...] = (
    Column(
        "topic",
        "Topic",
        lambda entry: cells.Name(entry.outside.topic, links.topic(entry.cluster, entry.outside.topic)),
    ),
    Column("partition", "Partition", lambda entry: cells.Id(int(entry.outside.partition)), is_number=True),
    Column(
        "is",
        "Lies",
        lambda entry: cells.Text("before the log's start" if entry.outside.is_before else "behind its end"),
    ),
    Column("offset", "Offset", lambda entry: cells.Number(entry.outside.offset), is_number=True),
    Column("kept_in", "Kept in", lambda entry: cells.Text(entry.outside.kept_in)),
    Column("log_start", "Log start", lambda entry: cells.Number(entry.outside.start), is_number=True),
    Column(
        "log_end",
        "Log end",
        lambda entry: cells.Number(entry.outside.end),
        is_number=True,
        title="the high watermark: what consumers may read up to",
    ),
    Column(
        "earliest",
        "With earliest",
        lambda entry: ResetCell(entry.outside.earliest),
        title="auto.offset.reset=earliest, of the old consumer smallest",
    ),
    Column(
        "latest",
        "With latest",
        lambda entry: ResetCell(entry.outside.latest),
        title="auto.offset.reset=latest, of the old consumer largest: the default of both",
    ),
)

_RESET = shapes.fields(to=shapes.COUNT, lost=shapes.COUNT, skipped=shapes.COUNT, again=shapes.COUNT)
_OFFSET = shapes.fields(**shapes.columns(COLUMNS) | {"earliest": _RESET, "latest": _RESET})
RECORD: Final = shapes.fields(count=shapes.COUNT, offsets=shapes.many(_OFFSET))
