"""The committed lock files, and how they are read and written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab import lock
from tests.lab.lock import Jar
from tests.lab.maven import Coordinate
from tests.lab.releases import NOT_ON_CENTRAL, RELEASES, Release


@pytest.mark.parametrize("release", RELEASES.values(), ids=lambda release: release.version)
def test_a_committed_lock_holds_its_roots_and_whole_digests(release: Release) -> None:
    jars = lock.read(release.lock)
    coordinates = [jar.coordinate for jar in jars]
    assert {*release.roots, *release.alone} <= set(coordinates)
    assert coordinates == sorted(set(coordinates))
    assert all(len(bytes.fromhex(jar.sha256)) == 32 and jar.size > 0 for jar in jars)
    assert not {f"{c.group}:{c.artifact}" for c in coordinates} & set(NOT_ON_CENTRAL)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    jars = (
        Jar(Coordinate("a", "b", "1"), "0" * 64, 1),
        Jar(Coordinate("a", "b", "1", "linux"), "f" * 64, 2),
    )
    path = tmp_path / "some.lock"
    lock.write(path, reversed(jars), command="made by hand")
    assert lock.read(path) == jars
    assert path.read_text().startswith("# made by: made by hand\n")


@pytest.mark.parametrize("line", ["a:b:1 00", "a:b 00 1", "a:b:1 00 x"])
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "some.lock"
    path.write_text(f"# fine\n{line}\n")
    with pytest.raises(ValueError, match=r"some\.lock:2: "):
        lock.read(path)


def test_an_unknown_release_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert lock.main(["9.9.9"]) == 2
    assert "unknown release 9.9.9; known: 0.8.2.2" in capsys.readouterr().out
