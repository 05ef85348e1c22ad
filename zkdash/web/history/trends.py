"""Trends: how the cluster did over a stretch of time, from the tables that the pipeline derives."""

from __future__ import annotations

import time
from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.cluster.model.severity import Severity
from zkdash.history.queries import trends
from zkdash.history.queries.trends import HotPath, Trends
from zkdash.history.queries.window import Span
from zkdash.live.parts import PageKey, Table
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, shapes, tables, times
from zkdash.web.frame.cells import Cell, Record
from zkdash.web.frame.markup import format_html
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.tables import Column, Empty
from zkdash.web.history import charts, pipeline, recorded, spans
from zkdash.web.history.spans import Choice, SpanChoice

NAME = "trends"
_MOST_GAPS = 5


class Share(Cell, frozen=True):
    """A part of all, as a number and as a bar."""

    part: int
    all: int

    @property
    def plain(self) -> int:
        return self.part

    def html(self) -> SafeString:
        return format_html(
            '<td class="num">{} <meter min="0" max="{}" value="{}" aria-label="{} %"></meter></td>',
            cells.grouped(self.part),
            self.all,
            self.part,
            round(100 * self.part / self.all) if self.all else 0,
        )


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """The charts of the window that is asked for."""
    query, _ = spans.canonical(key.query)
    now_ms = int(time.time() * 1000)
    span = spans.chosen(query, now_ms)
    trends_read, trouble = read(snapshot.cluster, span)
    return View(
        title="Trends",
        parts=(_paths(trends_read),),
        context={
            "trouble": trouble,
            "choices": _choices(span.last, trends_read.spans),
            "from": spans.written(span.window.from_ms),
            "to": spans.written(span.window.to_ms),
            "step": trends.words(span.window.step_ms),
            "reach": trends_read.spans[-1].to_ms if trends_read.spans else None,
            "gaps": _gaps(trends_read),
            "is_empty": not trouble
            and not trends_read.spans
            and not any(chart.lines for chart in trends_read.charts),
            "no_source": ""
            if pipeline.has_source(snapshot.cluster)
            else pipeline.no_source(snapshot.cluster),
            "charts": tuple(charts.draw(chart, trends_read.window) for chart in trends_read.charts),
            "headings": tables.headings(PATHS, ""),
            "pipeline": links.cluster(snapshot.cluster, "pipeline/"),
            "refresh": not key.query,
        },
        fields=charts.FIELDS,
        records=lambda: charts.records(trends_read.charts, trends_read.window),
        total=sum(len(chart.lines) * len(trends_read.window.steps) for chart in trends_read.charts),
        extra=lambda: _extra(trends_read, trouble),
        version=trends_read,
    )


def read(cluster: str, span: SpanChoice) -> tuple[Trends, str]:
    """What the tables of a cluster tell of a window, and a sentence where they do not."""
    window = span.window
    return recorded.told(
        cluster,
        trends.TABLES,
        window,
        lambda tables: trends.look(tables, window),
        Trends(window, (), (), (), 0),
        bounds=trends.bounds(window),
    )


def look(_snapshot: Snapshot, _key: PageKey) -> View:
    """Nothing of it is live but what stands above every page."""
    return View(title="Trends", parts=())


def _choices(last: str, covered: tuple[Span, ...]) -> tuple[Choice, ...]:
    choices = spans.choices(last, lambda name: f"?last={name}")
    if not covered:
        return choices
    everything = spans.of(Span(covered[0].from_ms, covered[-1].to_ms))
    return (*choices, Choice("all that is recorded", f"?{everything}", is_current=False))


def _gaps(trends_read: Trends) -> tuple[Span, ...]:
    """Where between two stretches that were read nothing is known, inside the window; the newest first."""
    between = (
        Span(before.to_ms, after.from_ms)
        for before, after in zip(trends_read.spans, trends_read.spans[1:], strict=False)
        if before.to_ms < trends_read.window.to_ms and after.from_ms > trends_read.window.from_ms
    )
    return tuple(reversed(tuple(between)))[:_MOST_GAPS]


def _paths(trends_read: Trends) -> Table:
    empty = Empty("No write is known of this time.")
    rows = (
        (f"path-{at}", Severity.OK, (hot, trends_read.writes)) for at, hot in enumerate(trends_read.hot_paths)
    )
    return tables.part("paths", PATHS, rows, empty)


def _extra(trends_read: Trends, trouble: str) -> dict[str, cells.Plain | Record | list[Record]]:
    extra: dict[str, cells.Plain | Record | list[Record]] = {
        "from": times.utc_text(trends_read.window.from_ms),
        "to": times.utc_text(trends_read.window.to_ms),
        "step_s": trends_read.window.step_ms // 1000,
        "known": [
            {"from": times.utc_text(span.from_ms), "to": times.utc_text(span.to_ms)}
            for span in trends_read.spans
        ],
        "writes": trends_read.writes,
        "hot_paths": [msgspec.structs.asdict(hot) for hot in trends_read.hot_paths],
    }
    return {**extra, "error": trouble} if trouble else extra


Hot = tuple[HotPath, int]  # and all writes


def _share(entry: Hot) -> Cell:
    return Share(entry[0].writes, entry[1])


PATHS: tuple[Column[Hot], ...] = (
    Column("prefix", "Path", lambda entry: cells.Path(entry[0].prefix, is_head=True), is_sortable=False),
    Column("writes", "Writes", _share, is_number=True, is_sortable=False, title="changes at or below it"),
    Column("bytes", "Bytes", lambda entry: cells.Number(entry[0].bytes), is_number=True, is_sortable=False),
)

KNOWN: Final = shapes.many(shapes.fields(**{"from": shapes.TEXT, "to": shapes.TEXT}))


PAGE = Page(
    name=NAME,
    route="trends/",
    template="history/trends.html",
    look=look,
    canonical=spans.canonical,
    shape=shapes.Shape(
        (charts.FIELDS,),
        {
            "from": shapes.TEXT_OR_NULL,
            "to": shapes.TEXT_OR_NULL,
            "step_s": {"type": ["number", "null"]},
            "known": KNOWN,
            "writes": shapes.INTEGER_OR_NULL,
            "hot_paths": shapes.many(shapes.struct(HotPath)),
        },
        parameters={"last": shapes.TEXT, "from": shapes.INSTANT, "to": shapes.INSTANT},
    ),
    section="History",
    label="Trends",
    letter="r",
    whole=whole,
    no_past="Trends tell of the past already: choose from when to when on it.",
)
