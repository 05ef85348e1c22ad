"""Which transactions were read, as intervals: the same as sets of transactions would tell."""

from __future__ import annotations

import itertools
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.history.writing import put
from zkdash.history.store import coverage
from zkdash.history.store.delta import Table

INTERVALS = st.lists(
    st.tuples(st.integers(1, 60), st.integers(0, 9)).map(lambda pair: (pair[0], pair[0] + pair[1])),
    max_size=8,
)


def members(intervals: list[tuple[int, int]] | list[coverage.Stretch]) -> set[int]:
    return {zxid for first, last in intervals for zxid in range(first, last + 1)}


@given(INTERVALS, INTERVALS, st.integers(1, 70), st.integers(0, 9))
def test_intervals_say_what_sets_would(
    left: list[tuple[int, int]], right: list[tuple[int, int]], first: int, length: int
) -> None:
    exact, taken = coverage.exact(left), coverage.exact(right)
    assert members(exact) == members(left)
    assert all(one.last + 1 < other.first for one, other in itertools.pairwise(exact))
    rest = coverage.without(left, taken)
    assert members(rest) == members(left) - members(right)
    assert rest == coverage.exact(rest)
    wanted = set(range(first, first + length))
    assert coverage.holds(exact, first, first + length - 1) == (wanted <= members(left))


@given(st.dictionaries(st.integers(0, 5), INTERVALS, max_size=4), INTERVALS)
def test_each_transaction_is_of_one_log_and_none_is_lost(
    read: dict[int, list[tuple[int, int]]], loaded: list[tuple[int, int]]
) -> None:
    shares = coverage.shares(read, coverage.exact(loaded))
    shared = [zxid for share in shares.values() for zxid in members(share)]
    assert len(shared) == len(set(shared))
    assert set(shared) == {zxid for each in read.values() for zxid in members(each)} - members(loaded)
    assert all(members(shares[log]) <= members(read[log]) for log in read)


def test_where_an_epoch_ended_nobody_knows_but_the_log_itself(tmp_path: Path) -> None:
    second = (1 << 32) + 1
    put(tmp_path, "coverage", [{"zxid_from": 1, "zxid_upto": 5}])
    put(tmp_path, "coverage", [{"zxid_from": second, "zxid_upto": second + 3}])
    put(tmp_path, "coverage", [{"zxid_from": second + 4, "zxid_upto": second + 4}])
    table = Table(tmp_path / "coverage")
    assert coverage.stretches(table) == [(1, second + 4)]
    assert coverage.intervals(table) == [(1, 5), (second, second + 4)]
    assert not coverage.holds(coverage.intervals(table), 4, 6)
