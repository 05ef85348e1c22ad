"""A command ends as it would alone, and nothing of it is left."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.running.jobs import ROOT
from tests.running.started import LEAVING, tell, wait_until_gone
from tests.waiting import wait_for

# The keeper, with less patience than it has for tests that tidy up.
IMPATIENT = """
import sys
from tests.running import keeper
keeper.TIDY_LIMIT_S, keeper.LEFT_LIMIT_S = 1, 0.5
sys.exit(keeper.Keeper().run(sys.argv[1:]))
"""


@contextlib.contextmanager
def kept(program: str) -> Iterator[subprocess.Popen[str]]:
    """A program of Python with its keeper, whose input is closed at the end."""
    with subprocess.Popen(
        [sys.executable, "-c", IMPATIENT, sys.executable, "-c", program],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        yield running


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("pass", 0),
        ("raise SystemExit(3)", 3),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 128 + signal.SIGKILL),
    ],
)
def test_it_ends_as_the_command_does(program: str, status: int) -> None:
    with kept(program) as running:
        assert running.wait(60) == status


def test_a_command_may_end_before_anybody_waits_for_it() -> None:
    program = """
import os, subprocess, sys
from tests.running import keeper

class Ended(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

subprocess.Popen = Ended
sys.exit(keeper.Keeper().run([sys.executable, "-c", "raise SystemExit(3)"]))
"""
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdin=subprocess.PIPE) as running:
        assert running.wait(60) == 3


def test_what_is_left_of_a_command_is_told_and_killed(tmp_path: Path) -> None:
    told = tmp_path / "told"
    with kept(LEAVING + tell(told)) as running:
        assert running.wait(60) == 0
        assert running.stdout is not None
        lines = running.stdout.read().splitlines()
    *left, _ended, _scratch = told.read_text().split()
    assert sorted(line.split()[2] for line in lines) == sorted(left)
    assert all(line.startswith("left running: ") and "time.sleep(600)" in line for line in lines)
    wait_until_gone(told)


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, None])
def test_who_is_deaf_is_killed_in_the_end(tmp_path: Path, by: signal.Signals | None) -> None:
    told = tmp_path / "told"
    # deaf before it tells: what is told is answered with the signal at once
    deaf = (
        f"{LEAVING}\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{tell(told)}\nwhile True: time.sleep(600)"
    )
    with kept(deaf) as running:
        wait_for(told.exists, 60)
        if by is None:
            assert running.stdin is not None
            running.stdin.close()
        else:
            running.send_signal(by)
        assert running.wait(60) == 128 + signal.SIGKILL
    wait_until_gone(told)


def test_who_was_started_in_the_background_of_a_shell_is_interrupted_all_the_same(tmp_path: Path) -> None:
    began, interrupted = tmp_path / "began", tmp_path / "interrupted"
    program = f"""
import pathlib, time
try:
    pathlib.Path({str(began)!r}).touch()
    time.sleep(600)
except KeyboardInterrupt:
    pathlib.Path({str(interrupted)!r}).touch()
"""
    kept_here = [sys.executable, "-c", IMPATIENT, sys.executable, "-c", program]
    # as a shell without job control starts what has "&" behind it
    deaf = ["bash", "-c", 'trap "" INT; exec "$@"', "bash", *kept_here]
    with subprocess.Popen(deaf, cwd=ROOT, stdin=subprocess.PIPE) as running:
        wait_for(began.exists, 60)
        running.communicate(timeout=60)
    assert interrupted.exists()
