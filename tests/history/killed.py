"""Does one thing to a table in a process that the kernel kills when it writes a byte too many into a file.

Forks that process for each line that it is sent: the table's directory, what is done, and how many bytes a
file may have, parted by tabs. Answers with how it ended, as subprocess' `returncode`.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path

# Imported here, since forking costs less than importing.
import deltalake  # noqa: F401
import pyarrow as pa

from zkdash.history.store import files, schemas
from zkdash.history.store.delta import Table

ROWS = pa.Table.from_pylist(
    [{"zxid_from": zxid, "zxid_upto": zxid} for zxid in (10, 11)], schema=schemas.COVERAGE
)


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
    base = table.read()
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python's own would have the write fail
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    if what == "append":
        files.append(table, ROWS, stream="killed", batch=1)
    else:
        table.replace(base, base.files, (), positions={"killed": 1})
        table.vacuum(grace_ms=0)


if __name__ == "__main__":
    main()
