"""Where partitions lie: partitions × brokers, grouped by rack, or counts of replicas where there are many.

A cell is told by its shape as well as by its colour: a leader is filled, a follower in sync is a light ring,
one out of sync is struck through, one on a broker that is gone is dashed. A star marks the preferred leader,
an arrow a replica that is being added or removed.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, TypeVar

import msgspec
from django.utils.safestring import SafeString

from zkdash.web.drawing import svg

T = TypeVar("T")

# What is drawn cell by cell; more is folded to counts. Either is at most 64 KB.
MOST_LINES: Final = 100
MOST_COLUMNS: Final = 40
MOST_CELLS: Final = 500
_FOLDED_LINES: Final = 25
_FOLDED_COLUMNS: Final = 100
_SHADES: Final = 5
_HEAD: Final = 40  # of the racks and the brokers
_SIDE: Final = 48  # of the partitions
_GAP: Final = 6  # between racks
_HEAT_SIDE: Final = 80
_HEAT_HEAD: Final = 36


class Role(enum.Enum):
    """What a broker is to a partition; the value is the class of its cell."""

    LEADER = "leader"
    IN_SYNC = "in-sync"
    OUT = "out"
    GONE = "gone"
    UNKNOWN = "unknown"


NOT_IN_SYNC: Final = frozenset({Role.OUT, Role.GONE})


class Move(enum.Enum):
    """What becomes of a replica while its partition is reassigned; the value is its arrow."""

    ADDING = "→"
    REMOVING = "←"


class Mark(msgspec.Struct, frozen=True):
    """One replica: what it is, and whether it is the preferred leader."""

    role: Role
    is_preferred: bool = False
    move: Move | None = None


class Line(msgspec.Struct, frozen=True):
    """One partition: a mark for each broker that is something to it."""

    partition: int
    is_offline: bool
    marks: Mapping[int, Mark]


class Column(msgspec.Struct, frozen=True):
    """One broker; `rack` is "" where it is not known."""

    broker: int
    rack: str = ""
    is_gone: bool = False


class Placement(msgspec.Struct, frozen=True):
    """Partitions by number, on brokers in the order of their racks."""

    lines: tuple[Line, ...]
    columns: tuple[Column, ...]

    @property
    def is_folded(self) -> bool:
        """Whether there is too much of it for a cell each."""
        if len(self.lines) > MOST_LINES or len(self.columns) > MOST_COLUMNS:
            return True
        return sum(len(line.marks) for line in self.lines) > MOST_CELLS


def alike(lines: Iterable[Line]) -> list[tuple[Mapping[int, Mark], int]]:
    """The marks of lines, and how many lines have the very same: most partitions of a topic share theirs."""
    every = [line.marks for line in lines]
    counts = Counter(map(id, every))
    by_id = dict(zip(map(id, every), every, strict=True))
    return [(marks, counts[number]) for number, marks in by_id.items()]


def draw(placement: Placement, label: str) -> SafeString:
    """The matrix, or the heat map where it is folded; `told` says in words what is seen."""
    return _heat(placement, label) if placement.is_folded else _matrix(placement, label)


def _matrix(placement: Placement, label: str) -> SafeString:
    wide = 34 if len(placement.columns) <= 12 else 24 if len(placement.columns) <= 24 else 16
    high = 20 if len(placement.lines) <= 40 else 14
    places = _places(placement.columns, wide)
    total, tall = _right(places, wide), _HEAD + len(placement.lines) * high + 4
    drawn = (
        *_heads(placement.columns, places, wide, tall),
        *(_line(line, places, _HEAD + at * high, wide, high) for at, line in enumerate(placement.lines)),
    )
    return svg.picture(label, total, tall, *drawn, class_="placement", width=total, height=tall)


def _places(columns: Sequence[Column], wide: int) -> dict[int, int]:
    """Where the column of each broker begins, a little apart where another rack begins."""
    places: dict[int, int] = {}
    x = _SIDE
    for at, column in enumerate(columns):
        x += _GAP if at and columns[at - 1].rack != column.rack else 0
        places[column.broker] = x
        x += wide
    return places


def _right(places: Mapping[int, int], wide: int) -> int:
    return max(places.values(), default=_SIDE) + wide + 2


def _heads(
    columns: Sequence[Column], places: Mapping[int, int], wide: int, tall: int
) -> Iterator[SafeString]:
    """The racks with their ground, and the brokers."""
    for rack, brokers in groupby(columns, key=lambda column: column.rack):
        group = [places[column.broker] for column in brokers]
        room = group[-1] + wide - group[0]
        yield svg.element("rect", class_="ground", x=group[0], y=18, width=room, height=tall - 18, rx=4)
        if rack:
            middle = group[0] + room / 2
            yield svg.element("text", _short(rack, room), x=middle, y=12, class_="rack")
    for column in columns:
        yield svg.element(
            "text",
            str(column.broker),
            x=places[column.broker] + wide / 2,
            y=34,
            class_="broker gone" if column.is_gone else "broker",
        )


def _short(name: str, room: int) -> str:
    most = max(2, room // 6)
    return name if len(name) <= most else name[: most - 1] + "…"


def _line(line: Line, places: Mapping[int, int], y: int, wide: int, high: int) -> SafeString:
    number = svg.element("text", str(line.partition), x=_SIDE - 8, y=high - 6)
    cells = (
        _cell(mark, places[broker], wide, high, broker)
        for broker, mark in line.marks.items()
        if broker in places
    )
    return svg.element(
        "g",
        number,
        *cells,
        transform=f"translate(0 {y})",
        class_="offline" if line.is_offline else None,
        data_partition=line.partition,
    )


def _cell(mark: Mark, x: int, wide: int, high: int, broker: int) -> SafeString:
    sign = ("★" if mark.is_preferred else "") + (mark.move.value if mark.move else "")
    drawn = [
        svg.element(
            "rect",
            x=x + 3,
            y=2,
            width=wide - 6,
            height=high - 4,
            rx=3,
            class_=mark.role.value,
            data_broker=broker,
        )
    ]
    if mark.role is Role.OUT:
        drawn.append(svg.element("path", d=f"M{x + 4} {high - 3}L{x + wide - 4} 3"))
    if sign:
        drawn.append(svg.element("text", sign, x=x + wide // 2, y=high - 6, class_="sign"))
    return svg.joined(*drawn)


def _heat(placement: Placement, label: str) -> SafeString:
    """Counts of replicas: so many partitions a line, and a broker (or several) a column."""
    lines = _folded(placement.lines, _FOLDED_LINES)
    columns = _folded(placement.columns, _FOLDED_COLUMNS)
    at = {column.broker: place for place, group in enumerate(columns) for column in group}
    counts = [_counts(group, at, len(columns)) for group in lines]
    most = max((count for line, _ in counts for count in line), default=0)
    wide = 34 if len(columns) <= 12 else 16 if len(columns) <= 40 else 9
    rows = (
        svg.element("g", *_heat_line(group, line, out, most, wide), **_told(group, line, out, place))
        for place, (group, (line, out)) in enumerate(zip(lines, counts, strict=True))
    )
    heads = (*_heat_racks(columns, wide), *_heat_brokers(columns, wide))
    total, tall = _HEAT_SIDE + len(columns) * wide + 2, _HEAT_HEAD + len(lines) * 16 + 2
    body = svg.element("g", *rows, transform=f"translate({_HEAT_SIDE} {_HEAT_HEAD})")
    return svg.picture(
        label, total, tall, *heads, body, class_="placement heat", width=total, height=tall, data_most=most
    )


def _heat_racks(columns: Sequence[Sequence[Column]], wide: int) -> Iterator[SafeString]:
    """The racks, each where its first column is."""
    begins = 0
    for rack, groups in groupby(columns, key=lambda group: group[0].rack):
        count = len(list(groups))
        if rack:
            x = _HEAT_SIDE + (begins + count / 2) * wide
            yield svg.element("text", _short(rack, count * wide), x=x, y=12, class_="rack")
        begins += count


def _heat_brokers(columns: Sequence[Sequence[Column]], wide: int) -> Iterator[SafeString]:
    """Of the brokers as many as there is room for."""
    for place in range(0, len(columns), -(-36 // wide)):
        numbers = _range([column.broker for column in columns[place]])
        yield svg.element("text", numbers, x=_HEAT_SIDE + (place + 0.5) * wide, y=30, class_="broker")


def _folded(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """The items in at most so many groups of equal size, in their order."""
    size = -(-len(items) // most) or 1
    return [items[begin : begin + size] for begin in range(0, len(items), size)]


def _counts(group: Sequence[Line], at: Mapping[int, int], columns: int) -> tuple[list[int], list[int]]:
    """How many replicas of these partitions lie in each column, and how many of them are not in sync."""
    every, out = [0] * columns, [0] * columns
    for marks, count in alike(group):
        for broker, mark in marks.items():
            place = at[broker]
            every[place] += count
            if mark.role is Role.OUT or mark.role is Role.GONE:
                out[place] += count
    return every, out


def _heat_line(
    group: Sequence[Line], counts: Sequence[int], out: Sequence[int], most: int, wide: int
) -> Iterator[SafeString]:
    """One line of the heat map: a path for all cells of one shade, and one that strikes through those with
    something out of sync."""
    boxes: dict[str, str] = {}
    strokes = ""
    for place, count in enumerate(counts):
        if count:
            shade = f"shade-{-(-count * _SHADES // most)}"
            boxes[shade] = boxes.get(shade, "") + f"M{place * wide} 8h{wide - 1}"
            strokes += f"M{place * wide + 1} 8h{wide - 3}" if out[place] else ""
    yield svg.element("text", _range([line.partition for line in group]), x=-8, y=12)
    for shade in sorted(boxes):
        yield svg.element("path", d=boxes[shade], class_=shade)
    if strokes:
        yield svg.element("path", d=strokes, class_="out")


def _told(
    group: Sequence[Line], counts: Sequence[int], out: Sequence[int], place: int
) -> dict[str, svg.Attribute]:
    """What a line of the heat map shows, in numbers."""
    return {
        "transform": f"translate(0 {place * 16})",
        "class_": "offline" if any(line.is_offline for line in group) else None,
        "data_counts": " ".join(map(str, counts)),
        "data_out": " ".join(map(str, out)) if any(out) else None,
    }


def _range(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}"
