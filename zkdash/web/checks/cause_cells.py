"""The cells of a cause of a finding: which thing it is, with its page, how often, since when, and why."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString

from zkdash.cluster.checks import About, Check
from zkdash.cluster.tables.cause_rows import CauseRow
from zkdash.kafka import paths
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.tables import Column

Entry = tuple[Snapshot, Check, CauseRow]


class Head(Cell, frozen=True):
    """What the row is about, where it has no page of its own."""

    text: str

    @property
    def plain(self) -> str:
        return self.text

    def html(self) -> SafeString:
        return format_html('<th scope="row" class="name"><bdi>{}</bdi></th>', self.text)


def _name(one: Entry) -> Cell:
    snapshot, check, row = one
    href = _href(snapshot.cluster, check, row.name)
    if href:
        return cells.Name(row.name or "the whole cluster", href)
    return Head(row.name or "the whole cluster")


def _href(cluster: str, check: Check, name: str) -> str:
    """The page of a cause, "" where there is none."""
    if check.about is About.TOPIC:
        return links.topic(cluster, name)
    if check.about is About.GROUP:
        return links.group(cluster, name)
    if name.startswith("/"):
        return links.znode(cluster, name)
    if check.about is About.BROKER and paths.is_id(name):
        return links.broker(cluster, int(name))
    if not name and check.page:
        return links.cluster(cluster, f"{check.page}/", check.query)
    return ""


def _status(row: CauseRow) -> Cell:
    word = row.status.value if row.held else f"{row.status.value}, seen just now"
    return cells.Status(row.status, word)


def _acknowledged(one: Entry) -> Cell:
    snapshot, check, row = one
    standing = snapshot.alarms.standing.get(check.id)
    for known in standing.acknowledgements if standing else ():
        if row.name in known.covers:
            return cells.Text(f"by {known.by}")
    return cells.absent("nobody took note of it")


COLUMNS: tuple[Column[Entry], ...] = (
    Column("status", "Status", lambda one: _status(one[2])),
    Column("name", "Cause", _name),
    Column("count", "Count", lambda one: cells.Number(one[2].count), is_number=True),
    Column("since", "Since", lambda one: cells.Moment(one[2].since)),
    Column(
        "why",
        "Why",
        lambda one: cells.Text(one[2].why) if one[2].why else cells.absent("the count says all"),
    ),
    Column("acknowledged", "Acknowledged", _acknowledged, is_sortable=False),
)
