"""What the worker schedules: a run when one is due and a file or a table is another than the last one saw."""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.utils import timezone

from tests.history.writing import put
from zkdash.pipeline import news, runs
from zkdash.pipeline.news import Seen
from zkdash.pipeline.performer import Performer
from zkdash.pipeline.runs import Run
from zkdash.pipeline.worker import Worker
from zkdash.zk.config import ClusterConfig

pytestmark = pytest.mark.django_db
OLD_S = 60
EVERY_S = 30.0


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log that was written a while ago."""
    path = tmp_path / "logs" / "log.1"
    path.parent.mkdir()
    path.write_bytes(b"log")
    age(path)
    return path


@pytest.fixture
def cluster(log: Path) -> ClusterConfig:
    return ClusterConfig("shop", (("127.0.0.1", 2181),), transaction_logs=(str(log.parent),))


def age(path: Path) -> None:
    at = time.time() - OLD_S
    os.utime(path, (at, at))


def worker(cluster: ClusterConfig, root: Path) -> Worker:
    working = Worker([cluster], Performer([]), root=root, every_s=EVERY_S)
    working._due[cluster.name] = timezone.now() - timedelta(days=1)  # it has stood for long
    return working


def looked(worker: Worker, cluster: ClusterConfig, now: datetime) -> Run | None:
    """The run that is queued after a look at an instant."""
    worker._schedule(cluster, now)
    return Run.objects.filter(state="queued").first()


def done(run: Run, cluster: ClusterConfig, history: Path, at: datetime) -> None:
    """The run has been made, and it saw what there is."""
    assert runs.take(run, now=at)
    seen = Seen(news.files(cluster), news.read(history), news.made(history))
    assert seen.files
    assert runs.finish(run, "done", metrics={"seen": msgspec.to_builtins(seen)})


def test_a_run_is_queued_when_one_is_due_and_anything_is_new(
    cluster: ClusterConfig, log: Path, tmp_path: Path
) -> None:
    # whose days are all one day, whenever the test runs
    now = timezone.now().replace(hour=12)
    working, history = worker(cluster, tmp_path), tmp_path / "shop"
    first: Any = looked(working, cluster, now)
    assert (first.job, first.by) == ("all", "schedule")
    done(first, cluster, history, now)
    Run.objects.update(ended_at=now)
    times = (now + timedelta(seconds=EVERY_S * turn) for turn in range(1, 100))
    assert looked(working, cluster, next(times)) is None
    log.write_bytes(b"more")
    age(log)
    assert looked(working, cluster, now + timedelta(seconds=EVERY_S * 1.5)) is None, "it is not due"
    second: Any = looked(working, cluster, next(times))
    done(second, cluster, history, second.queued_at)
    Run.objects.update(ended_at=second.queued_at)
    assert looked(working, cluster, next(times)) is None
    put(history, "coverage", [{"zxid_from": 1, "zxid_upto": 9}])
    assert looked(working, cluster, next(times)) is not None


def test_a_day_that_begins_is_news(cluster: ClusterConfig, tmp_path: Path) -> None:
    now = timezone.now()
    working = worker(cluster, tmp_path)
    first = runs.queue("shop", "all", "ann", now=now)
    done(first, cluster, tmp_path / "shop", now)
    assert looked(working, cluster, now + timedelta(days=1)) is not None


def test_runs_are_under_way_for_a_quarter_of_the_time_at_most(cluster: ClusterConfig, tmp_path: Path) -> None:
    began = timezone.now().replace(hour=12)
    working = worker(cluster, tmp_path)
    run = runs.queue("shop", "all", "ann", now=began)
    assert runs.take(run, now=began)
    runs.finish(run, "it was long, and saw nothing")
    Run.objects.update(ended_at=began + timedelta(seconds=100))
    assert looked(working, cluster, began + timedelta(seconds=399)) is None
    assert looked(working, cluster, began + timedelta(seconds=401)) is not None
