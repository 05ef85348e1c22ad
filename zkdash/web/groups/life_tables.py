"""The tables of a group's life: the znodes of a step, the watches, the plan beside the owners."""

from __future__ import annotations

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.rebalance.values import Part
from zkdash.web.frame import cells, links
from zkdash.web.frame.cells import Cell, broker_cells
from zkdash.web.frame.tables import Column
from zkdash.web.groups import cells as group_cells
from zkdash.web.groups.life import Line, Watch


class ZnodeRow(msgspec.Struct, frozen=True):
    """A znode of a step, of a cluster."""

    cluster: str
    line: Line


class WatchRow(msgspec.Struct, frozen=True):
    """A watch, of a cluster."""

    cluster: str
    watch: Watch


class PlanRow(msgspec.Struct, frozen=True):
    """A partition of a group of a cluster: whose it should be, and whose it is."""

    cluster: str
    group: str
    part: Part
    settled: bool


def _session(row: ZnodeRow) -> Cell:
    znode = row.line.znode
    if znode is None:
        return cells.unknown("the znode cannot be read")
    return (
        broker_cells.Session(znode.ephemeral_owner)
        if znode.ephemeral_owner
        else cells.absent("no session owns it")
    )


def _kind(row: ZnodeRow) -> Cell:
    znode = row.line.znode
    if znode is None:
        return cells.unknown("the znode cannot be read")
    return cells.Text("ephemeral" if znode.ephemeral_owner else "persistent")


def _thread(row: PlanRow, thread: str | None, why: str) -> Cell:
    if thread is None:
        return cells.absent(why)
    return group_cells.Thread(thread, group_cells.short(thread, row.group))


def severity(row: PlanRow) -> Severity:
    """A verdict's severity; while the group rebalances an owner other than the expected one is no fault."""
    severity = row.part.verdict.severity
    return Severity.INFO if severity is Severity.WARNING and not row.settled else severity


ZNODES: tuple[Column[ZnodeRow], ...] = (
    Column("path", "Znode", lambda row: cells.Path(row.line.path, is_head=True, cluster=row.cluster)),
    Column("holds", "Holds", lambda row: cells.Text(row.line.holds)),
    Column("kind", "Kind", _kind),
    Column("session", "Session", _session, title="that owns it, and with whose end it goes"),
    Column(
        "written",
        "Written",
        lambda row: cells.known(
            row.line.znode.mtime if row.line.znode else None, cells.Moment, "the znode cannot be read"
        ),
        title="by the clock of ZooKeeper's server",
    ),
)
FIELDS: tuple[Column[ZnodeRow], ...] = (
    Column("step", "Step", lambda row: cells.Text(row.line.step)),
    *ZNODES,
)
WATCHES: tuple[Column[WatchRow], ...] = (
    Column(
        "path",
        "Znode",
        lambda row: cells.Path(
            row.watch.path, is_head=True, cluster=row.cluster if row.watch.is_there else ""
        ),
    ),
    Column("watched", "Watched", lambda row: cells.Text(row.watch.of), title="its children, or its data"),
    Column("why", "Tells of", lambda row: cells.Text(row.watch.why)),
    Column("now", "Now", lambda row: cells.Text(row.watch.now)),
)
PLAN: tuple[Column[PlanRow], ...] = (
    Column(
        "topic", "Topic", lambda row: cells.Name(row.part.topic, links.topic(row.cluster, row.part.topic))
    ),
    Column("partition", "Partition", lambda row: group_cells.Key(row.part.key), is_number=True),
    Column(
        "expected",
        "By the rule",
        lambda row: _thread(row, row.part.expected, row.part.reason or "no member subscribes to it"),
    ),
    Column("owner", "Owner now", lambda row: _thread(row, row.part.owner, "no owner znode")),
    Column("status", "Verdict", lambda row: cells.Status(severity(row), row.part.verdict.value)),
)
