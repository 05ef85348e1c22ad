"""Tables that stay open: the same ones while their logs say the same, and never anything but the newest."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.history.writing import put
from tests.lab.s3 import Bucket
from zkdash.history.places import remote
from zkdash.history.places.location import Location, Remote
from zkdash.history.store import delta_log
from zkdash.history.store.delta import Table
from zkdash.history.store.open_tables import OpenTables
from zkdash.history.store.tables import QueryError

ROWS = "SELECT zxid_upto FROM coverage ORDER BY 1"


def covered(upto: int) -> list[dict[str, Any]]:
    return [{"zxid_from": 1, "zxid_upto": upto}]


@pytest.fixture(params=["tmp_path", "bucket"])
def place(request: pytest.FixtureRequest) -> Location:
    made: Path | Bucket = request.getfixturevalue(request.param)
    return made if isinstance(made, Path) else made.fresh()


def remove(directory: Location, name: str) -> None:
    if isinstance(directory, Remote):
        remote.filesystem(directory).delete_dir(name)
    else:
        shutil.rmtree(directory / name)


def test_they_stay_open_until_a_log_goes_on_or_begins_anew(place: Location) -> None:
    opened = OpenTables(["coverage", "watched"], memory_mb=64)
    put(place, "coverage", covered(5))
    with opened.of(place) as first:
        assert first.lasting(ROWS) == [{"zxid_upto": 5}]
    with opened.of(place) as again:
        assert again is first
        assert again.lasting(ROWS) is first.lasting(ROWS)
    put(place, "coverage", covered(9))
    with opened.of(place) as later:
        assert later is not first
        assert later.lasting(ROWS) == [{"zxid_upto": 5}, {"zxid_upto": 9}]
    remove(place, "coverage")
    put(place, "coverage", covered(1))
    put(place, "coverage", covered(2))
    with opened.of(place) as anew:
        assert anew.lasting(ROWS) == [{"zxid_upto": 1}, {"zxid_upto": 2}]


def test_a_log_elsewhere_is_read_once_until_it_goes_on(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is not there is looked for each time."""
    place, read, names = bucket.fresh(), Table.read, list[str]()
    put(place, "coverage", covered(5))

    def counted(table: Table) -> Any:
        names.append(table.name)
        return read(table)

    monkeypatch.setattr(Table, "read", counted)
    opened = OpenTables(["coverage", "watched"], memory_mb=64)
    for number in (1, 2):
        with opened.of(place) as tables:
            assert tables.lasting(ROWS) == [{"zxid_upto": 5}]
        assert sorted(names) == ["coverage", *["watched"] * number]
    put(place, "coverage", covered(9))
    names.clear()
    with opened.of(place) as tables:
        assert tables.lasting(ROWS) == [{"zxid_upto": 5}, {"zxid_upto": 9}]
    assert sorted(names) == ["coverage", "watched"]
    # a log may lose commits that are older than this
    monkeypatch.setattr(delta_log, "GRACE_MS", 0)
    with opened.of(place) as again:
        assert again is tables  # for nothing is new
    assert sorted(names) == ["coverage", "coverage", "watched", "watched"]


def test_a_file_that_went_without_its_log_is_an_error_once(tmp_path: Path) -> None:
    opened = OpenTables(["coverage"], memory_mb=64)
    put(tmp_path, "coverage", covered(5))
    (path,) = Table(tmp_path / "coverage").paths()
    with opened.of(tmp_path) as first:
        kept = path.read_bytes()
        path.unlink()
        with pytest.raises(QueryError), opened.of(tmp_path) as same:
            same.rows(ROWS)
    path.write_bytes(kept)
    with opened.of(tmp_path) as second:
        assert second is not first
        assert second.rows(ROWS) == [{"zxid_upto": 5}]


def test_few_directories_are_open_at_once(tmp_path: Path) -> None:
    opened = OpenTables(["coverage"], memory_mb=64)
    begun = []
    for name in ("a", "b", "c", "d"):
        put(tmp_path / name, "coverage", covered(5))
        with opened.of(tmp_path / name) as tables:
            begun.append(tables)
    with opened.of(tmp_path / "d") as same:
        assert same is begun[-1]
    with opened.of(tmp_path / "a") as anew:
        assert anew is not begun[0]
