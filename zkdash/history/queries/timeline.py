"""What changed in a cluster, a topic, a broker, a group or a znode: the newest of the table `timeline`."""

from __future__ import annotations

import re
from typing import Final, Self

import msgspec

from zkdash.history.store.tables import Tables

TABLES: Final = ("timeline",)
_CURSOR = re.compile(r"([0-9]{1,18})-([0-9]{1,19})-([0-9]{1,9})")


class Place(msgspec.Struct, frozen=True):
    """Where a page of the timeline ends: the last entry's time, zxid (0 for unknown) and place in it."""

    time: int
    zxid: int
    op_index: int

    @classmethod
    def read(cls, text: str) -> Self | None:
        """What `str` wrote; None for anything else."""
        found = _CURSOR.fullmatch(text)
        return cls(*map(int, found.groups())) if found and int(found[2]) < 1 << 63 else None

    def __str__(self) -> str:
        return f"{self.time}-{self.zxid}-{self.op_index}"


class Entry(msgspec.Struct, frozen=True):
    """One change, see `history.store.derived`: `time` in epoch ms, `zxid` None where nobody knows."""

    time: int
    zxid: int | None
    op_index: int
    area: str
    what: str
    before: str | None
    after: str | None
    path: str

    @property
    def place(self) -> Place:
        return Place(self.time, self.zxid or 0, self.op_index)


class Search(msgspec.Struct, frozen=True):
    """Which changes: those of one topic, broker, group or path, where one is named, older than `before`."""

    topic: str = ""
    broker: int | None = None
    group: str = ""
    path: str = ""
    before: Place | None = None


class Found(msgspec.Struct, frozen=True):
    """The entries, newest first, whether there are older ones, and the last time that the table tells of."""

    entries: tuple[Entry, ...]
    more: bool
    reach_ms: int | None


def newest(tables: Tables, search: Search, most: int) -> Found:
    """The newest entries that a search asks for. Raises QueryError."""
    wanted: dict[str, object] = {"most": most + 1}
    conditions = ["true"]
    for name in ("topic", "broker", "group", "path"):
        value = getattr(search, name)
        if value not in {"", None}:
            conditions.append(f'"{name}" = ${name}')
            wanted[name] = value
    if search.before is not None:
        conditions.append("(time, coalesce(zxid, 0), coalesce(op_index, 0)) < ($time, $zxid, $op_index)")
        wanted |= msgspec.structs.asdict(search.before)
    rows = tables.rows(
        f"""
        SELECT time, zxid, coalesce(op_index, 0) AS op_index, area, what, before, after, path FROM timeline
        WHERE {" AND ".join(conditions)}
        ORDER BY time DESC, coalesce(zxid, 0) DESC, coalesce(op_index, 0) DESC LIMIT $most
        """,  # noqa: S608 - our own words
        wanted,
    )
    (reach,) = tables.rows("SELECT max(time) AS time FROM timeline")
    entries = tuple(Entry(**row) for row in rows[:most])
    return Found(entries, len(rows) > most, reach["time"])
