"""Which files may hold what is not in the tables: told by their names and by what was read, without a look.

A server names a log by its first transaction, and writes nothing more into it once it has begun the next one.
So two names bound what lies between, and where all of that was read, the log need not be. Where it was not
(the newest log, one that was copied half, the last of an epoch), it is read again whenever it changed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from zkdash.history.store import coverage
from zkdash.pipeline.sources.files import Found


def unread_logs(
    directories: Iterable[Sequence[Found]],
    loaded: Sequence[tuple[int, int]],
    *,
    is_seen: Callable[[Found], bool] = lambda _log: False,
    doubtful: Collection[str] = (),
    sparing: bool = False,
) -> list[Found]:
    """The logs that may hold transactions that are not `loaded` (`coverage.exact`), by directory.

    `is_seen` says of a log whether it was read as it is now. `doubtful` are places of which a problem was
    told, that may be none any more. `sparing` leaves out, of servers of one ensemble, what another one's log
    holds by its name: once that was read it is known whether it did.
    """
    promised: Sequence[tuple[int, int]] = loaded
    chosen = []
    for logs in directories:
        for log, last in _bounded(logs):
            enough = promised if sparing else loaded
            is_held = last is not None and coverage.holds(enough, log.zxid, last)
            if is_seen(log) or (is_held and log.place not in doubtful):
                continue
            chosen.append(log)
            if last is not None:
                promised = coverage.exact([*promised, (log.zxid, last)])
    return chosen


def unread_snapshots(
    directories: Iterable[Sequence[Found]],
    *,
    is_loaded: Callable[[int], bool],
    is_seen: Callable[[Found], bool] = lambda _snapshot: False,
    doubtful: Collection[str] = (),
) -> list[Found]:
    """The snapshots that are not in the tables, one for each zxid, and those that are but are `doubtful`.

    `is_seen` and `doubtful` as of logs: what is wrong with a server's snapshot is asked again once that
    changed, also where another server's is in the tables.
    """
    chosen: dict[int, Found] = {}
    for snapshots in directories:
        for snapshot in snapshots:
            if snapshot.zxid in chosen or is_seen(snapshot):
                continue
            if snapshot.place in doubtful or not is_loaded(snapshot.zxid):
                chosen[snapshot.zxid] = snapshot
    return list(chosen.values())


def newest(directories: Iterable[Sequence[Found]]) -> set[str]:
    """The places of the last file of each directory, to which its server may still write."""
    return {files[-1].place for files in directories if files}


def _bounded(logs: Sequence[Found]) -> Iterator[tuple[Found, int | None]]:
    """Each log with the last transaction that it may hold; None for the newest."""
    for log, after in itertools.zip_longest(logs, logs[1:]):
        yield log, None if after is None else after.zxid - 1
