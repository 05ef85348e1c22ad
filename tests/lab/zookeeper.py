"""ZooKeeper releases before 3.6, which know neither MultiRead nor persistent watches; the product brings 3.9.

Their jars are fetched by the run. All of them start on Java 17.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from tests.lab import jars, lock, maven

BUNDLED = "3.9"
OLD = ("3.4.14", "3.5.9")
RELEASES = (BUNDLED, *OLD)


@functools.cache
def classpath(release: str) -> Sequence[Path]:
    """The jars of a release, none for the one that the product brings. Raises jars.UnavailableError."""
    if release == BUNDLED:
        return ()
    locked = lock.read(Path(__file__).with_name(f"zookeeper-{release}.lock"))
    return tuple(jars.fetch(locked, maven.repository(), folder=jars.cache()))
