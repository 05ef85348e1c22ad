"""Does one thing to a table, and is killed right before it touches a file of it for the n-th time."""

from __future__ import annotations

import itertools
import os
import signal
import sys
from pathlib import Path

import pyarrow as pa

from zkdash.history import files
from zkdash.history.manifest import Table

_TOUCHES = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate"}


def main(directory: str, what: str, limit: int) -> None:
    table = Table(Path(directory))
    count = itertools.count(1)

    def touched(event: str, arguments: tuple[object, ...]) -> None:
        if event in _TOUCHES and directory in str(arguments[0]) and next(count) == limit:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(touched)
    if what == "append":
        files.append(table, pa.table({"zxid_upto": [10, 11]}), "second")
    else:
        base = table.read()
        table.replace(base, base.files, (), now_ms=0)
        table.sweep(now_ms=1, grace_ms=0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
