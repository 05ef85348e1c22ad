"""The runs of jobs: queue one, see how it goes. The one module of the pipeline that pages import; no Spark.

A run is one row from the moment somebody asks for it. At most one runs a cluster at a time, beside at most
one stream: the database sees to it. A process that runs one tells every `TOLD_S` that it lives; a run of
which nothing was heard for `SILENT_S` has died, or for `QUIET_S` where nobody holds the lock that it works
under, and `reap` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.utils import timezone

from zkdash.pipeline.models import Run, State

__all__ = ["JOBS", "BusyError", "Run", "State"]

# By name, in the order of `all`: what each does, for people.
JOBS: Final[Mapping[str, str]] = {
    "load": "read what is new in ZooKeeper's transaction logs and snapshots",
    "derive": "bring the tables that pages read up to what was loaded",
    "retain": "delete what is older than it has to be kept",
    "all": "load, derive and retain, one after the other",
    "stream": "load continuously, as ZooKeeper writes, until it is told to stop",
}
QUEUEABLE: Final = ("load", "derive", "retain", "all")
TOLD_S: Final = 2.0
QUIET_S: Final = 5.0
SILENT_S: Final = 60.0
LEFT_S: Final = 3.0
MOST_KEPT: Final = 500  # runs of a cluster that have ended


class BusyError(RuntimeError):
    """Another run is under way; one sentence names it."""


def queue(cluster: str, job: str, who: str, *, now: datetime | None = None) -> Run:
    """Ask for a run; one that is queued already is the answer then. Raises ValueError for no such job."""
    if job not in QUEUEABLE:
        raise ValueError(f"there is no job {job!r} to queue; there are {', '.join(QUEUEABLE)}")
    now = now or timezone.now()
    try:
        with transaction.atomic():
            return Run.objects.create(cluster=cluster, job=job, by=who, queued_at=now)
    except IntegrityError:
        waiting = Run.objects.filter(cluster=cluster, job=job, state=State.QUEUED).first()
        return waiting or queue(cluster, job, who, now=now)


def claim(clusters: Iterable[str], *, now: datetime | None = None) -> Run | None:
    """Take the run that was queued first and whose cluster is free; None where there is none."""
    now = now or timezone.now()
    waiting = Run.objects.filter(cluster__in=tuple(clusters), state=State.QUEUED).order_by("id")
    return next((run for run in waiting if take(run, now=now)), None)


def are_left(clusters: Iterable[str], *, now: datetime | None = None) -> bool:
    """Whether a run was asked for `LEFT_S` ago, and nothing is under way: no worker is there to begin it."""
    now = now or timezone.now()
    left, silent = (now - timedelta(seconds=seconds) for seconds in (LEFT_S, SILENT_S))
    queued = Run.objects.filter(cluster__in=tuple(clusters), state=State.QUEUED, queued_at__lt=left)
    running = Run.objects.filter(state=State.RUNNING, seen_at__gte=silent).exclude(job="stream")
    return queued.exists() and not running.exists()


def take(run: Run, *, now: datetime | None = None) -> bool:
    """Begin a queued run; False where it is no longer queued, or its cluster is busy."""
    now = now or timezone.now()
    try:
        with transaction.atomic():
            taken = Run.objects.filter(id=run.id, state=State.QUEUED).update(
                state=State.RUNNING, started_at=now, seen_at=now
            )
    except IntegrityError:
        return False
    run.refresh_from_db()
    return bool(taken)


def begin(
    cluster: str,
    job: str,
    who: str,
    *,
    now: datetime | None = None,
    is_held: Callable[[Run], bool] = lambda _: True,
) -> Run:
    """A run that begins at once, by hand; `is_held` is `reap`'s. Raises BusyError where one is under way."""
    now = now or timezone.now()
    reap(now=now, is_held=is_held)
    try:
        with transaction.atomic():
            return Run.objects.create(
                cluster=cluster,
                job=job,
                by=who,
                state=State.RUNNING,
                queued_at=now,
                started_at=now,
                seen_at=now,
            )
    except IntegrityError:
        other = _running(cluster, is_stream=job == "stream")
        obstacle = (
            f"run {other.id} ({other.job}, by {other.by}) is under way since {other.started_at:%H:%M:%S} UTC"
            if other
            else "another run has just begun"
        )
        raise BusyError(f"{cluster}: {obstacle}; wait for its end, or end its process") from None


def tell(run: Run, *, sentence: str | None = None, progress: int | None = None) -> bool:
    """Say that it lives, and how far it is (percent). False where it is no longer this process's."""
    fields: dict[str, Any] = {"seen_at": timezone.now()}
    if sentence is not None:
        fields["sentence"] = sentence
    if progress is not None:
        fields["progress"] = progress
    return bool(Run.objects.filter(id=run.id, state=State.RUNNING).update(**fields))


def finish(
    run: Run,
    sentence: str,
    *,
    failed: bool = False,
    rows: int = 0,
    problems: int = 0,
    zxid_upto: int | None = None,
    metrics: Mapping[str, Any] = {},
) -> bool:
    """Say how it ended. False where it had ended already."""
    fields: dict[str, Any] = {
        "state": State.FAILED if failed else State.DONE,
        "sentence": sentence,
        "ended_at": timezone.now(),
        "rows": rows,
        "problems": problems,
        "zxid_upto": zxid_upto,
        "metrics": dict(metrics),
    }
    if not failed:
        fields["progress"] = 100
    return bool(Run.objects.filter(id=run.id, state=State.RUNNING).update(**fields))


def reap(*, now: datetime | None = None, is_held: Callable[[Run], bool] = lambda _: True) -> int:
    """Say of runs that died; how many. `is_held` tells whether some process holds the lock of a run."""
    now = now or timezone.now()
    silent, quiet = (now - timedelta(seconds=seconds) for seconds in (SILENT_S, QUIET_S))
    running = Run.objects.filter(state=State.RUNNING, seen_at__lt=quiet)
    dead = [run.id for run in running if (run.seen_at or quiet) < silent or not is_held(run)]
    return running.filter(id__in=dead).update(
        state=State.FAILED,
        ended_at=now,
        sentence="its process ended without a word; the tables are whole: run it again",
    )


def forget(cluster: str) -> None:
    """Delete the rows of runs that ended long ago, but for the last `MOST_KEPT`."""
    ended = Run.objects.filter(cluster=cluster, state__in=(State.DONE, State.FAILED)).order_by("-id")
    oldest = ended.values_list("id", flat=True)[MOST_KEPT : MOST_KEPT + 1].first()
    if oldest is not None:
        ended.filter(id__lte=oldest).delete()


def recent(cluster: str, limit: int = 20) -> list[Run]:
    """The runs asked for last, newest first."""
    return list(Run.objects.filter(cluster=cluster).order_by("-id")[:limit])


def last_asked(cluster: str, job: str) -> Run | None:
    """The run of exactly this job that was asked for last, whatever became of it."""
    return Run.objects.filter(cluster=cluster, job=job).order_by("-id").first()


def last_done(cluster: str, job: str) -> Run | None:
    """The run of exactly this job that was done last."""
    return Run.objects.filter(cluster=cluster, job=job, state=State.DONE).order_by("-id").first()


def is_streaming(cluster: str) -> bool:
    """Whether a stream is under way."""
    return _running(cluster, is_stream=True) is not None


def _running(cluster: str, *, is_stream: bool) -> Run | None:
    running = Run.objects.filter(cluster=cluster, state=State.RUNNING)
    return (running.filter(job="stream") if is_stream else running.exclude(job="stream")).first()
