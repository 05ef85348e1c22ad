"""What tells whether zkdash itself is well: pages and their rendering, what is recorded, what is derived."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from django.conf import settings
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from zkdash.door.refusals import REFUSALS
from zkdash.history.recorder import status as recorder
from zkdash.history.store import directories
from zkdash.live import engine
from zkdash.live.runs import Runs
from zkdash.live.traffic import TRAFFIC
from zkdash.pipeline.runs import State
from zkdash.web.api import families
from zkdash.web.api.families import Value


def metrics(clusters: Iterable[str]) -> Iterator[Metric]:
    """Of this process, and of what others do for these clusters as far as it is told here."""
    names = tuple(clusters)
    yield from _pages()
    yield from _recorders(names)
    yield from _pipelines(names)


def _pages() -> Iterator[Metric]:
    running = engine.configured()
    hub = running.hub if running else None
    yield GaugeMetricFamily("zkdash_sockets", "Open pages.", value=hub.sockets if hub else 0)
    yield GaugeMetricFamily("zkdash_feeds", "Open change feeds.", value=TRAFFIC.feeds)
    yield CounterMetricFamily("zkdash_frames", "Frames sent to open pages.", value=TRAFFIC.frames)
    yield CounterMetricFamily("zkdash_renders", "Renderings for open pages.", value=TRAFFIC.renders)
    yield CounterMetricFamily("zkdash_render_seconds", "CPU that they took.", value=TRAFFIC.render_s)
    waiting = hub.renders_waiting if hub else 0
    yield GaugeMetricFamily("zkdash_renders_waiting", "Renderings that wait for their turn.", value=waiting)
    refused = CounterMetricFamily("zkdash_refused", "What ran into a limit.", labels=["limit"])
    for limit, count in REFUSALS.counts.items():
        refused.add_metric([limit], count)
    yield refused


def _recorders(clusters: tuple[str, ...]) -> Iterator[Metric]:
    """As a recorder of this process is, or as another one last wrote down."""
    now_ms = time.time_ns() // 1_000_000
    read = {
        name: recorder.read(name, directories.directory(settings.ZKDASH_HISTORY, name), now_ms)
        for name in clusters
    }
    statuses = {name: status for name, status in read.items() if status is not None}
    yield families.gauge(
        "recorder_age_seconds",
        "How long ago what changes was last looked at by who records it.",
        (((name,), _since_s(each.seen_ms, now_ms)) for name, each in statuses.items()),
    )
    yield families.gauge(
        "recorder_failing",
        "1 where nothing is recorded though somebody should record.",
        (((name,), float(bool(each.sentence))) for name, each in statuses.items()),
    )


def _pipelines(clusters: tuple[str, ...]) -> Iterator[Metric]:
    """Of clusters whose runs are read, which a scrape asks for: the next one tells."""
    now_ms = time.time_ns() // 1_000_000
    polled = engine.polled().runs
    runs = {name: polled.current(name) for name in clusters}
    yield families.gauge(
        "pipeline_delay_seconds",
        "How old the newest of the source is that the tables hold.",
        (((name,), _delay_s(each, now_ms)) for name, each in runs.items()),
    )
    yield families.gauge(
        "pipeline_failing",
        "1 where the last run of the pipeline failed.",
        (
            ((name,), float(each.runs[0].state == State.FAILED))
            for name, each in runs.items()
            if each.read and each.runs
        ),
    )


def _delay_s(runs: Runs, now_ms: int) -> Value:
    for run in runs.runs:
        if run.state == State.DONE and run.lag_ms is not None and run.ended_ms is not None:
            return max(0.0, (now_ms - run.ended_ms + run.lag_ms) / 1000)
    return None


def _since_s(ms: int | None, now_ms: int) -> Value:
    return None if ms is None else max(0.0, (now_ms - ms) / 1000)
