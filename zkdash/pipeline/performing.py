"""A run carried out in this process: alone, heard of while it lasts, with an honest sentence at its end."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from django.db import DatabaseError, connections
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from zkdash.history.places.location import Location
from zkdash.history.store import directories
from zkdash.history.store.delta import ConflictError, TableError
from zkdash.java import NoJavaError
from zkdash.pipeline import jobs, locks, news, runs
from zkdash.pipeline.jobs import JobError, Outcome, Tell
from zkdash.pipeline.runs import BusyError, Run
from zkdash.pipeline.storage.arrivals import STREAM
from zkdash.pipeline.warm import Warm, stopping
from zkdash.zk.config import ClusterConfig

log = logging.getLogger(__name__)

RETAINED_EVERY_S: Final = 3_600.0
_retained: dict[Location, float] = {}  # when this process did it last, by the directory of the tables


class Place(msgspec.Struct, frozen=True):
    """Where runs work: the tables' root, and the days that are kept."""

    root: Location
    days: int = 30


def perform(
    run: Run, cluster: ClusterConfig, place: Place, warm: Warm, tell: Tell = lambda _what, _done: None
) -> str:
    """Carry out a run that is this process's; its last sentence. Raises JobError with that of a failure.

    The row tells the same. KeyboardInterrupt is a failure too, and goes on.
    """

    def report(sentence: str, done: float) -> None:
        runs.tell(run, sentence=sentence, progress=round(100 * done))
        tell(sentence, done)

    try:
        with _alive(run):
            outcome = _job(run.job, cluster, place, warm, report)
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


def _job(job: str, cluster: ClusterConfig, place: Place, warm: Warm, tell: Tell) -> Outcome:
    directory = directories.directory(place.root, cluster.name)
    if job == STREAM:
        with locks.holding(directory, locks.LOAD):
            return _streamed(cluster, place, warm, tell)
    with locks.holding(directory, locks.RUN):
        if job == "retain":
            return jobs.retain(cluster, place.root, place.days, tell)
        if job == "all":
            return _all(cluster, place, warm, tell)
        if job == "derive":
            with _spark(warm, tell) as spark:
                return jobs.derive(spark, cluster, place.root, tell)
        jobs.check_files(cluster, directory)  # before a JVM is started for nothing
        with locks.holding(directory, locks.LOAD), _spark(warm, tell) as spark:
            return jobs.load(spark, cluster, place.root, tell)


def _all(cluster: ClusterConfig, place: Place, warm: Warm, tell: Tell) -> Outcome:
    """Load, derive and retain: what is new, without Spark where nothing is."""
    directory = directories.directory(place.root, cluster.name)
    last = runs.last_done(cluster.name, "all")
    seen = news.of(last.metrics) if last else None
    loads = not runs.is_streaming(cluster.name)
    if loads:
        jobs.check_files(cluster, directory)
    if last is None or seen is None or news.is_new(seen, cluster, directory, loads=loads):
        files = news.files(cluster) if loads else ""
        with _spark(warm, tell) as spark:
            done = [_loaded(spark, cluster, place, tell) if loads else _STREAMED]
            read = news.read(directory)
            done.append(jobs.derive(spark, cluster, place.root, _part(tell, _STEPS, "derive")))
    else:
        files, read = seen.files, dict(seen.read)
        done = [Outcome(f"nothing is new since run {last.id}", zxid_upto=last.zxid_upto)]
    done += _retained_now_and_then(cluster, place, _part(tell, _STEPS, "retain"))
    outcome = _together(done)
    now = news.Seen(files, read, news.made(directory))
    return msgspec.structs.replace(outcome, metrics={**outcome.metrics, "seen": msgspec.to_builtins(now)})


def _loaded(spark: Any, cluster: ClusterConfig, place: Place, tell: Tell) -> Outcome:
    with locks.holding(directories.directory(place.root, cluster.name), locks.LOAD):
        return jobs.load(spark, cluster, place.root, _part(tell, _STEPS, "load"))


_STREAMED: Final = Outcome("a stream loads what is new")
_STEPS: Final = ("load", "derive", "retain")


def _retained_now_and_then(cluster: ClusterConfig, place: Place, tell: Tell) -> list[Outcome]:
    """A process that carries out many runs need not look for what is too old in each of them."""
    directory = directories.directory(place.root, cluster.name)
    if time.monotonic() - _retained.get(directory, -RETAINED_EVERY_S) < RETAINED_EVERY_S:
        return []
    done = [jobs.retain(cluster, place.root, place.days, tell)]
    _retained[directory] = time.monotonic()
    return done


def _streamed(cluster: ClusterConfig, place: Place, warm: Warm, tell: Tell) -> Outcome:
    """Until this process is interrupted, or the query fails."""
    jobs.check(cluster)
    jobs.check_stream(place.root)
    with _spark(warm, tell) as spark:
        query = jobs.stream(spark, cluster, place.root)
        tell("loading what ZooKeeper writes", 0.0)
        with stopping(query.stop):
            query.awaitTermination()
    return Outcome("the stream was ended")


@contextlib.contextmanager
def _spark(warm: Warm, tell: Tell) -> Iterator[Any]:
    with warm.session(tell) as spark:
        try:
            yield spark
        except (PySparkException, Py4JError) as error:
            raise JobError(_why(error)) from error  # while the JVM is there to be asked for its words


@contextlib.contextmanager
def _alive(run: Run) -> Iterator[None]:
    """Tell again and again that this process lives, from a thread of its own."""
    over = threading.Event()

    def tell() -> None:
        while not over.wait(runs.TOLD_S):
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
