import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.narrowing import known
from tests.processes import is_running
from tests.waiting import wait_for
from zkdash.demo.runtime import child_process


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("is_frozen", [False, True], ids=["running", "frozen"])
def test_the_child_dies_with_its_parent(tmp_path: Path, number: signal.Signals, is_frozen: bool) -> None:
    program = (
        "import pathlib, sys\n"
        "from zkdash.demo.runtime.child_process import ChildProcess\n"
        "print(ChildProcess(['sleep', '600'], log=pathlib.Path(sys.argv[1])).pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, tmp_path / "log"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        pid = int(known(parent.stdout).readline())
        if is_frozen:
            os.kill(pid, signal.SIGSTOP)
        assert is_running(pid)
        os.kill(parent.pid, number)
    wait_for(lambda: not is_running(pid), 60, "the child outlived its parent")


def test_what_the_child_prints_is_appended_to_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    child = child_process.ChildProcess(["sh", "-c", "echo printed; echo failed >&2"], log=log)
    child.wait(limit_s=60)
    assert not child.alive
    assert log.read_text() == "before\nprinted\nfailed\n"
    child.signal(signal.SIGTERM)


def test_a_program_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot start no-such-program"):
        child_process.ChildProcess(["no-such-program"], log=tmp_path / "log")
    assert "FileNotFoundError" in (tmp_path / "log").read_text()


def test_an_interrupt_of_our_process_group_leaves_the_child_to_us(tmp_path: Path) -> None:
    child = child_process.ChildProcess(["sleep", "600"], log=tmp_path / "log")
    assert os.getsid(child.pid) != os.getsid(0)
    child.signal(signal.SIGKILL)
    child.wait(limit_s=60)
