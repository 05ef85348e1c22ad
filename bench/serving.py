"""A real `manage.py serve` over a generated cluster."""

from __future__ import annotations

import contextlib
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench import side
from tests.processes import inherited
from tests.serving import Served
from zkdash.history.store import watching
from zkdash.history.store.delta import Table

_TOPICS_PAGE = "/c/default/topics/"
_READY_LIMIT_S = 60.0


@contextlib.contextmanager
def serving(
    zookeeper: str, topics: int, history: Path | str | None = None, more: Mapping[str, str] = {}
) -> Iterator[Served]:
    """A real `manage.py serve` that has loaded the cluster and records it, with `more` in its environment.

    It tells the past of a `history` (a directory or an address) instead, to which it adds nothing.
    """
    _allow_many_sockets()
    with tempfile.TemporaryDirectory(prefix="zkdash-bench-") as directory:
        environ = inherited() | {
            "ZKDASH_ZOOKEEPER": zookeeper,
            "ZKDASH_DATA": directory,
            "ZKDASH_ANONYMOUS_READ": "1",
            **more,
        }
        if history is not None:
            environ["ZKDASH_HISTORY"] = str(history)
        process = Served(environ, Path(directory), options=["--no-record"] if history else [])
        try:
            process.wait_until_ready()
            deadline = time.monotonic() + _READY_LIMIT_S
            # Before its first rows it imports what writes them, and for some 0.3 s does nothing else.
            log = Table(Path(directory, "history", "default", watching.NAME))
            while process.json(_TOPICS_PAGE)["total"] < topics or (history is None and not log.has_log):
                if time.monotonic() > deadline:
                    raise side.SideFailedError(
                        f"serve has not loaded the tree, or records nothing yet:\n{process.printed()}"
                    )
                time.sleep(0.1)
            yield process
        finally:
            process.kill()


def _allow_many_sockets() -> None:
    """Processes that we start inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
