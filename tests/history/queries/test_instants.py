"""Where a time lies in what a recorder saw, from rows made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.history.writing import put
from zkdash.history.queries import instants, moment
from zkdash.history.store.tables import Tables

# Two intervals that follow one another; the first ended with a proof at 100 ms.
WATCHED: list[dict[str, Any]] = [
    {"zxid_from": 10, "zxid_upto": 20, "from_ms": 1, "to_ms": 100, "why": "the recorder was not running"},
    {"zxid_from": 21, "zxid_upto": 30, "from_ms": 100, "to_ms": 200, "why": None},
]


def change(zxid: int, time: int) -> dict[str, Any]:
    bounds = {"zxid": zxid, "zxid_after": zxid - 1, "zxid_upto": zxid, "op_index": 0}
    return {**bounds, "type": "setData", "source": "watch", "time": time, "path": "/a"}


@pytest.mark.parametrize(("time_ms", "zxid"), [(20, 9), (60, 15), (120, 15), (150, 20), (199, 20)])
def test_what_came_after_the_last_proof_of_an_interval_is_not_told_of_an_earlier_time(
    tmp_path: Path, time_ms: int, zxid: int
) -> None:
    put(tmp_path, "changes", [change(15, 50), change(20, 150)])
    put(tmp_path, "watched", WATCHED)
    with Tables(tmp_path, moment.TABLES) as tables:
        assert instants.at_time(tables, time_ms).zxid == zxid
