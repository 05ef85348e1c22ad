"""`manage.py pipeline`: what was, from ZooKeeper's own files, as tables."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from zkdash import extras
from zkdash.history.places import location
from zkdash.history.places.location import Remote
from zkdash.history.store import directories
from zkdash.history.store.delta import TableError
from zkdash.management import database, ending, supervising
from zkdash.management.progress import Bar
from zkdash.pipeline import locks, performer, runs, worker
from zkdash.pipeline.runs import BusyError, Run
from zkdash.zk.config import ClusterConfig, named

DAYS: Final = 30
EVERY_S: Final = 30.0
_NICER: Final = 5  # whoever looks at pages goes first
_HEARD_S: Final = 0.5


class Command(BaseCommand):
    """list the jobs, run one, stream, tell the status, convert old tables, or work on the queue."""

    help = "Turn ZooKeeper's transaction logs and snapshots into the tables of Trends and Time travel."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        verbs = parser.add_subparsers(
            dest="verb", required=True, metavar="{list,run,stream,status,convert,work}"
        )
        verbs.add_parser("list", help="the jobs")
        run = verbs.add_parser("run", help="run a job now, in this process")
        run.add_argument("job", choices=runs.QUEUEABLE)
        stream = verbs.add_parser("stream", help=runs.JOBS["stream"])
        for each in (run, stream):
            each.add_argument("--cluster", help="its name; may be left out where there is one only")
            each.add_argument("--master", default="", help="Spark's master, over ZKDASH_SPARK")
        run.add_argument("--days", type=int, help="how many days to keep, over ZKDASH_HISTORY_DAYS")
        status = verbs.add_parser("status", help="the last runs")
        status.add_argument("--cluster", help="of one cluster only")
        status.add_argument("--json", action="store_true", help="as JSON, with metrics")
        convert = verbs.add_parser("convert", help="make tables of an earlier release into those of this one")
        convert.add_argument("--cluster", help="of one cluster only")
        work = verbs.add_parser("work", help="carry out queued runs until SIGTERM or Ctrl-C")
        work.add_argument("--until-eof", action="store_true", help=argparse.SUPPRESS)
        verbs.add_parser("perform")  # the worker's: `pipeline.performer`

    def handle(self, *_args: object, **options: Any) -> None:
        if lacking := extras.missing("pipeline", "The pipeline"):
            raise CommandError(lacking)
        if options["verb"] == "list":
            for name, description in runs.JOBS.items():
                self.stdout.write(f"{name:8}{description}")
            return
        if options["verb"] == "convert":
            self._convert(options)
            return
        database.prepare()
        if options.get("until_eof"):
            threading.Thread(target=_end_with_input, daemon=True).start()
        {
            "run": self._run,
            "stream": self._run,
            "status": self._status,
            "work": self._work,
            "perform": self._perform,
        }[options["verb"]](options)

    def _run(self, options: dict[str, Any]) -> None:
        from zkdash.pipeline import jobs, performing, warm  # noqa: PLC0415 - the worker holds no Spark

        cluster = _cluster(options["cluster"])
        job = options.get("job") or "stream"
        root = settings.ZKDASH_HISTORY
        try:
            run = runs.begin(cluster.name, job, "command", is_held=locks.of(root))
        except BusyError as error:
            raise CommandError(str(error)) from error
        place = performing.Place(root, options.get("days") or _number("ZKDASH_HISTORY_DAYS", DAYS))
        bar = Bar(sys.stderr)
        try:
            _take_signals(code=int(job != "stream"))
            with warm.Warm(Path(settings.DATA_DIR), options["master"]) as session:
                sentence = performing.perform(run, cluster, place, session, bar.draw)
        except jobs.JobError as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            if job == "stream":
                return
            raise CommandError("It was ended; the tables are whole.") from None
        finally:
            bar.close()
        self.stdout.write(sentence)

    def _perform(self, _options: dict[str, Any]) -> None:
        """Carry out the runs whose numbers come, in one session; what it says is `performer`'s to hear."""
        from zkdash.pipeline import jobs, performing, warm  # noqa: PLC0415 - as in `_run`

        os.nice(_NICER)
        said = os.fdopen(os.dup(sys.stdout.fileno()), "w")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what Spark starts may write there
        place = performing.Place(settings.ZKDASH_HISTORY, _number("ZKDASH_HISTORY_DAYS", DAYS))
        queued = _Asked()
        try:
            _take_signals(code=1)
            with warm.Warm(Path(settings.DATA_DIR)) as session:
                print(performer.READY, file=said, flush=True)
                while True:
                    number = queued.next()
                    run = Run.objects.get(id=number)
                    with contextlib.suppress(jobs.JobError):  # its row tells
                        performing.perform(run, _cluster(run.cluster), place, session)
                    connections.close_all()
                    print(number, file=said, flush=True)
        except KeyboardInterrupt:
            sys.exit(1)

    def _convert(self, options: dict[str, Any]) -> None:
        from zkdash.history.store import conversion  # noqa: PLC0415 - Arrow

        root = settings.ZKDASH_HISTORY
        if isinstance(root, Remote):
            raise CommandError(f"{root} holds no tables of an earlier release: those lay in directories.")
        clusters = [_cluster(options["cluster"])] if options["cluster"] else settings.ZKDASH_CLUSTERS
        for cluster in clusters:
            directory = location.local(directories.directory(root, cluster.name))
            try:
                with (
                    locks.holding(directory, "run"),
                    locks.holding(directory, "load"),
                    locks.holding(directory, locks.RECORDER),
                ):
                    done = conversion.convert(directory)
            except (BusyError, TableError) as error:
                raise CommandError(str(error)) from error
            for each in done:
                self.stdout.write(f"{cluster.name} {each.table}: {each.rows} rows of {each.files} files")
            if not done:
                self.stdout.write(f"{cluster.name}: no table is of an earlier release.")

    def _status(self, options: dict[str, Any]) -> None:
        names = [options["cluster"]] if options["cluster"] else [c.name for c in settings.ZKDASH_CLUSTERS]
        chosen = [run for name in names for run in runs.recent(name)]
        if options["json"]:
            self.stdout.write(json.dumps([_told(run) for run in chosen], indent=1))
            return
        for run in chosen:
            ended = run.ended_at or run.started_at or run.queued_at
            self.stdout.write(
                f"{run.id:5} {run.cluster} {run.job:7} {run.state:8} {run.progress:3} % "
                f"{ended:%Y-%m-%d %H:%M:%S} {run.rows} rows, {run.problems} problems: {run.sentence}"
            )
        if not chosen:
            self.stdout.write("No run was ever asked for.")

    def _work(self, _options: dict[str, Any]) -> None:
        working = worker.Worker(
            settings.ZKDASH_CLUSTERS,
            performer.Performer([*supervising.COMMAND, "pipeline", "perform"]),
            root=settings.ZKDASH_HISTORY,
            every_s=float(_number("ZKDASH_PIPELINE_EVERY", EVERY_S)),
        )
        ending.when_told(working.stop)
        self.stdout.write("zkdash carries out the runs of its pipeline")
        self.stdout.flush()
        working.work()
        ending.finish()


class _Asked:
    """The numbers of runs that come by standard input. Whoever started this process holds it: when they are
    gone, it ends as by SIGTERM, whatever it does.
    """

    def __init__(self) -> None:
        self._numbers: queue.SimpleQueue[int] = queue.SimpleQueue()
        threading.Thread(target=self._hear, daemon=True).start()

    def next(self) -> int:
        """The next one; waits for it, and hears signals."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self._numbers.get(timeout=_HEARD_S)

    def _hear(self) -> None:
        # sys.stdin's own lock would be held while the interpreter ends
        with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as lines:
            for line in lines:
                self._numbers.put(int(line))
        os.kill(os.getpid(), signal.SIGTERM)


def _cluster(name: str | None) -> ClusterConfig:
    clusters: Sequence[ClusterConfig] = settings.ZKDASH_CLUSTERS
    if name is None and len(clusters) == 1:
        return clusters[0]
    if name is None or (config := named(clusters, name)) is None:
        there = ", ".join(cluster.name for cluster in clusters) or "none: set ZKDASH_CONFIG"
        raise CommandError(f"--cluster {name}: there is no such cluster; configured are {there}.")
    return config


def _number(variable: str, default: float) -> int:
    text = os.environ.get(variable, "").strip() or f"{default:g}"
    if not text.isdecimal():
        raise CommandError(f"{variable}={text} is no whole number.")
    return int(text)


def _told(run: Run) -> dict[str, Any]:
    names = ("id", "cluster", "job", "state", "by", "rows", "problems", "zxid_upto", "progress", "sentence")
    times = ("queued_at", "started_at", "ended_at")
    record = {name: getattr(run, name) for name in names}
    return (
        record
        | {name: at and at.isoformat() for name in times for at in [getattr(run, name)]}
        | {"metrics": run.metrics}
    )


def _take_signals(*, code: int) -> None:
    """SIGTERM ends a run as Ctrl-C does, in limited time; the limit's own exit code is this."""

    def interrupt(_number: int, _frame: object) -> NoReturn:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        ending.begin(code=code)
        ending.hush("", KeyboardInterrupt)  # py4j tells with a traceback that it was interrupted
        logging.getLogger("py4j").setLevel(logging.CRITICAL)  # and of each connection that is cut by it
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, interrupt)


def _end_with_input() -> None:
    """Whoever started this process holds its standard input: when they are gone, it ends as by SIGTERM."""
    while os.read(0, 4096):  # sys.stdin's own lock would be held while the interpreter ends
        pass
    os.kill(os.getpid(), signal.SIGTERM)
