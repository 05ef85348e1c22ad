"""Of which times the derived tables tell everything: stretches of logs, or what a recorder watched."""

from __future__ import annotations

from tests.history.writing import MINUTE
from zkdash.history.store.coverage import Stretch
from zkdash.pipeline.derivation import covered_times
from zkdash.pipeline.derivation.inputs import Facts

START = 1_760_000_400_000
START -= START % MINUTE
EPOCH = 1 << 32


def row(from_ms: int, to_ms: int, from_zxid: int, to_zxid: int) -> dict[str, int]:
    return {"from_ms": from_ms, "to_ms": to_ms, "from_zxid": from_zxid, "to_zxid": to_zxid}


def test_a_stretch_that_goes_on_is_one_time_and_one_behind_a_gap_another() -> None:
    rows = covered_times.logged([], Stretch(1, 10), Facts(3, START, START + 5))
    assert rows == [row(START, START + 5, 1, 10)]
    rows = covered_times.logged(rows, Stretch(1, 20), Facts(1, START - 2, START - 2))  # a clock went back
    assert rows == [row(START - 2, START + 5, 1, 20)]
    rows = covered_times.logged(rows, Stretch(1, 25), Facts(0, 0, 0))  # what changed nothing
    rows = covered_times.logged(rows, Stretch(1, EPOCH + 4), Facts(1, START + 9, START + 9))
    assert rows == [row(START - 2, START + 9, 1, EPOCH + 4)]
    rows = covered_times.logged(rows, Stretch(EPOCH + 7, EPOCH + 8), Facts(1, START + 30, START + 31))
    assert rows == [
        row(START - 2, START + 9, 1, EPOCH + 4),
        row(START + 30, START + 31, EPOCH + 7, EPOCH + 8),
    ]


def test_a_recorder_watched_without_a_reason_goes_on_as_far_as_something_was_derived() -> None:
    seen = [(4, 9, "session lost"), (1, 2, None), (0, 1, "began"), (20, 21, "session lost")]
    intervals = [
        {
            "from_ms": START + first * MINUTE,
            "to_ms": START + last * MINUTE,
            "zxid_from": first,
            "zxid_upto": last,
            "why": why,
        }
        for first, last, why in seen
    ]
    assert covered_times.watched(intervals, START + 4 * MINUTE + 7) == [
        row(START, START + 2 * MINUTE, 0, 2),
        row(START + 4 * MINUTE, START + 5 * MINUTE - 1, 4, 9),
    ]
