"""ZooKeeper's files into the tables: what is new of them, in whatever order they came to be there.

What is read is decided by what the tables hold, exactly, and never by how far they reach: a log that came
late, or was copied half and is whole now, fills what was missing. Logs of several servers of one ensemble
hold the same transactions, of which each is loaded once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.history.places.location import Location
from zkdash.history.store import coverage, schemas
from zkdash.history.store.coverage import Stretch
from zkdash.history.store.delta import Table, TableVersion
from zkdash.history.store.tables import opened
from zkdash.pipeline.sources import files, selection
from zkdash.pipeline.sources.files import Found, Listing
from zkdash.pipeline.sources.snapshot import SNAPSHOT
from zkdash.pipeline.sources.txnlog import LOG
from zkdash.pipeline.storage import arrivals, reading, writing
from zkdash.pipeline.storage.arrivals import LOAD, STREAM, Seen
from zkdash.zk.config import ClusterConfig

Tell = Callable[[str, float], None]
# Reads these files, of which all but the given transactions; returns those that it could not open, by place.
ReadLogs = Callable[[Sequence[Found], Sequence[Stretch]], Collection[str]]
# The same of snapshots, of which those of the given zxids are in the tables.
ReadSnapshots = Callable[[Sequence[Found], Collection[int]], Collection[str]]


class Loaded(msgspec.Struct, frozen=True):
    """How many rows and problems are new in each table; `upto` is the last transaction there is, 0 for none.

    `late_from` is the first transaction that is new before others that were loaded earlier. `missing` says
    why directories could not be listed.
    """

    rows: Mapping[str, int]
    upto: int
    late_from: int | None = None
    missing: tuple[str, ...] = ()


def load(spark: SparkSession, cluster: ClusterConfig, directory: Location, tell: Tell) -> Loaded:
    """Read what is new of transaction logs and snapshots. Raises OSError, ValueError, delta.ConflictError."""
    arrivals.prepare(directory, LOAD, STREAM)
    before = _tables(directory)
    covered = coverage.intervals(Table(directory / "coverage"), before["coverage"])
    logs = files.listed(cluster.transaction_logs, LOG)
    snapshots = files.listed(cluster.snapshots or cluster.transaction_logs, SNAPSHOT)
    seen = Seen(directory)

    def read_logs(chosen: Sequence[Found], loaded: Sequence[Stretch]) -> Collection[str]:
        base, places = _tables(directory), [log.place for log in chosen]
        rows = reading.txnlog(
            spark, cluster.transaction_logs, chroot=cluster.chroot, loaded=loaded, files=places
        )
        problems = writing.logs(rows, directory, LOAD, _next(base), base=base, files_read=places)
        return _unreadable(problems)

    def read_snapshots(chosen: Sequence[Found], loaded: Collection[int]) -> Collection[str]:
        base, places = _tables(directory), [snapshot.place for snapshot in chosen]
        paths = cluster.snapshots or cluster.transaction_logs
        rows = reading.snapshot(spark, paths, chroot=cluster.chroot, files=places)
        # the newest one of old servers may still be fuzzy: nobody can tell before the next one is there
        is_new = F.col("zxid_upto").isNotNull()
        if there := {snapshot.zxid for snapshot in chosen if snapshot.zxid in loaded}:
            is_new &= ~F.col("zxid").isin(sorted(there))
        notable = rows.where(is_new | F.col("problem").isNotNull())
        problems = writing.logs(notable, directory, LOAD, _next(base), base=base, files_read=places)
        return _unreadable(problems)

    tell("reading transaction logs", 0.0)
    read = unread_logs(logs, seen, directory, read_logs)
    tell("reading snapshots", 0.5)
    read += unread_snapshots(snapshots, seen, directory, read_snapshots)
    after = _tables(directory)
    if read:
        listed = [file for listing in (logs, snapshots) for each in listing.directories for file in each]
        seen.note(read, listed, after["coverage"].position(LOAD) or 0)
    now = coverage.intervals(Table(directory / "coverage"), after["coverage"])
    return Loaded(
        {name: after[name].rows - before[name].rows for name in after},
        now[-1].last if now else 0,
        late_from(covered, now),
        tuple(dict.fromkeys([*logs.missing, *snapshots.missing])),
    )


def unread_logs(listing: Listing, seen: Seen, directory: Location, read: ReadLogs) -> list[Found]:
    """Read what may be new of logs; which were read.

    First those that others need not be read for, then what these, against what their names say, did not hold.
    """
    done: dict[str, Found] = {}
    closed: set[str] = set()
    doubtful = arrivals.doubtful(Table(directory / "problems"))
    for sparing in (True, False):
        loaded = arrivals.loaded(directory)
        chosen = selection.unread_logs(
            listing.directories,
            loaded,
            is_seen=lambda log: log.place in done or seen(log),
            doubtful=doubtful,
            sparing=sparing,
        )
        if chosen:
            closed.update(read(chosen, loaded))
            done.update({log.place: log for log in chosen})
    return [log for place, log in done.items() if place not in closed]


def unread_snapshots(listing: Listing, seen: Seen, directory: Location, read: ReadSnapshots) -> list[Found]:
    """Read the snapshots that are not in the tables, or of which a problem was told; which are done with.

    Of two servers' snapshots of one zxid the second is read where the first could not be.
    """
    done: dict[str, Found] = {}
    closed: set[str] = set()
    zxids = {file.zxid for each in listing.directories for file in each if not seen(file)}
    doubtful = arrivals.doubtful(Table(directory / "problems"))
    loaded = arrivals.loaded_snapshots(directory, zxids)
    while chosen := selection.unread_snapshots(
        listing.directories,
        is_loaded=loaded.__contains__,
        is_seen=lambda snapshot: snapshot.place in done or seen(snapshot),
        doubtful=doubtful,
    ):
        closed.update(read(chosen, loaded))
        done.update({snapshot.place: snapshot for snapshot in chosen})
        loaded = arrivals.loaded_snapshots(directory, zxids)
    # Of the newest it may be unknown yet up to where it is fuzzy, so that it is not in the tables.
    open_ = {place for place in selection.newest(listing.directories) if place in done}
    closed |= {place for place in open_ if done[place].zxid not in loaded}
    return [snapshot for place, snapshot in done.items() if place not in closed]


def late_from(before: Sequence[Stretch], after: Sequence[Stretch]) -> int | None:
    """The first transaction that is new before one that was there; None for none."""
    new = coverage.without(after, before)
    return new[0].first if new and before and new[0].first < before[-1].last else None


def _tables(directory: Location) -> dict[str, TableVersion]:
    return opened(directory, schemas.TABLES)


def _next(base: Mapping[str, TableVersion]) -> int:
    return 1 + max(version.position(LOAD) or 0 for version in base.values())


def _unreadable(problems: Iterable[Mapping[str, Any]]) -> set[str]:
    return {problem["file"] for problem in problems if files.is_unreadable(problem["reason"])}
