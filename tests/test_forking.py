"""A forked command is like one of an interpreter of its own, but for the time that it takes to begin."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forking
from tests.processes import is_running
from tests.waiting import wait_for

LIMIT_S = 60.0


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Tells what it was given, and ends as it is told."""
    file = tmp_path / "program.py"
    file.write_text(
        "import os, sys\n"
        "print(sys.argv, sorted(os.environ), os.getcwd(), __name__)\n"
        "print(sys.stdin.read(), file=sys.stderr)\n"
        "print(len(os.listdir('/proc/self/fd')), len(os.listdir('/proc/self/task')))\n"
        "sys.exit(sys.argv[1] if len(sys.argv) > 1 else 0)\n"
    )
    return file


@pytest.mark.parametrize("arguments", [(), ("no such thing",)])
def test_it_says_and_ends_as_an_interpreters_does(program: Path, arguments: tuple[str, ...]) -> None:
    argv, env = [str(program), *arguments], {"ONLY": "this", "LC_CTYPE": "C.UTF-8"}
    ours = forking.run(argv, env=env, typed="héllo\n", timeout=LIMIT_S, cwd=program.parent)
    theirs = subprocess.run(
        [sys.executable, *argv],
        env=env,
        cwd=program.parent,
        input="héllo\n",
        text=True,
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


def test_a_signal_and_an_end_are_told_as_of_any_process(tmp_path: Path) -> None:
    program = tmp_path / "waits.py"
    program.write_text("import signal\nsignal.pause()\n")
    one, other = (
        forking.Process([str(program)], env=os.environ, start_new_session=session)
        for session in (False, True)
    )
    assert os.getsid(one.pid) == os.getsid(0)
    assert os.getsid(other.pid) == other.pid
    assert one.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        one.wait(0.01)
    one.kill()
    assert one.wait(LIMIT_S) == one.returncode == -signal.SIGKILL
    one.terminate()  # nobody any more
    assert is_running(other.pid)
    other.terminate()
    assert other.wait(LIMIT_S) == -signal.SIGTERM


def test_none_outlives_who_asked_for_it(tmp_path: Path) -> None:
    program = tmp_path / "waits.py"
    program.write_text("import signal\nsignal.pause()\n")
    asks = (
        "import os, signal, sys\n"
        "from tests import forking\n"
        "print(forking.Process([sys.argv[1]], env=os.environ).pid, flush=True)\n"
        "signal.pause()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", asks, program], cwd=forking.ROOT, stdout=subprocess.PIPE, text=True
    ) as asking:
        assert asking.stdout is not None
        pid = int(asking.stdout.readline())
        assert is_running(pid)
        asking.kill()
    wait_for(lambda: not is_running(pid), LIMIT_S)
