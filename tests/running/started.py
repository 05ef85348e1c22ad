"""Jobs for tests of what runs jobs: small programs, and one that leaves processes wherever it can."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.processes import is_running
from tests.running.jobs import Job
from tests.waiting import wait_for

# In sessions of their own, deaf to what asks them to end, one of them an orphan from its start.
LEAVING = '''
import os, pathlib, signal, subprocess, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
started = [subprocess.Popen(sleep, start_new_session=True).pid]
orphan = f"""
import subprocess
print(subprocess.Popen({sleep!r}, start_new_session=True, stdout=subprocess.DEVNULL).pid)
"""
started.append(int(subprocess.check_output([sys.executable, "-c", orphan])))
signal.signal(signal.SIGINT, signal.default_int_handler)
scratch = os.environ["TMPDIR"]
pathlib.Path(scratch, "what was kept there").touch()
'''


def job(name: str, program: str, *, is_shown: bool = False) -> Job:
    """A job that runs a program of Python."""
    return Job(name, (sys.executable, "-c", program), is_shown=is_shown, again=f"again {name}")


def tell(told: Path) -> str:
    """What after `LEAVING` tells in a file which processes were started and where they have their scratch."""
    return f"""
file = pathlib.Path({str(told)!r})
file.with_suffix(".new").write_text(" ".join(map(str, [*started, os.getpid(), scratch])))
file.with_suffix(".new").rename(file)
"""


def staying(name: str, told: Path) -> Job:
    """A job that leaves processes, tells which, and stays."""
    return job(name, f"{LEAVING}{tell(told)}time.sleep(600)", is_shown=True)


def wait_until_gone(told: Path) -> None:
    """Wait until all that such a job started has ended and its scratch is removed; AssertionError else."""
    *pids, scratch = told.read_text().split()
    assert len(pids) == 3
    wait_for(lambda: not any(is_running(int(pid)) for pid in pids), 60, lambda: pids)
    wait_for(lambda: not Path(scratch).exists(), 60, scratch)
