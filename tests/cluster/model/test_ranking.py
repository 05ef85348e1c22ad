"""A ranking stays sorted however it is changed, and never changes in place."""

from __future__ import annotations

import heapq
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.cluster.model import ranking
from zkdash.cluster.model.ranking import Entry, Ranking

_ENTRIES = st.tuples(st.integers(0, 4), st.integers(0, 5000).map("{:04}".format))


@given(start=st.sets(_ENTRIES, max_size=40), changes=st.lists(_ENTRIES, max_size=40), data=st.data())
def test_it_is_the_sorted_list(start: set[Entry], changes: list[Entry], data: st.DataObject) -> None:
    entries, ranked = set(start), Ranking.of(start)
    for entry in changes:
        before, kept = ranked, tuple(ranked)
        if entry in entries:
            entries.remove(entry)
            ranked = ranked.removed(entry)
        else:
            entries.add(entry)
            ranked = ranked.added(entry)
        assert tuple(before) == kept
    expected = sorted(entries)
    assert list(ranked) == expected
    assert len(ranked) == len(expected)
    first = data.draw(st.integers(0, len(expected)))
    last = data.draw(st.integers(first, len(expected) + 3))
    assert list(ranked.between(first, last)) == expected[first:last]
    last = min(last, len(expected))
    runs = itertools.groupby(expected[first:last], key=lambda entry: entry[0])
    assert [list(names) for names in ranked.runs(first, last)] == [
        [name for _, name in run] for _, run in runs
    ]


def test_runs_that_are_read_side_by_side_go_over_chunks() -> None:
    many = [(place, f"{number:05}") for place in range(3) for number in range(3 * ranking.CHUNK)]
    ranked = Ranking.of(many)
    names = list(heapq.merge(*ranked.runs(0, len(many))))
    assert names == sorted(name for _, name in many)


def test_chunks_stay_small_while_it_grows_and_vanish_while_it_shrinks() -> None:
    entries = [(0, f"{number:05}") for number in range(5 * ranking.CHUNK)]
    ranked = Ranking()
    for entry in entries:
        ranked = ranked.added(entry)
    assert list(ranked) == entries
    assert max(map(len, ranked.chunks)) <= 2 * ranking.CHUNK
    for entry in reversed(entries):
        ranked = ranked.removed(entry)
    assert ranked.chunks == ()


def test_what_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(KeyError):
        Ranking.of([(0, "a")]).removed((0, "b"))
