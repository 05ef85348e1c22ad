"""A run carried out in this process: alone, heard of while it lasts, with an honest sentence at its end."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from django.db import DatabaseError, connections
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from zkdash.history.store import directories
from zkdash.history.store.delta import ConflictError, TableError
from zkdash.history.store.location import Location
from zkdash.java import NoJavaError
from zkdash.pipeline import jobs, locks, runs, session
from zkdash.pipeline.jobs import JobError, Outcome, Tell
from zkdash.pipeline.runs import BusyError, Run
from zkdash.zk.config import ClusterConfig

TOLD_S: Final = 5.0

log = logging.getLogger(__name__)


class Place(msgspec.Struct, frozen=True):
    """Where runs work: the tables' root, this process's scratch, Spark's master, the days that are kept."""

    root: Location
    data_dir: Path
    master: str = ""
    days: int = 30


def perform(run: Run, cluster: ClusterConfig, place: Place, tell: Tell = lambda _what, _done: None) -> str:
    """Carry out a run that is this process's; its last sentence. Raises JobError with that of a failure.

    The row tells the same. KeyboardInterrupt is a failure too, and goes on.
    """

    def report(sentence: str, done: float) -> None:
        runs.tell(run, sentence=sentence, progress=round(100 * done))
        tell(sentence, done)

    try:
        with _alive(run):
            outcome = _job(run.job, cluster, place, report)
    except BaseException as error:
        sentence = _why(error)
        with contextlib.suppress(DatabaseError):
            runs.finish(run, sentence, failed=True)
        if isinstance(error, Exception):
            raise JobError(sentence) from error
        raise
    runs.finish(
        run,
        outcome.sentence,
        rows=outcome.rows,
        problems=outcome.problems,
        zxid_upto=outcome.zxid_upto,
        metrics=outcome.metrics,
    )
    return outcome.sentence


def _job(job: str, cluster: ClusterConfig, place: Place, tell: Tell) -> Outcome:
    directory = directories.directory(place.root, cluster.name)
    if job == jobs.STREAM:
        with locks.holding(directory, "load"):
            return _streamed(cluster, place, tell)
    with locks.holding(directory, "run"):
        if job == "retain":
            return jobs.retain(cluster, place.root, place.days, tell)
        if job == "load":
            jobs.check_files(cluster, directory)  # before a JVM is started for nothing
        steps = ("load", "derive", "retain") if job == "all" else (job,)
        with _spark(place, tell) as spark:
            done = [_step(step, spark, cluster, place, _part(tell, steps, step)) for step in steps]
        return _together(done)


def _step(step: str, spark: Any, cluster: ClusterConfig, place: Place, tell: Tell) -> Outcome:
    if step == "derive":
        return jobs.derive(spark, cluster, place.root, tell)
    if step == "retain":
        return jobs.retain(cluster, place.root, place.days, tell)
    with locks.holding(directories.directory(place.root, cluster.name), "load"):
        return jobs.load(spark, cluster, place.root, tell)


def _streamed(cluster: ClusterConfig, place: Place, tell: Tell) -> Outcome:
    """Until this process is interrupted, or the query fails."""
    jobs.check(cluster)
    jobs.check_stream(place.root)
    with _spark(place, tell) as spark:
        query = jobs.stream(spark, cluster, place.root)
        tell("loading what ZooKeeper writes", 0.0)
        with _stopping(query.stop):
            query.awaitTermination()
    return Outcome("the stream was ended")


@contextlib.contextmanager
def _spark(place: Place, tell: Tell) -> Iterator[Any]:
    tell("starting Spark", 0.0)
    spark = session.start(place.data_dir, master=place.master, progress=False)
    with _stopping(lambda: session.stop(spark)):
        try:
            yield spark
        except (PySparkException, Py4JError) as error:
            raise JobError(_why(error)) from error  # while the JVM is there to be asked for its words


@contextlib.contextmanager
def _stopping(stop: Callable[[], object]) -> Iterator[None]:
    """Stop something of Spark's in the end.

    Interrupted amid an answer, the JVM may say anything to being stopped: nobody is told of it then.
    """
    unheard: tuple[type[Exception], ...] = ()
    try:
        yield
    except KeyboardInterrupt:
        unheard = (PySparkException, Py4JError, OSError)
        raise
    finally:
        with contextlib.suppress(*unheard):
            stop()


@contextlib.contextmanager
def _alive(run: Run) -> Iterator[None]:
    """Tell again and again that this process lives, from a thread of its own."""
    over = threading.Event()

    def tell() -> None:
        while not over.wait(TOLD_S):
            try:
                runs.tell(run)
            except DatabaseError as error:
                log.warning("Run %s could not be told of: %s", run.id, error)
            finally:
                connections.close_all()

    thread = threading.Thread(target=tell, name=f"run {run.id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _part(tell: Tell, steps: tuple[str, ...], step: str) -> Tell:
    """Of several steps, each takes its share."""
    number = steps.index(step)
    return lambda sentence, done: tell(sentence, (number + done) / len(steps))


def _together(done: list[Outcome]) -> Outcome:
    metrics: dict[str, Any] = {}
    for each in done:
        metrics |= each.metrics
    zxids = [each.zxid_upto for each in done if each.zxid_upto is not None]
    return Outcome(
        "; ".join(each.sentence for each in done),
        rows=sum(each.rows for each in done),
        problems=sum(each.problems for each in done),
        zxid_upto=max(zxids, default=None),
        metrics=metrics,
    )


_TOLD: Final[tuple[type[BaseException], ...]] = (JobError, BusyError, NoJavaError, TableError)


def _why(error: BaseException) -> str:
    if isinstance(error, _TOLD):
        return str(error)
    if isinstance(error, ConflictError):
        return f"{error}; run it again"
    if isinstance(error, KeyboardInterrupt):
        return "it was ended; the tables are whole: run it again"
    if isinstance(error, ConnectionError):  # the JVM is told of by nothing else
        return "Spark ended before the job did; the tables are whole: run it again"
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'} cannot be used: {error.strerror or error}"
    log.error("The run failed", exc_info=error)
    first = next(iter(str(error).strip().splitlines()), "")
    trouble = (
        "Spark failed"
        if isinstance(error, (PySparkException, Py4JError))
        else f"it failed ({type(error).__name__})"
    )
    return f"{trouble}: {first[:500]}; the tables are whole, the log tells more"
