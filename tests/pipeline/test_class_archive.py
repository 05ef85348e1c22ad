"""The JVM of a session starts from the archive of classes that `make test` has made, or without it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from zkdash import java
from zkdash.java import Java
from zkdash.pipeline.spark import class_archive

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 300.0
STARTS = """
import sys
from pathlib import Path
from zkdash.pipeline.spark import session
options = {"spark.driver.extraJavaOptions": f"-Xlog:class+load:file={sys.argv[2]}"}
spark = session.start(Path(sys.argv[1]), master="local[1]", options=options, progress=False)
print(spark.range(3).count())
session.stop(spark)
"""
# Of a class of Spark's: from which file it came.
LOADED = re.compile(r"org\.apache\.spark\.\S+ source: (.*)")


def _printed(*arguments: str | Path, **settings: str) -> str:
    """What Python prints that is started with these arguments, and settings in its environment."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    return done.stdout


@pytest.mark.spark
def test_most_classes_of_a_session_come_from_the_archive(tmp_path: Path) -> None:
    log = tmp_path / "classes.log"
    (directory := tmp_path / "data").mkdir()
    assert _printed("-c", STARTS, directory, log) == "3\n"
    sources = LOADED.findall(log.read_text())
    archived = [source for source in sources if source.startswith("shared objects file (top)")]
    of_jars = [source for source in sources if source.startswith("file:")]
    assert (len(archived) > 10 * len(of_jars)) == class_archive.is_possible(java.find())


@pytest.mark.spark
def test_what_the_archive_does_not_fit_starts_without_it_and_says_nothing_of_it(tmp_path: Path) -> None:
    """A directory of settings stands before the jars, where none stood when it was made."""
    log = tmp_path / "classes.log"
    (directory := tmp_path / "data").mkdir()
    (settings := tmp_path / "conf").mkdir()
    (settings / "spark-defaults.conf").write_text("spark.sql.shuffle.partitions 3\n")
    assert _printed("-c", STARTS, directory, log, SPARK_CONF_DIR=str(settings)) == "3\n"
    sources = LOADED.findall(log.read_text())
    assert sources
    assert not [source for source in sources if source.startswith("shared objects file (top)")]


def test_an_archive_that_is_there_is_not_made_again() -> None:
    runtime = java.find()
    archive = class_archive.path(runtime) if class_archive.is_possible(runtime) else None
    made_at = archive.stat().st_mtime_ns if archive else 0
    printed = _printed("-m", "zkdash.pipeline.spark.archiving")
    assert printed == f"{archive or 'this Java can have no archive of classes'}\n"
    assert archive is None or archive.stat().st_mtime_ns == made_at


def test_another_java_has_an_archive_of_its_own(tmp_path: Path) -> None:
    ours = java.find()
    other = Java(tmp_path / "java", ours.version)
    other.path.write_text("#!/bin/sh\n")
    assert class_archive.options(other) == ()
    assert not class_archive.is_possible(other)
    assert class_archive.path(other) != class_archive.path(ours)
    assert class_archive.path(ours).parent == Path(sys.prefix)
