"""What changed in a cluster, a topic, a broker, a group or a znode: the newest of the table `timeline`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Self

import msgspec

from zkdash.cluster import incidents
from zkdash.cluster.changes import Change
from zkdash.cluster.incidents import Incidents
from zkdash.history.store.tables import Tables
from zkdash.time_units import DAY_MS

TABLES: Final = ("timeline",)
_REACHES_MS: Final = (DAY_MS, 7 * DAY_MS)
_EVER: Final = -(1 << 63)
_CURSOR = re.compile(r"([0-9]{1,18})-([0-9]{1,19})-([0-9]{1,9})")


class Place(msgspec.Struct, frozen=True):
    """Where a page of the timeline ends: the last entry's time, zxid (0 for unknown) and place in it."""

    time: int
    zxid: int
    op_index: int

    @classmethod
    def read(cls, text: str) -> Self | None:
        """What `str` wrote; None for anything else."""
        match = _CURSOR.fullmatch(text)
        return cls(*map(int, match.groups())) if match and int(match[2]) < 1 << 63 else None

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
    def change(self) -> Change:
        return Change(self.time, self.area, self.what, self.before, self.after, self.path, self.zxid)

    @property
    def place(self) -> Place:
        return Place(self.time, self.zxid or 0, self.op_index)


class Search(msgspec.Struct, frozen=True):
    """Which changes: those of one topic, broker, group, path or area, where one is named, before `before`.

    With a `partition` they are those of that one of the topic, and those of the topic as a whole.
    `text` is part of the sentence or of the path, whatever its case. They happened from `from_ms` on, and
    before `to_ms` (epoch ms). `upto` is the last transaction that is asked for: a change of which none is
    known happened before `unknown_before` (epoch ms).
    """

    topic: str = ""
    partition: int | None = None
    broker: int | None = None
    group: str = ""
    path: str = ""
    area: str = ""
    text: str = ""
    from_ms: int | None = None
    to_ms: int | None = None
    before: Place | None = None
    upto: int | None = None
    unknown_before: int | None = None


class Found(msgspec.Struct, frozen=True):
    """The entries, newest first, whether there are older ones, and the last time and transaction that the
    table tells of."""

    entries: tuple[Entry, ...]
    more: bool
    reach_ms: int | None
    reach_zxid: int | None = None


def newest(tables: Tables, search: Search, most: int) -> Found:
    """The newest entries that a search asks for, of the last day where it has enough. Raises QueryError."""
    conditions, wanted = _conditions(search)
    times, zxids = tables.extremes("timeline", "time"), tables.extremes("timeline", "zxid")
    reach_ms = times and times[1]
    for since_ms in _reaching_back(search, reach_ms):
        rows = tables.rows(
            f"""
            SELECT time, zxid, coalesce(op_index, 0) AS op_index, area, what, before, after, path
            FROM timeline
            WHERE time >= $since_ms AND {" AND ".join(conditions)}
            ORDER BY time DESC, coalesce(zxid, 0) DESC, coalesce(op_index, 0) DESC LIMIT $most
            """,  # noqa: S608 - our own words
            {**wanted, "most": most + 1, "since_ms": since_ms},
        )
        if len(rows) > most:
            break
    entries = tuple(Entry(**row) for row in rows[:most])
    return Found(entries, len(rows) > most, reach_ms, zxids and zxids[1])


def _reaching_back(search: Search, reach_ms: int | None) -> Iterator[int]:
    """From when on to look for enough: from lately, from earlier, and from the first change."""
    ends = (reach_ms, search.to_ms, None if search.before is None else search.before.time)
    last_ms = min((end for end in ends if end is not None), default=_EVER)
    first_ms = _EVER if search.from_ms is None else search.from_ms
    yield from (last_ms - reach for reach in _REACHES_MS if last_ms - reach > first_ms)
    yield _EVER


def folded(tables: Tables, search: Search, most: int) -> Incidents:
    """What the newest `most` changes that a search asks for fold into. Raises QueryError."""
    newest_rows = newest(tables, search, most)
    return incidents.fold(Incidents(), (entry.change for entry in reversed(newest_rows.entries)))


def _conditions(search: Search) -> tuple[list[str], dict[str, object]]:
    conditions, wanted = ["true"], dict[str, object]()
    for name, value in (
        ("topic", search.topic),
        ("broker", search.broker),
        ("group", search.group),
        ("path", search.path),
        ("area", search.area),
    ):
        if value not in {"", None}:
            conditions.append(f'"{name}" = ${name}')
            wanted[name] = value
    for name, value, condition in (
        ("partition", search.partition, '("partition" = $partition OR "partition" IS NULL)'),
        ("text", search.text, "contains(lower(what || ' ' || path), lower($text))"),
        ("from_ms", search.from_ms, "time >= $from_ms"),
        ("to_ms", search.to_ms, "time < $to_ms"),
    ):
        if value not in {"", None}:
            conditions.append(condition)
            wanted[name] = value
    if search.upto is not None:
        conditions.append("(zxid <= $upto OR (zxid IS NULL AND time < $unknown_before))")
        wanted |= {"upto": search.upto, "unknown_before": search.unknown_before or 0}
    if search.before is not None:
        conditions.append("(time, coalesce(zxid, 0), coalesce(op_index, 0)) < ($time, $zxid, $op_index)")
        wanted |= msgspec.structs.asdict(search.before)
    return conditions, wanted
