"""A child process that never outlives us, however we die.

Between us and the child stands a watchdog process: it starts the child, and holds the end of a pipe whose
other end only we hold. When we are gone, `kill -9` too, the pipe closes and the watchdog kills the child.
This file is also the watchdog's own program, so it imports the standard library only.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast


class ChildProcess:
    """A running child and its watchdog; what both print is appended to `log`.

    The child has a session of its own: Ctrl-C reaches us, and we decide when the child stops.
    Raises OSError where the child cannot be started.
    """

    def __init__(self, command: Sequence[str | Path], *, log: Path) -> None:
        with log.open("ab") as log_file:
            self._watchdog = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", __file__, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log_file,
                start_new_session=True,
            )
        self._pipe = cast("IO[bytes]", self._watchdog.stdin)
        with cast("IO[bytes]", self._watchdog.stdout) as output:
            pid = output.readline()
        if not pid:
            self.wait(limit_s=10)
            raise OSError(f"cannot start {command[0]}: see {log}")
        self.pid = int(pid)

    @property
    def alive(self) -> bool:
        return self._watchdog.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the child; one that has ended gets none."""
        if self.alive:
            os.kill(self.pid, number)

    def wait(self, *, limit_s: float | None = None) -> None:
        """Wait until child and watchdog have ended. Raises subprocess.TimeoutExpired."""
        self._watchdog.wait(limit_s)
        self._pipe.close()


def _main(command: list[str]) -> int:
    output = sys.stderr.fileno()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output)  # noqa: S603 - the command that we were given
    sys.stdout.write(f"{child.pid}\n")
    sys.stdout.flush()

    def kill_when_orphaned() -> None:
        sys.stdin.buffer.read()
        child.kill()

    threading.Thread(target=kill_when_orphaned, daemon=True).start()
    return child.wait()


if __name__ == "__main__":
    # Not sys.exit: the thread may hold stdin's lock, which the interpreter's end would wait for.
    os._exit(_main(sys.argv[1:]) & 0xFF)
