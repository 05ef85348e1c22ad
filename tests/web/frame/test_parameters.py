"""What an address asks, within its bounds."""

from __future__ import annotations

import pytest

from zkdash.web.frame.parameters import Parameters

PARAMETERS = Parameters(frozenset({"name", "count"}), longest=5, most=4)


def test_values_are_cut_and_strangers_are_told() -> None:
    given = PARAMETERS.read("name=first&name=+second&strange=1&format=json")
    assert (given.last("name"), given.last_as_written("name")) == ("seco", " seco")
    assert given.all("name") == ("first", " seco")
    assert given.all_as_written("name") == ("first", " second")
    assert (given.last("count", "7"), "count" in given, "name" in given) == ("7", False, True)
    assert [note.partition(" ")[0] for note in given.notes] == ["“stran”"]


def test_nothing_is_read_of_too_many_parameters() -> None:
    given = PARAMETERS.read("name=a&name=b&name=c&name=d&name=e")
    assert "name" not in given
    assert given.notes == ["The address has more than 4 parameters; none of them is read."]


@pytest.mark.parametrize(
    ("value", "number", "notes"),
    [("", 0, 0), ("0", 0, 0), ("12", 12, 0), ("13", 0, 1), ("-1", 0, 1), ("１", 0, 1), ("1e1", 0, 1)],
)
def test_a_number_beyond_its_bounds_is_left_out(value: str, number: int, notes: int) -> None:
    given = PARAMETERS.read(f"count={value}")
    assert (given.number("count", 12), len(given.notes)) == (number, notes)
