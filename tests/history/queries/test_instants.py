"""Where a time lies in what a recorder saw, from rows made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import full
from tests.history.writing import put
from zkdash.cluster.changes import row
from zkdash.history.queries import density, instants, moment, neighbours
from zkdash.history.queries.neighbours import Instant
from zkdash.history.queries.window import Span
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


def test_the_newest_changes_are_told_of_before_the_next_proof(tmp_path: Path) -> None:
    put(tmp_path, "changes", [change(15, 50), change(20, 150)])
    put(tmp_path, "watched", WATCHED[:1])
    with Tables(tmp_path, moment.TABLES) as tables:
        latest = instants.latest(tables)
        assert latest == Instant(20, 150)
        around = density.read(tables, instants.around(tables, "watch", latest), latest, density.USUAL)
        assert around.known == (Span(1, 150),)
        assert instants.at_time(tables, around.known[-1].to_ms) == latest


@pytest.mark.parametrize(("time_ms", "zxid"), [(60, 9), (100, 14), (199, 14)])
def test_what_was_read_while_it_changed_is_what_was_there_once_it_was_written(
    tmp_path: Path, time_ms: int, zxid: int
) -> None:
    """Nothing changed since, so that no row tells when its last transactions were."""
    bounds = {"zxid": 9, "zxid_upto": 14}
    put(tmp_path, "znodes_checkpoint", [bounds | {"path": path, "version": 0} for path in ("/", "/a")])
    put(
        tmp_path, "watched", [WATCHED[0] | {"zxid_upto": 14}, WATCHED[1] | {"zxid_from": 15, "zxid_upto": 15}]
    )
    with Tables(tmp_path, moment.TABLES) as tables:
        assert instants.at_time(tables, time_ms).zxid == zxid
        if time_ms >= WATCHED[0]["to_ms"]:
            assert moment.base(tables, zxid) == ("watch", 9)
        newest = instants.latest(tables)
        assert moment.base(tables, instants.at_time(tables, newest.time_ms).zxid) == ("watch", 9)


def test_the_moment_of_a_time_is_the_last_transaction_that_is_not_later(tmp_path: Path) -> None:
    """Also where a later leader's clock was behind."""
    logged = {"source": row.LOGGED}
    put(tmp_path, "changes", [change(1, 10) | logged, change(2, 5) | logged, change(3, 30) | logged])
    put(tmp_path, "coverage", [{"zxid_from": 1, "zxid_upto": 3}])
    with Tables(tmp_path, moment.TABLES) as tables:
        assert [instants.at_time(tables, time_ms).zxid for time_ms in (5, 10, 29, 30)] == [2, 2, 2, 3]
        with pytest.raises(moment.MomentError, match="nothing is recorded before 1970-01-01 00:00:00 UTC"):
            instants.at_time(tables, 4)
        with pytest.raises(moment.MomentError, match="recorded up to 1970-01-01 00:00:00 UTC only"):
            instants.at_time(tables, 31)


def _bounded(after: int, width: int, time: int, kind: str, source: str) -> dict[str, Any]:
    return change(after + 1, time) | {"zxid_upto": after + width, "type": kind, "source": source}


_ROWS = st.builds(
    _bounded,
    st.integers(0, 40),
    st.integers(1, 9),
    st.integers(-30, 30),
    st.sampled_from(["create", "setData", "delete", "setACL"]),
    st.sampled_from([row.LOGGED, row.WATCHED]),
)


@settings(max_examples=full.pick(15, 100), deadline=None)
@given(rows=st.lists(_ROWS, max_size=12), reaches=st.sampled_from([(1, 7), neighbours.REACHES_MS]))
def test_the_first_and_the_last_transaction_of_times_are_those_of_all_changes(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], reaches: tuple[int, ...]
) -> None:
    def zxids(source: str, times: range) -> list[int]:
        meant = (each for each in rows if source in {"", each["source"]} and each["time"] in times)
        ends = ("delete", "setACL")
        return [each["zxid_upto" if each["type"] in ends else "zxid"] for each in meant]

    directory = tmp_path_factory.mktemp("tables")
    put(directory, "changes", rows)
    with patch.object(neighbours, "REACHES_MS", reaches), Tables(directory, ("changes",)) as tables:
        assert neighbours.newest(tables) == max(zxids("", range(-30, 31)), default=None)
        for time_ms in (-31, 0, 30):
            for source in ("", row.LOGGED):
                until, since = zxids(source, range(-30, time_ms + 1)), zxids(source, range(time_ms, 31))
                assert neighbours.last_until(tables, time_ms, source) == max(until, default=None)
                assert neighbours.first_since(tables, time_ms, source) == min(since, default=None)


@pytest.mark.parametrize("block", [1, 3, neighbours.BLOCK])
@pytest.mark.parametrize("reaches", [(1, 3), (4, 1_000), neighbours.REACHES])
def test_the_changes_next_to_a_moment_are_found_however_far_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reaches: tuple[int, ...], block: int
) -> None:
    monkeypatch.setattr(neighbours, "REACHES", reaches)
    monkeypatch.setattr(neighbours, "BLOCK", block)
    changed = (10, 11, 14, 500, 1 << 33)
    put(tmp_path, "changes", [change(zxid, zxid * 10) for zxid in changed])
    put(tmp_path, "watched", [WATCHED[0] | {"zxid_upto": 1 << 34}])
    with Tables(tmp_path, moment.TABLES) as tables:
        for zxid in (9, 10, 11, 12, 14, 100, 500, 501, 1 << 32, 1 << 33, (1 << 33) + 9):
            around = instants.around(tables, "watch", instants.at_zxid(tables, zxid))
            before = max((each for each in changed if each < zxid), default=None)
            after = min((each for each in changed if each > zxid), default=None)
            assert around.previous == (before and Instant(before, before * 10)), zxid
            assert around.following == (after and Instant(after, after * 10)), zxid
            upto = max((each * 10 for each in changed if each <= zxid), default=WATCHED[0]["from_ms"])
            assert instants.at_zxid(tables, zxid).time_ms == upto


def test_the_next_change_of_what_is_meant_is_found_beyond_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "REACHES", (2,))
    monkeypatch.setattr(neighbours, "BLOCK", 4)
    rows = [change(zxid, zxid * 10) | {"path": "/b"} for zxid in (12, 90)]
    put(tmp_path, "changes", [*(change(zxid, zxid * 10) for zxid in range(20, 80)), *rows])
    put(tmp_path, "watched", WATCHED)
    with Tables(tmp_path, moment.TABLES) as tables:
        around = instants.around(tables, "watch", Instant(50, 500), ["/b"])
        assert (around.previous, around.following) == (Instant(12, 120), Instant(90, 900))
