"""Runs one command and leaves nothing of it behind: `keeper.py <command> <argument>…` ends as that does.

What the command and its children started is ours once their parents are gone, whatever session it has: Linux
hands orphans to the nearest subreaper above them. What is still there when the command has ended is told and
killed, and the directory goes too where all of them had what is temporary.

The command ends when it likes, by SIGTERM or SIGINT to us, or when our standard input closes: when who
started us is gone, however that died. It is interrupted then, as by Ctrl-C, so that it can tidy up; if that
takes too long, all of it is killed.

This is a program of its own, beside each part of a run, so it imports the standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

TIDY_LIMIT_S: Final = 30
LEFT_LIMIT_S: Final = 10.0
HURRIED_LIMIT_S: Final = 1.0
KILL_LIMIT_S: Final = 10.0
_PR_SET_CHILD_SUBREAPER: Final = 36
# What commands beside each other would share, by the variables that say where it is.
_OWN: Final = {"TMPDIR": "", "ZKDASH_DATA": "data", "HYPOTHESIS_STORAGE_DIRECTORY": "hypothesis"}


class Keeper:
    """Keeps one command from its start to its end, and to that of all that it started."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_told_to_end = False

    def run(self, command: list[str]) -> int:
        """Run the command; return its exit code, 128 and the signal's number where one ended it."""
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        # Before the command starts: who has handlers does not hand on that a signal is ignored, as shells do
        # that start us in the background.
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGINT, self._end)
        signal.signal(signal.SIGALRM, self._kill_all)
        with tempfile.TemporaryDirectory(prefix="zkdash-", ignore_cleanup_errors=True) as scratch:
            Path(scratch).chmod(0o711)  # PostgreSQL, another user where we are root, comes through
            own = {name: str(Path(scratch, below)) for name, below in _OWN.items()}
            # Kept: where nobody holds it, subprocess itself takes the exit code of a command that has ended.
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=os.environ | own)
            if self._is_told_to_end:
                self._interrupt()
            threading.Thread(target=_when_our_input_closes, daemon=True).start()
            status = self._reap(self._process)
            self._end_the_rest()
        return status

    def _end(self, *_: object) -> None:
        if not self._is_told_to_end:
            self._is_told_to_end = True
            self._interrupt()

    def _interrupt(self) -> None:
        if self._process is not None:
            signal.alarm(TIDY_LIMIT_S)
            os.kill(self._process.pid, signal.SIGINT)

    def _kill_all(self, *_: object) -> None:
        for pid in _below():
            _kill(pid)

    def _reap(self, process: subprocess.Popen[bytes]) -> int:
        """Wait until the command has ended, and for orphans that end meanwhile; return its exit code."""
        ended = status = 0
        while ended != process.pid:
            ended, status = os.waitpid(-1, 0)
        self._process = None
        signal.alarm(0)
        process.returncode = code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code

    def _end_the_rest(self) -> None:
        """Wait until nothing is left, and kill what does not end by itself."""
        left = _wait_for_the_rest(HURRIED_LIMIT_S if self._is_told_to_end else LEFT_LIMIT_S)
        for pid in left:
            sys.stdout.write(f"left running: {pid} {_command(pid)}\n")
        sys.stdout.flush()
        deadline = time.monotonic() + KILL_LIMIT_S
        while left and time.monotonic() < deadline:
            self._kill_all()
            left = _wait_for_the_rest(0.1)


def _when_our_input_closes() -> None:
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _wait_for_the_rest(limit_s: float) -> list[int]:
    """Reap orphans until nothing is below this process; return what is there when the time is over."""
    deadline = time.monotonic() + limit_s
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:  # none has a parent but us
            return []
        if time.monotonic() >= deadline:
            return _below()
        time.sleep(0.02)


def _below() -> list[int]:
    """The processes below this one."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):  # it has just ended
            continue
    found = [os.getpid()]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found[1:]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except (FileNotFoundError, ProcessLookupError):
        return "which has ended"


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has just ended
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(Keeper().run(sys.argv[1:]))
