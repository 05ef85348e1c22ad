"""A process that has imported everything slow, and forks a worker for each line that it is sent.

A line is JSON: {"failpoint", "skew_s", "lease_s", "blind", "room", "writable_s"}, of which any may be left
out, and the answer is the worker's pid. A worker is what `manage.py execute` runs once the database is up to
date. A blind one takes every write without an answer for one that was never applied, as a worker without
markers would. `room` is in bytes, of any file: a disk that is full. After `writable_s` its SQLite takes no
writes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from datetime import timedelta
from typing import Any

SIGNALS = (signal.SIGTERM, signal.SIGINT)


def main() -> None:
    import django

    django.setup()
    from zkdash.actions.execution import leasing  # noqa: F401 - all but what reads the failpoint at import
    from zkdash.actions.queue import planning  # noqa: F401 - all but what reads the failpoint at import

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            _work(json.loads(line))
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


def _work(asked: dict[str, Any]) -> None:
    """Never returns: a worker dies, or ends by SIGTERM."""
    import resource

    if "room" in asked:
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["room"], asked["room"]))
    if "writable_s" in asked:
        _read_only_after(asked["writable_s"])
    os.environ["ZKDASH_FAILPOINT"] = asked.get("failpoint", "")
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    from django.conf import settings

    from zkdash.actions.execution import step_executor, worker

    if asked.get("blind"):
        step_executor.StepExecutor._was_applied = lambda *_: False  # type: ignore[method-assign]
    skew = timedelta(seconds=asked.get("skew_s", 0.0))
    running = worker.Worker(
        settings.ZKDASH_CLUSTERS,
        owner=worker.own_name(),
        clock=lambda: worker.utc_now() + skew,
        lease_s=asked.get("lease_s", 0.5),
        poll_s=0.05,
    )
    running.start()
    signal.sigwait(SIGNALS)
    os._exit(0 if running.stop() else 1)


def _read_only_after(seconds: float) -> None:
    """Each connection answers from then on as if its file had become read-only."""
    from django.db.backends.signals import connection_created

    moment = time.monotonic() + seconds

    def run(execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        if time.monotonic() >= moment:
            context["connection"].connection.execute("PRAGMA query_only = ON")
        return execute(sql, params, many, context)

    def guard(connection: Any, **_: object) -> None:
        connection.execute_wrappers.append(run)

    connection_created.connect(guard, weak=False)


if __name__ == "__main__":
    main()
