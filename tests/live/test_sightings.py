from __future__ import annotations

from zkdash.live import sightings
from zkdash.live.sightings import Sightings


def test_a_problem_keeps_the_time_when_it_was_read_first() -> None:
    first = sightings.look(Sightings(), ["/a", "/b"], {"/a"}, 1000)
    again = sightings.look(first, ["/a"], {"/a"}, 2000)
    assert dict(again) == {"/a": 1000}


def test_a_repaired_znode_is_forgotten_and_counts_anew() -> None:
    first = sightings.look(Sightings(), ["/a", "/b"], {"/a", "/b"}, 1000)
    repaired = sightings.look(first, ["/a"], {"/b"}, 2000)
    assert dict(repaired) == {"/b": 1000}
    assert dict(sightings.look(repaired, ["/a"], {"/a", "/b"}, 3000)) == {"/a": 3000, "/b": 1000}


def test_where_nothing_is_wrong_nothing_is_made() -> None:
    before = Sightings()
    assert sightings.look(before, ["/a"], {}, 1000) is before
