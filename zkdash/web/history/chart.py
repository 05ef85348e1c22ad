"""One chart of Trends, by its name: a view for frames, without an address of its own."""

from __future__ import annotations

import time

from zkdash.history.queries import trends as asking
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import shapes
from zkdash.web.frame.page import Page, View
from zkdash.web.history import charts, spans, trends

NAME = "chart"


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """The chart of the window that is asked for, as far as it is recorded."""
    span = spans.chosen(key.query, int(time.time() * 1000))
    trends_read, trouble = trends.read(snapshot.cluster, span)
    chart = next((chart for chart in trends_read.charts if chart.id == key.args[0]), None)
    return View(
        title=asking.TITLES[key.args[0]],
        parts=(),
        context={
            "chart": chart,
            "drawn": charts.draw(chart, trends_read.window) if chart and chart.lines else None,
            "trouble": trouble or ("" if trends_read.spans else "There are no charts of this cluster yet."),
            "reach": trends_read.spans[-1].to_ms if trends_read.spans else None,
            "refresh": bool(span.last),
        },
    )


def look(_snapshot: Snapshot, key: PageKey) -> View:
    """Nothing of it is live but what stands above every page."""
    return View(title=asking.TITLES[key.args[0]], parts=())


PAGE = Page(
    name=NAME,
    route="",
    template="embeds/chart.html",
    look=look,
    canonical=spans.canonical,
    shape=shapes.NONE,
    whole=whole,
)
