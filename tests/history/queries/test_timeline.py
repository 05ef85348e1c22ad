"""What changed, newest first, a page at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.history.writing import put
from zkdash.history.queries import timeline
from zkdash.history.queries.timeline import Found, Place, Search
from zkdash.history.store.tables import Tables
from zkdash.time_units import DAY_MS


def said(time: int, zxid: int | None, op_index: int = 0, **of: Any) -> dict[str, Any]:
    told = {"time": time, "zxid": zxid, "op_index": op_index, "area": "topics", "path": "/x"}
    return {**told, "what": f"{time} {zxid} {op_index}", **of}


def newest(directory: Path, most: int = 20, **wanted: Any) -> Found:
    with Tables(directory, timeline.TABLES) as tables:
        return timeline.newest(tables, Search(**wanted), most)


def words(found: Found) -> list[str]:
    return [entry.what for entry in found.entries]


def test_without_a_table_there_is_nothing_and_no_reach(tmp_path: Path) -> None:
    assert newest(tmp_path) == Found((), False, None)


def test_each_thing_has_its_own_changes(tmp_path: Path) -> None:
    rows = [
        said(1, 1, topic="orders"),
        said(2, 2, topic="orders2"),
        said(3, 3, broker=1),
        said(4, 4, group="g"),
    ]
    put(tmp_path, "timeline", rows)
    assert words(newest(tmp_path, topic="orders")) == ["1 1 0"]
    assert words(newest(tmp_path, broker=1)) == ["3 3 0"]
    assert words(newest(tmp_path, group="g")) == ["4 4 0"]
    assert words(newest(tmp_path)) == ["4 4 0", "3 3 0", "2 2 0", "1 1 0"]
    assert newest(tmp_path, topic="orders").reach_ms == 4


def test_page_by_page_every_entry_comes_once(tmp_path: Path) -> None:
    rows = [said(5, 7, 0), said(5, 7, 1), said(5, None), said(4, 6), said(9, 3), said(5, 8)]
    put(tmp_path, "timeline", rows)
    seen: list[str] = []
    before = None
    while True:
        found = newest(tmp_path, 2, before=before)
        seen += words(found)
        if not found.more:
            break
        before = Place.read(str(found.entries[-1].place))
    assert seen == ["9 3 0", "5 8 0", "5 7 1", "5 7 0", "5 None 0", "4 6 0"]


def test_however_far_back_it_is_every_entry_comes_once_and_in_order(tmp_path: Path) -> None:
    """Of a day, a week and a month there are enough for a page, too few for one, and none."""
    days = [0.0, 0.5, 0.9, 1.0, 1.1, 6.9, 7.0, 7.1, 7.2, 8.0, 29.0, 30.0, 30.1]
    times = sorted((round(100 * DAY_MS - day * DAY_MS) for day in days), reverse=True)
    for some in (times[::2], times[1::2]):  # in files that lie across each other
        put(tmp_path, "timeline", [said(time, time, topic="orders" if time % 3 else "late") for time in some])
    for topic in ("", "orders", "late", "never"):
        for from_ms, to_ms in ((None, None), (times[-3], None), (None, times[2]), (times[-2], times[3])):
            expected = [
                time
                for time in times
                if (from_ms is None or time >= from_ms)
                and (to_ms is None or time < to_ms)
                and topic in {"", "orders" if time % 3 else "late"}
            ]
            for most in (2, 20):
                seen: list[int] = []
                before = None
                while True:
                    found = newest(tmp_path, most, topic=topic, from_ms=from_ms, to_ms=to_ms, before=before)
                    seen += [entry.time for entry in found.entries]
                    assert (found.reach_ms, found.reach_zxid) == (times[0], times[0])
                    if not found.more:
                        break
                    before = found.entries[-1].place
                assert seen == expected


@pytest.mark.parametrize(
    "text", ["", "1", "1-2", "1-2-x", "-1-2-3", "1-2-3-4", "1-99999999999999999999-0", "１-2-3"]
)
def test_what_is_no_place_is_none(text: str) -> None:
    assert Place.read(text) is None
