"""The columns of the Pipeline page: jobs, runs, tables, and what could not be read."""

from __future__ import annotations

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.live.runs import Run
from zkdash.pipeline.runs import State
from zkdash.web.frame import cells
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.tables import Column

SEVERITIES = {
    State.QUEUED: Severity.INFO,
    State.RUNNING: Severity.INFO,
    State.DONE: Severity.OK,
    State.FAILED: Severity.CRITICAL,
}


class Job(msgspec.Struct, frozen=True):
    """A job, and its newest run where there is one among those known."""

    name: str
    what: str
    newest: Run | None


class Held(msgspec.Struct, frozen=True):
    """What a table holds; `trouble` is why nobody can tell, `href` the page of its rows, "" for none."""

    name: str
    rows: int = 0
    files: int = 0
    bytes: int = 0
    trouble: str = ""
    href: str = ""


class Unread(msgspec.Struct, frozen=True):
    """What could not be read of a file, and where in it; a file that only ends too early is `torn`."""

    file: str
    offset: int | None
    reason: str
    torn: bool


def _status(run: Run) -> Cell:
    word = f"running: {run.progress} %" if run.state == State.RUNNING else run.state
    return cells.Status(SEVERITIES[State(run.state)], word)


def _seconds(run: Run) -> Cell:
    if run.started_ms is None:
        return cells.absent("it has not begun")
    if run.ended_ms is None:
        return cells.absent("it has not ended")
    return cells.Number(round((run.ended_ms - run.started_ms) / 1000))


def _moment(value: int | None, why: str) -> Cell:
    return cells.known(value, cells.Moment, why)


def _zxid(run: Run) -> Cell:
    return cells.known(run.zxid_upto, lambda zxid: cells.Text(f"0x{zxid:x}"), "it has read no source")


def _of_newest(job: Job, cell: str) -> Cell:
    if job.newest is None:
        return cells.absent("it was not run lately")
    return next(column for column in RUNS if column.name == cell).cell(job.newest)


RUNS: tuple[Column[Run], ...] = (
    Column("id", "Run", lambda run: cells.Head(run.id), is_number=True),
    Column("job", "Job", lambda run: cells.Text(run.job)),
    Column("state", "Status", _status),
    Column("by", "By", lambda run: cells.Text(run.by)),
    Column("queued", "Asked for", lambda run: cells.Moment(run.queued_ms)),
    Column("started", "Started", lambda run: _moment(run.started_ms, "it has not begun")),
    Column("seconds", "Seconds", _seconds, is_number=True),
    Column("rows", "Rows", lambda run: cells.Number(run.rows), is_number=True, title="written"),
    Column("problems", "Problems", lambda run: cells.Number(run.problems, Severity.WARNING), is_number=True),
    Column("zxid_upto", "Up to zxid", _zxid),
    Column("sentence", "What", lambda run: cells.Text(run.sentence)),
)
JOB_COLUMNS: tuple[Column[Job], ...] = (
    Column("job", "Job", lambda job: cells.RowName(job.name)),
    Column("what", "What it does", lambda job: cells.Text(job.what)),
    Column("state", "Newest run", lambda job: _of_newest(job, "state")),
    Column("ended", "Started", lambda job: _of_newest(job, "started")),
    Column("seconds", "Seconds", lambda job: _of_newest(job, "seconds"), is_number=True),
    Column("rows", "Rows", lambda job: _of_newest(job, "rows"), is_number=True),
    Column("problems", "Problems", lambda job: _of_newest(job, "problems"), is_number=True),
)


def _table(table: Held) -> Cell:
    return cells.Name(table.name, table.href) if table.href else cells.RowName(table.name)


def _count(table: Held, number: int) -> Cell:
    return cells.unknown(table.trouble) if table.trouble else cells.Number(number)


HELD: tuple[Column[Held], ...] = (
    Column("name", "Table", _table),
    Column("rows", "Rows", lambda table: _count(table, table.rows), is_number=True),
    Column("files", "Files", lambda table: _count(table, table.files), is_number=True),
    Column("bytes", "Bytes", lambda table: _count(table, table.bytes), is_number=True),
)
UNREAD: tuple[Column[Unread], ...] = (
    Column("file", "File", lambda problem: cells.RowName(problem.file)),
    Column(
        "offset",
        "Byte",
        lambda problem: cells.known(problem.offset, cells.Number, "it is about the whole file"),
    ),
    Column("reason", "Reason", lambda problem: cells.Text(problem.reason)),
    Column("torn", "Kind", lambda problem: cells.Text("ends too early" if problem.torn else "damaged")),
)
