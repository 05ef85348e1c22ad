"""When the recorder watched: the table `watched`, and the gaps between its intervals."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from zkdash.history.store import coverage
from zkdash.history.store.coverage import Stretch
from zkdash.history.store.delta import Table, TableVersion

NAME: Final = "watched"


class Gap(msgspec.Struct, frozen=True):
    """Transactions after one up to another that the recorder did not see happen, when, and why.

    `is_caught_up`: what differed afterwards is recorded, so that only what came and went in between is lost.
    """

    zxid_after: int
    zxid_upto: int
    from_ms: int
    to_ms: int
    why: str
    is_caught_up: bool


def stretches(table: Table) -> list[Stretch]:
    """What the recorder's rows tell from one state to the next; gaps that were caught up are none here."""
    intervals = []
    reached: int | None = None
    for each in _intervals(table):
        first = each["zxid_from"]
        if each["is_caught_up"] and reached is not None:
            first = min(first, reached + 1)
        reached = each["zxid_upto"] if reached is None else max(reached, each["zxid_upto"])
        intervals.append((first, each["zxid_upto"]))
    return coverage.joined(intervals)


def gaps(table: Table) -> list[Gap]:
    """Where the recorder saw nothing, the oldest first."""
    gaps = []
    before: dict[str, Any] | None = None
    for each in _intervals(table):
        if before and each["why"] is not None and each["zxid_from"] > before["zxid_upto"] + 1:
            bounds = before["zxid_upto"], each["zxid_from"] - 1, before["to_ms"], each["from_ms"]
            gaps.append(Gap(*bounds, each["why"], each["is_caught_up"]))
        before = each
    return gaps


def after(table: Table, zxid: int, version: TableVersion | None = None) -> list[dict[str, Any]]:
    """Rows of `watched` that tell what was seen after a transaction.

    Where they begin behind a gap, an interval without a transaction says from where on it was caught up.
    """
    rows = _intervals(table, version)
    kept = [
        each | {"zxid_from": max(each["zxid_from"], zxid + 1)} for each in rows if each["zxid_upto"] > zxid
    ]
    before = [each for each in rows if each["zxid_upto"] <= zxid]
    if kept and before and kept[0]["zxid_from"] > zxid + 1:
        kept.insert(0, before[-1] | {"zxid_from": zxid + 1, "zxid_upto": zxid})
    return kept


def _intervals(table: Table, version: TableVersion | None = None) -> list[dict[str, Any]]:
    """In the order in which they were seen."""
    from zkdash.history.store import files  # noqa: PLC0415 - as in coverage

    rows = [row for part in files.each(table, version) for row in part.to_pylist()]
    return sorted(rows, key=lambda each: (each["from_ms"], each["zxid_from"]))
