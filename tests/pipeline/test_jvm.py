"""Spark's JVM, and what it started, ends with the process that it was started for, whenever that ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import full
from tests.pipeline import clusters
from tests.waiting import wait_for
from zkdash.pipeline.spark import scratch

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 300.0
GONE_S = 10.0
# Starts a session, has a worker of Python's begin in it, and waits.
STARTS = """
import sys
from pathlib import Path
from zkdash.pipeline.spark import session
spark = session.start(Path(sys.argv[1]), master="local[1]", progress=False)
assert spark.range(3).mapInArrow(lambda batches: batches, "id long").count() == 3
print("up", flush=True)
sys.stdin.read()
"""


class Started:
    """The process, and all that it started, which inherited a variable of their environment."""

    def __init__(self, below: Path) -> None:
        self.data = below / "data"
        self.mark = f"ZKDASH_TEST_MARK={below}".encode()
        self.process = subprocess.Popen(
            [sys.executable, "-c", STARTS, str(self.data)],
            cwd=ROOT,
            env=os.environ | clusters.quick() | {"ZKDASH_TEST_MARK": str(below)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def others(self) -> dict[int, str]:
        """The names of the processes that it started, as far as they live."""
        names = {}
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if int(path.name) != self.process.pid and self.mark in (path / "environ").read_bytes():
                    names[int(path.name)] = (path / "comm").read_text().strip()
        return names

    def is_up(self) -> bool:
        assert self.process.stdout is not None
        return self.process.stdout.readline() == b"up\n"


# By what is true first: nothing but a shell, a JVM that begins, a session with a worker of Python's.
MOMENTS: dict[str, Callable[[Started], bool]] = {
    "a shell": lambda started: bool(started.others()),
    "a JVM": lambda started: "java" in started.others().values(),
    "a session": Started.is_up,
}


@pytest.mark.spark
@pytest.mark.parametrize("moment", full.pick(["a JVM", "a session"], list(MOMENTS)))
@pytest.mark.parametrize("number", full.pick([signal.SIGKILL], [signal.SIGKILL, signal.SIGINT]))
def test_nothing_is_left_of_a_session_whose_process_ended(tmp_path: Path, moment: str, number: int) -> None:
    started = Started(tmp_path)
    try:
        wait_for(lambda: MOMENTS[moment](started), LIMIT_S)
        started.process.send_signal(number)
        started.process.wait(LIMIT_S)
        wait_for(lambda: not started.others(), GONE_S, started.others)
    finally:
        started.process.kill()
        started.process.communicate()
        for pid in started.others():
            os.kill(pid, signal.SIGKILL)
    # what it left on the disk goes with the next session
    own = scratch.own(started.data / "spark" / "scratch")
    assert {path.name for path in own.parent.iterdir()} == {own.name, "lock"}


def test_what_belongs_to_a_process_that_lives_is_left_alone(tmp_path: Path) -> None:
    mine = scratch.own(tmp_path)
    (mine / "blockmgr-1").mkdir()
    (tmp_path / "1-0").mkdir()
    (tmp_path / "1-0" / "lock").touch()
    (tmp_path / "blockmgr-of-an-earlier-release").mkdir()
    other = scratch.own(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {mine.name, other.name, "lock"}
    assert (mine / "blockmgr-1").is_dir()
