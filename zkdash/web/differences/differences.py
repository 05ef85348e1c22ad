"""Differences: what came, went and changed between two moments of a cluster, in sentences."""

from __future__ import annotations

from collections import Counter

import msgspec

from zkdash.cluster import changes
from zkdash.cluster.changes import Change
from zkdash.cluster.model.severity import Severity
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.differences import query as queries
from zkdash.web.differences.query import DifferencesQuery
from zkdash.web.frame import cells, shapes, tables
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.panels import change_table
from zkdash.web.frame.tables import Column, Empty
from zkdash.znode import Batch

NAME = "differences"
# So many partitions that changed are told one by one.
_MOST_PARTITIONS = 20_000
# So many things that happened to several partitions alike are listed.
_MOST_ALIKE = 12


def look(snapshot: Snapshot, key: PageKey) -> View:
    """The page; a form alone where no two moments are compared."""
    query = queries.understood(key.query)
    every = _sentences(snapshot)
    shown = queries.page_of(every, query, lambda change: query.means(change.area, change.path, _text(change)))
    body = tables.part(
        "differences-rows",
        (COLUMNS[0], *change_table.of_cluster(snapshot.cluster)[1:]),
        ((f"difference-{number}", Severity.OK, change) for number, change in enumerate(shown.rows)),
        Empty(_empty(snapshot, query)),
    )
    return View(
        title="Differences",
        parts=(body, *shown.parts(query, "differences")),
        context={
            **queries.context(snapshot, query, queries.ROUTE),
            "headings": tables.headings(COLUMNS, ""),
            "counts": queries.counts(query, (change.area for change in every if query.is_of(change.path))),
            "alike": _alike(every, query),
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, shown.rows),
        total=shown.matched,
        extra=lambda: queries.record(snapshot),
    )


def _sentences(snapshot: Snapshot) -> tuple[Change, ...]:
    """What is to be said of the difference, newest first; commits of offsets are none."""
    past = snapshot.past
    if past is None or past.earlier is None:
        return ()
    earlier = past.earlier
    batch = Batch({path: now for path, (_, now) in earlier.changed.items()}, past.instant.zxid)
    return changes.of_batch(
        earlier.snapshot.state,
        snapshot.state,
        batch,
        now_ms=past.instant.time_ms,
        most_partitions=_MOST_PARTITIONS,
    )


class Alike(msgspec.Struct, frozen=True):
    """What happened to so many partitions alike, and the way to these."""

    words: str
    partitions: int
    href: str


def _alike(every: tuple[Change, ...], query: DifferencesQuery) -> tuple[Alike, ...]:
    """What happened to more than one partition, the most frequent first."""
    counts = Counter(
        rest
        for subject, _, rest in (change.what.partition(" ") for change in every)
        if subject == "partition"
        for rest in [rest.partition(" ")[2]]
    )
    return tuple(
        Alike(words, count, "?" + query.write(area="topics", text=words))
        for words, count in counts.most_common(_MOST_ALIKE)
        if count > 1
    )


def _text(change: Change) -> str:
    return f"{change.what} {change.path}"


def _empty(snapshot: Snapshot, query: DifferencesQuery) -> str:
    if snapshot.past is None or snapshot.past.earlier is None:
        return "Choose two moments: what differs between them is listed here."
    if query.filters:
        return "Nothing that differs matches."
    return "Nothing differs but committed offsets, if anything: znode by znode all is told."


def _when(change: Change) -> Cell:
    if change.zxid is None and not (change.claims and change.when):
        return cells.unknown("between the two moments: ZooKeeper does not tell when a znode was deleted")
    return cells.Moment(change.when)


COLUMNS: tuple[Column[Change], ...] = (
    msgspec.structs.replace(change_table.COLUMNS[0], cell=_when),
    *change_table.COLUMNS[1:],
)

PAGE = Page(
    name=NAME,
    route=queries.ROUTE,
    template="differences/differences.html",
    look=look,
    canonical=queries.canonical,
    shape=shapes.Shape((COLUMNS,), queries.EXTRA, parameters=queries.SCHEMAS),
    section="History",
    label="Differences",
    compares=True,
)
