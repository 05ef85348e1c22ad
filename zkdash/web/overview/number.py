"""One number of a cluster, by its name: a view for frames and badges, without an address of its own."""

from __future__ import annotations

from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import page, shapes
from zkdash.web.frame.page import Page, View
from zkdash.web.overview import counts
from zkdash.web.overview.numbers import Metric

NAME = "number"


def look(snapshot: Snapshot, key: PageKey) -> View:
    (name,) = key.args
    reading = counts.read(snapshot, name)
    fact = Metric(
        reading.label, reading.shown, note=reading.note, href=reading.href, severity=reading.severity
    )
    return View(title=reading.label, parts=(Block(id="strip", template="frame/strip.html", values=(fact,)),))


PAGE = Page(
    name=NAME,
    route="",
    template="embeds/number.html",
    look=look,
    areas=frozenset({"brokers", "topics", "groups", "problems", "findings", "session"}),
    canonical=page.without_query,
    shape=shapes.NONE,
)
