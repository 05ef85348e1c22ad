"""Does one thing to a table in a process that is killed before it touches a file of it for the n-th time.

Forks that process for each line that it is sent: the table's directory, what is done, and n, parted by tabs.
Answers with how it ended, as subprocess' `returncode`.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from pathlib import Path

import pyarrow as pa

from zkdash.history.store import files
from zkdash.history.store.manifest import Table

_TOUCHES = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate"}


# Made here, since the first table that a process makes imports a lot.
_ROWS = pa.table({"zxid_upto": [10, 11]})


def main() -> None:
    for line in sys.stdin:
        directory, what, limit = line.rstrip("\n").split("\t")
        pid = os.fork()
        if not pid:
            _do(directory, what, int(limit))
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _do(directory: str, what: str, limit: int) -> None:
    table = Table(Path(directory))
    count = itertools.count(1)

    def touched(event: str, arguments: tuple[object, ...]) -> None:
        if event in _TOUCHES and directory in str(arguments[0]) and next(count) == limit:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(touched)
    if what == "append":
        files.append(table, _ROWS, "second")
    else:
        base = table.read()
        table.replace(base, base.files, (), now_ms=0)
        table.sweep(now_ms=1, grace_ms=0)


if __name__ == "__main__":
    main()
