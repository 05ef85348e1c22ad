"""The cells of a cause of a finding: which thing it is, with its page, how often, since when, and why."""

from __future__ import annotations

from django.utils.safestring import SafeString

from zkdash.cluster.checks import About, Check
from zkdash.cluster.tables.cause_rows import CauseRow
from zkdash.kafka import paths
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.markup import format_html
from zkdash.web.frame.tables import Column

Entry = tuple[Snapshot, Check, CauseRow]


class Head(Cell, frozen=True):
    """What the row is about: its name as in JSON, its words, and its page where it has one."""

    name: str
    words: str
    href: str = ""

    @property
    def plain(self) -> str:
        return self.name

    def html(self) -> SafeString:
        shown = format_html("<bdi>{}</bdi>", self.words)
        if self.href:
            shown = format_html('<a href="{}">{}</a>', self.href, shown)
        return format_html('<th scope="row" class="name">{}</th>', shown)


def _name(entry: Entry) -> Cell:
    snapshot, check, row = entry
    href = _href(snapshot.cluster, check, row.name)
    if href and check.about is About.BROKER:
        return Head(row.name, f"broker {row.name}", href)
    if href:
        return cells.Name(row.name or _WHOLE, href)
    return Head(row.name or _WHOLE, row.name or _WHOLE)


_WHOLE = "the whole cluster"


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


def _acknowledged(entry: Entry) -> Cell:
    snapshot, check, row = entry
    standing = snapshot.alarms.standing.get(check.id)
    for acknowledgement in standing.acknowledgements if standing else ():
        if row.name in acknowledgement.covers:
            return cells.Text(f"by {acknowledgement.by}")
    return cells.absent("not acknowledged")


COLUMNS: tuple[Column[Entry], ...] = (
    Column("status", "Status", lambda entry: _status(entry[2])),
    Column("name", "Cause", _name),
    Column("count", "Count", lambda entry: cells.Number(entry[2].count), is_number=True),
    Column("since", "Since", lambda entry: cells.Moment(entry[2].since)),
    Column(
        "why",
        "Why",
        lambda entry: cells.Text(entry[2].why) if entry[2].why else cells.absent("the count says all"),
    ),
    Column("acknowledged", "Acknowledged", _acknowledged, is_sortable=False),
)
