from __future__ import annotations

from zkdash.live.watching import first_seen
from zkdash.live.watching.first_seen import Sightings


def test_a_problem_keeps_the_time_when_it_was_read_first() -> None:
    first = first_seen.look(Sightings(), ["/a", "/b"], {"/a"}, 1000)
    again = first_seen.look(first, ["/a"], {"/a"}, 2000)
    assert dict(again) == {"/a": 1000}


def test_a_repaired_znode_is_forgotten_and_counts_anew() -> None:
    first = first_seen.look(Sightings(), ["/a", "/b"], {"/a", "/b"}, 1000)
    repaired = first_seen.look(first, ["/a"], {"/b"}, 2000)
    assert dict(repaired) == {"/b": 1000}
    assert dict(first_seen.look(repaired, ["/a"], {"/a", "/b"}, 3000)) == {"/a": 3000, "/b": 1000}


def test_where_nothing_is_wrong_nothing_is_made() -> None:
    before = Sightings()
    assert first_seen.look(before, ["/a"], {}, 1000) is before
