"""The members of a group that keeps itself in Kafka, as its coordinator describes them; the same as JSON."""

from __future__ import annotations

from typing import Final

import msgspec

from zkdash.broker.samples import Description, GroupMember, UnknownDescription
from zkdash.live.parts import Block
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, shapes, tables, times
from zkdash.web.frame.cells import Cell, Record
from zkdash.web.frame.tables import Column, Heading

MOST = 200
_MOST_TOPICS = 4


class Shown(msgspec.Struct, frozen=True):
    """What the template draws: a sentence on the group, and its members' cells."""

    sentence: str
    headings: tuple[Heading, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    more: int = 0


def block(snapshot: Snapshot, group: str) -> Block:
    """The live part; nothing of a group that no broker lists."""
    values = _shown(snapshot, group) if group in snapshot.kafka_groups.groups else None
    return Block(id="kafka-members", template="groups/kafka_members.html", values=values)


def record(snapshot: Snapshot, group: str) -> Record | None:
    """The description as JSON has it, None of a group that no broker lists."""
    if group not in snapshot.kafka_groups.groups:
        return None
    description = snapshot.samples.described(group)
    if isinstance(description, UnknownDescription):
        return {"state": None, "state_reason": description.reason, "members": []}
    return {
        "state": description.state,
        "protocol_type": description.protocol_type,
        "protocol": description.protocol,
        "coordinator": description.coordinator,
        "as_of": times.utc_text(int(description.sampled_at * 1000)),
        "members": [
            {**row, "assigned": _plain(member)}
            for row, member in zip(
                tables.records(COLUMNS, description.members), description.members, strict=True
            )
        ],
    }


def _shown(snapshot: Snapshot, group: str) -> Shown:
    description = snapshot.samples.described(group)
    if isinstance(description, UnknownDescription):
        return Shown(f"What members it has in Kafka is unknown: {description.reason}.")
    rows = tuple(tuple(column.cell(member) for column in COLUMNS) for member in description.members[:MOST])
    return Shown(
        _sentence(description), tables.headings(COLUMNS, ""), rows, len(description.members) - len(rows)
    )


def _sentence(description: Description) -> str:
    state_words = description.state or "nothing of its state"
    state = f"Its coordinator, broker {description.coordinator}, says {state_words}"
    how = f", assigned by {description.protocol}" if description.protocol else ""
    return f"{state}{how}." if description.members else f"{state}{how}; it has no members there."


def _plain(member: GroupMember) -> dict[str, list[int]] | None:
    return None if member.assigned is None else {name: list(ids) for name, ids in member.assigned.items()}


def _assigned(member: GroupMember) -> Cell:
    if member.assigned is None:
        return cells.unknown("its group's leader wrote no consumer's assignment")
    return cells.Number(sum(map(len, member.assigned.values())))


def _topics(member: GroupMember) -> Cell:
    if member.assigned is None:
        return cells.unknown("its group's leader wrote no consumer's assignment")
    named = [f"{name}: {', '.join(map(str, ids))}" for name, ids in sorted(member.assigned.items())]
    more = len(named) - _MOST_TOPICS
    shown = "; ".join(named[:_MOST_TOPICS])
    return cells.Text(f"{shown} and {more} more topics" if more > 0 else shown or "nothing")


COLUMNS: tuple[Column[GroupMember], ...] = (
    Column("member", "Member", lambda member: cells.RowName(member.id)),
    Column("client", "Client", lambda member: cells.Text(member.client)),
    Column("host", "Host", lambda member: cells.Text(member.host)),
    Column("partitions", "Partitions", _assigned, is_number=True),
    Column("assigned", "Assigned", _topics),
)

RECORD: Final = shapes.or_null(
    shapes.fields(
        state=shapes.TEXT_OR_NULL,
        protocol_type=shapes.TEXT,
        protocol=shapes.TEXT,
        coordinator=shapes.INTEGER_OR_NULL,
        as_of=shapes.TEXT_OR_NULL,
        members=shapes.many(
            shapes.fields(
                **shapes.columns(COLUMNS)
                | {"assigned": shapes.or_null(shapes.named({"type": "array", "items": {"type": "integer"}}))}
            )
        ),
    )
)
