"""A child process that never outlives us, however we die.

Between us and the child stands a guard: it starts the child, and holds the end of a pipe whose other
end only we hold. When we are gone, `kill -9` too, the pipe closes and the guard kills the child.
This file is also the guard's own program, so it imports the standard library only.
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


class Guarded:
    """A running child behind its guard; what both print is appended to `log`.

    The child has a session of its own: Ctrl-C reaches us, and we decide when the child stops.
    Raises OSError where the child cannot be started.
    """

    def __init__(self, command: Sequence[str | Path], *, log: Path) -> None:
        with log.open("ab") as output:
            self._guard = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", __file__, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                start_new_session=True,
            )
        self._pipe = cast("IO[bytes]", self._guard.stdin)
        with cast("IO[bytes]", self._guard.stdout) as told:
            pid = told.readline()
        if not pid:
            self.wait(limit_s=10)
            raise OSError(f"cannot start {command[0]}: see {log}")
        self.pid = int(pid)

    @property
    def alive(self) -> bool:
        return self._guard.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the child; one that has ended gets none."""
        if self.alive:
            os.kill(self.pid, number)

    def wait(self, *, limit_s: float) -> None:
        """Wait until child and guard have ended. Raises subprocess.TimeoutExpired."""
        self._guard.wait(limit_s)
        self._pipe.close()


def _main(command: list[str]) -> int:
    output = sys.stderr.fileno()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output)  # noqa: S603 - what we were asked to guard
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
