"""Pipeline: what the tables hold, how far they are behind the cluster, and the runs that renew them."""

from __future__ import annotations

import time

import msgspec
from django.conf import settings

from zkdash.cluster.model.severity import Severity
from zkdash.history.recorder import status
from zkdash.history.store import delta, directories
from zkdash.history.store.delta import TableError
from zkdash.history.store.tables import Tables, each
from zkdash.live import engine
from zkdash.live.parts import Block, PageKey, Table
from zkdash.live.runs import Run, Runs
from zkdash.live.snapshot import Snapshot
from zkdash.pipeline.runs import JOBS, QUEUEABLE, State
from zkdash.web.frame import cells, links, row_selection, shapes, tables
from zkdash.web.frame.facts import Fact, Facts, Note, moment, path, status_line, words
from zkdash.web.frame.page import Page, View, without_query
from zkdash.web.frame.tables import Empty
from zkdash.web.history import recorded, run_cells, run_reading, table
from zkdash.web.history.run_cells import Held, Job, Unread
from zkdash.zk.config import named

NAME = "pipeline"
# Jobs that read the source.
READING = frozenset({"load", "all"})
_MOST_PROBLEMS = 50
_COUNTER = (1 << 32) - 1


def no_source(cluster: str) -> str:
    return (
        f"No source is configured for “{cluster}”: name ZooKeeper’s dataLogDir as transaction_logs in the "
        "cluster’s table of ZKDASH_CONFIG, or log.dirs of Kafka’s brokers as segments."
    )


def only_segments(cluster: str) -> str:
    return (
        f"No logs of ZooKeeper are configured for “{cluster}”: what changed in ZooKeeper is not told of, but "
        "for what zkdash recorded. Commits and groups are those that Kafka’s segments hold."
    )


def only_recorded(cluster: str) -> str:
    return (
        f"No logs of ZooKeeper are configured for “{cluster}”: its tables hold what zkdash saw while it "
        "recorded, and of Kafka’s znodes alone. Runs are made only when asked for. To know all that "
        "happened, name ZooKeeper’s dataLogDir as transaction_logs in the cluster’s table of ZKDASH_CONFIG."
    )


def has_source(cluster: str) -> bool:
    """Whether there is anything that a job could read: files that are configured, or what was recorded."""
    return bool(_files(cluster)) or _is_recorded(cluster)


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """With what the tables hold, and what could not be read."""
    engine.polled().runs.hold(snapshot.cluster, run_reading.recent(snapshot.cluster))
    live = look(snapshot, key)
    stored = _held(snapshot.cluster)
    trouble = ""
    unread: tuple[Unread, ...] = ()
    try:
        unread = recorded.ask(snapshot.cluster, ("problems",), _MOST_PROBLEMS, _unread)
    except recorded.UnansweredError as error:
        trouble = str(error)
    problems = tables.part(
        "unread-rows",
        run_cells.UNREAD,
        (
            (f"unread-{at}", Severity.OK if problem.torn else Severity.WARNING, problem)
            for at, problem in enumerate(unread)
        ),
        Empty(trouble or "Everything that was read could be read whole."),
    )
    rows = ((f"table-{holding.name}", Severity.OK, holding) for holding in stored)
    return msgspec.structs.replace(
        live,
        parts=(*live.parts, tables.part("held-rows", run_cells.HELD, rows, None), problems),
        context={
            "acts": row_selection.may_act(key),
            "jobs": QUEUEABLE,
            "run": links.cluster(snapshot.cluster, "pipeline/run/"),
            "job_headings": tables.headings(run_cells.JOB_COLUMNS, ""),
            "run_headings": tables.headings(run_cells.RUNS, ""),
            "table_headings": tables.headings(run_cells.HELD, ""),
            "headings": tables.headings(run_cells.UNREAD, ""),
            "most_problems": _MOST_PROBLEMS if len(unread) == _MOST_PROBLEMS else 0,
        },
        fields=tables.fields(run_cells.RUNS),
        records=lambda: tables.records(run_cells.RUNS, engine.polled().runs.current(snapshot.cluster).runs),
        total=len(engine.polled().runs.current(snapshot.cluster).runs),
        extra=lambda: {
            "tables": [msgspec.structs.asdict(holding) for holding in stored],
            "problems": [msgspec.structs.asdict(problem) for problem in unread],
            "source": _source(snapshot.cluster) or None,
            "zxid": snapshot.state.zxid,
        },
        version=(engine.polled().runs.current(snapshot.cluster), stored, unread, trouble),
    )


def look(snapshot: Snapshot, _key: PageKey) -> View:
    """What is live: how far behind the tables are, the jobs, the runs."""
    runs = engine.polled().runs.current(snapshot.cluster)
    facts = Block(id="facts", template="frame/facts.html", values=_facts(snapshot, runs))
    jobs = tuple(Job(name, what, _newest(runs, name)) for name, what in JOBS.items())
    sentence = runs.trouble or (
        "No run was asked for yet." if runs.read else "The runs of this cluster are not read yet."
    )
    return View(title="Pipeline", parts=(facts, _jobs(jobs), _runs(runs, sentence)))


def keep_alive(key: PageKey) -> None:
    """Have the runs read as long as somebody looks."""
    engine.polled().runs.want(str(key.cluster))


def _render_key(snapshot: Snapshot, _key: PageKey) -> object:
    """How far the cluster went on, in steps that a person cares for: its every write is no news."""
    return _behind(snapshot, engine.polled().runs.current(snapshot.cluster))


def _newest(runs: Runs, job: str) -> Run | None:
    return next((run for run in runs.runs if run.job == job), None)


def _last(runs: Runs) -> Run | None:
    """The run that brought the tables furthest, among those known."""
    done = (run for run in runs.runs if run.state == State.DONE and run.zxid_upto is not None)
    return max(done, key=lambda run: run.zxid_upto or 0, default=None)


def _facts(snapshot: Snapshot, runs: Runs) -> Facts:
    source, last = _source(snapshot.cluster), _last(runs)
    files = _files(snapshot.cluster)
    active = next((run for run in runs.runs if run.state == State.RUNNING), None)
    newest = next(iter(runs.runs), None)
    severity, sentence = Severity.UNKNOWN, "no run was asked for yet"
    if active is not None:
        severity, sentence = Severity.INFO, f"{active.job} is running: {active.progress} %"
    elif newest is not None:
        severity, sentence = run_cells.SEVERITIES[State(newest.state)], f"the newest run is {newest.state}"
    note = _note(snapshot.cluster, source, files)
    facts = [
        status_line(severity, sentence),
        _told(source, files),
        Fact("Recorded up to zxid", words(f"0x{last.zxid_upto:x}" if last and last.zxid_upto else "unknown")),
        Fact("Behind the cluster", words(_behind(snapshot, runs))),
    ]
    if last is not None and last.ended_ms is not None:
        facts.append(Fact("Last brought up to date", moment(last.ended_ms)))
    return Facts(
        name=f"Pipeline of {snapshot.cluster}",
        facts=tuple(facts),
        notes=(Note(note),) if note else (),
    )


def _told(source: str, files: str) -> Fact:
    if files:
        return Fact("Source", path(files))
    return Fact("Source", words(source) if source else words("none", severity=Severity.WARNING))


def _note(cluster: str, source: str, files: str) -> str:
    config = named(settings.ZKDASH_CLUSTERS, cluster)
    if files:
        return "" if config is not None and config.transaction_logs else only_segments(cluster)
    return only_recorded(cluster) if source else no_source(cluster)


def _behind(snapshot: Snapshot, runs: Runs) -> str:
    """How many transactions the cluster has gone on since; rounded, so that it changes seldom."""
    last, now = _last(runs), snapshot.state.zxid
    config = named(settings.ZKDASH_CLUSTERS, snapshot.cluster)
    if last is None and config is not None and config.segments and not config.transaction_logs:
        return "not told: no transaction logs of ZooKeeper are configured"
    if last is None or last.zxid_upto is None:
        return "unknown: no run has read the source yet" if runs.read else "unknown"
    if now is None:
        return "unknown: the cluster is not loaded yet"
    if now >> 32 != last.zxid_upto >> 32:
        return "more than one epoch of ZooKeeper’s leaders"
    count = max(0, (now & _COUNTER) - (last.zxid_upto & _COUNTER))
    if count < 10:
        return "under 10 transactions"
    digits = 10 ** (len(str(count)) - 1)
    return f"over {cells.grouped(count // digits * digits)} transactions"


def _source(cluster: str) -> str:
    """What the tables are made of; "" for nothing."""
    return _files(cluster) or ("what zkdash records" if _is_recorded(cluster) else "")


def _files(cluster: str) -> str:
    """Where the files lie that jobs read; "" where none are configured."""
    config = named(settings.ZKDASH_CLUSTERS, cluster)
    if config is None:
        return ""
    directories = [place for each in config.segments for place in each.directories]
    places = [*config.transaction_logs] or directories
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return "".join(places[:1]) + more


def _is_recorded(cluster: str) -> bool:
    """Whether a recorder ever wrote or now begins to: one of this process is asked, no table is."""
    directory = directories.directory(settings.ZKDASH_HISTORY, cluster)
    return status.read(cluster, directory, time.time_ns() // 1_000_000) is not None


def _jobs(jobs: tuple[Job, ...]) -> Table:
    return tables.part(
        "jobs-rows", run_cells.JOB_COLUMNS, ((f"job-{job.name}", _severity(job), job) for job in jobs), None
    )


def _severity(job: Job) -> Severity:
    return run_cells.SEVERITIES[State(job.newest.state)] if job.newest else Severity.UNKNOWN


def _runs(runs: Runs, sentence: str) -> Table:
    rows = ((f"run-{run.id}", run_cells.SEVERITIES[State(run.state)], run) for run in runs.runs)
    return tables.part("runs-rows", run_cells.RUNS, rows, Empty(sentence))


def _held(cluster: str) -> tuple[Held, ...]:
    """Every table there can be."""
    from zkdash.history.store import derived, schemas  # noqa: PLC0415 - Arrow, for who looks at this page only

    directory = directories.directory(settings.ZKDASH_HISTORY, cluster)

    def look(name: str) -> Held:
        href = links.table(cluster, name) if name in table.TABLES else ""
        try:
            now = delta.Table(directory / name).read()
            return Held(name, now.rows, len(now.files), now.bytes, href=href)
        except TableError as error:
            return Held(name, trouble=str(error), href=href)

    names = (*schemas.TABLES, *derived.TABLES)
    try:
        return tuple(each(directory, look, names, limit_s=recorded.LIMIT_S))
    except TableError as error:  # all of them
        return tuple(Held(name, trouble=str(error)) for name in names)


def _unread(tables: Tables) -> tuple[Unread, ...]:
    rows = tables.rows(
        'SELECT file, "offset", reason, torn FROM problems ORDER BY torn, file DESC, "offset" LIMIT $1',
        [_MOST_PROBLEMS],
    )
    return tuple(Unread(**row) for row in rows)


PAGE = Page(
    name=NAME,
    route="pipeline/",
    template="history/pipeline.html",
    look=look,
    areas=frozenset({"runs"}),
    canonical=without_query,
    shape=shapes.Shape(
        (run_cells.RUNS,),
        {
            "tables": shapes.many(shapes.struct(Held)),
            "problems": shapes.many(shapes.struct(Unread)),
            "source": shapes.TEXT_OR_NULL,
        },
    ),
    section="History",
    label="Pipeline",
    render_key=_render_key,
    whole=whole,
    keep_alive=keep_alive,
    no_past="The pipeline’s page tells of the jobs that zkdash runs; there is none of the past.",
)
