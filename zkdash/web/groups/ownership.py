"""The picture of who reads what in a group, of the same rows as its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.cluster.model.groups import Group
from zkdash.cluster.tables.groups.partitions import Catalogue, GroupPartitionRow
from zkdash.live.parts import Block
from zkdash.web.drawing import ownership
from zkdash.web.drawing.ownership import Member, Ownership, Part
from zkdash.web.frame import cells
from zkdash.web.groups import cells as group_cells

PART: Final = "ownership"


class Picture(msgspec.Struct, frozen=True):
    """What the template draws: line by line, or `counts`, how many partitions each member owns."""

    told: str
    lines: Ownership | None
    counts: tuple[int, ...]
    unowned: int

    @property
    def svg(self) -> SafeString:
        if self.lines is not None:
            return ownership.draw(self.lines, self.told)
        return ownership.folded(self.counts, self.unowned, self.told)


def is_drawn_in_lines(group: Group, catalogue: Catalogue) -> bool:
    """Whether a group is small enough for a line to each of its partitions."""
    return len(catalogue.entries) <= ownership.MOST_PARTS and len(group.members) <= ownership.MOST_MEMBERS


def block(group: Group, catalogue: Catalogue, rows: Sequence[GroupPartitionRow]) -> Block:
    """The live part; `rows` are those of all partitions where `is_drawn_in_lines`. Empty without members
    and owners."""
    owned = {name: catalogue.owned.get(name, 0) for name in sorted(group.members)}
    owners = {entry.part.member for entry in catalogue.entries if entry.part is not None and entry.part.owner}
    strangers = sorted(name for name in owners if name is not None and name not in owned)
    counts = (*owned.values(), *(catalogue.owned[name] for name in strangers))
    unowned = sum(entry.part is not None and entry.part.owner is None for entry in catalogue.entries)
    values = None
    if counts:
        sentence = _told(counts, unowned)
        lines = _lines(group, catalogue, strangers, rows) if is_drawn_in_lines(group, catalogue) else None
        values = Picture(sentence, lines, counts if lines is None else (), unowned)
    return Block(id=PART, template="groups/ownership.html", values=values)


def _told(counts: Sequence[int], unowned: int) -> str:
    idle = counts.count(0)
    return (
        f"Partitions that {cells.grouped(len(counts))} members own: {cells.grouped(sum(counts))}; "
        f"without an owner: {cells.grouped(unowned)}; idle members: {cells.grouped(idle)}"
    )


def _lines(
    group: Group, catalogue: Catalogue, strangers: Sequence[str], rows: Sequence[GroupPartitionRow]
) -> Ownership:
    """Members in the order of what they own first, idle ones last."""
    parts = [(entry, entry.part) for entry in catalogue.entries if entry.part is not None]
    first = {part.member: at for at, (_, part) in reversed(list(enumerate(parts)))}
    names = sorted([*group.members, *strangers], key=lambda name: (first.get(name, len(parts)), name))
    places = {name: place for place, name in enumerate(names)}
    lags = {(row.topic, row.partition): row.lag for row in rows}
    drawn = []
    for entry, part in parts:
        lag = lags.get((entry.topic, entry.key))
        number = lag if isinstance(lag, int) else None
        owner = places.get(part.member) if part.member is not None else None
        words = "" if number is None else cells.grouped(number)
        drawn.append(Part(f"{entry.topic}-{entry.key}", owner, number, words))
    members = tuple(Member(group_cells.short(name, group.name), name not in group.members) for name in names)
    return Ownership(members, tuple(drawn))
