"""One chart of Trends, by its name: a view for frames, without an address of its own."""

from __future__ import annotations

import time

from zkdash.history.queries import trends as asking
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import shapes
from zkdash.web.frame.page import Page, View
from zkdash.web.history import plots, spans, trends

NAME = "chart"


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """The chart of the window that is asked for, as far as it is recorded."""
    asked = spans.asked(key.query, int(time.time() * 1000))
    found, trouble = trends.read(snapshot.cluster, asked)
    chart = next((one for one in found.charts if one.id == key.args[0]), None)
    return View(
        title=asking.TITLES[key.args[0]],
        parts=(),
        context={
            "chart": chart,
            "plot": plots.plot(chart, found.window) if chart and chart.lines else None,
            "trouble": trouble or ("" if found.spans else "Nothing is recorded of this cluster yet."),
            "reach": found.spans[-1].to_ms if found.spans else None,
            "refresh": bool(asked.last),
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
