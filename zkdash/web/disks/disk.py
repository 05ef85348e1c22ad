"""Disk: what a broker's log directories hold of each topic, as the newest run of the pipeline saw it."""

from __future__ import annotations

from typing import Final, NamedTuple

from django.utils.safestring import SafeString

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables.brokers.rows import ids
from zkdash.history.queries import disks
from zkdash.history.queries.disks import BrokerDisk, TopicUsage
from zkdash.kafka import paths
from zkdash.kafka.configs import option_units
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.disks import configured
from zkdash.web.drawing import bars
from zkdash.web.frame import cells, links, listing, shapes, tables, times
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.facts import Fact, Facts, moment
from zkdash.web.frame.markup import format_html
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.parameters import Parameters, of_canonical
from zkdash.web.frame.tables import Column, Empty
from zkdash.web.history import recorded

NAME: Final = "disk"
_ROWS: Final = 200
_PARAMETERS: Final = Parameters(frozenset({"page"}), 20, 20)
_NO_SAMPLE: Final = "no run of the pipeline looked at this disk a day before"
_NO_TIME: Final = "its entries have no timestamps, or were not read yet"


class Usage(NamedTuple):
    """A topic on a disk, with the cluster's name and the bytes of all topics there."""

    cluster: str
    topic: TopicUsage
    all: int


class Share(Cell, frozen=True):
    """Bytes, and a bar of them on a scale that ends at all of the disk's."""

    bytes: int
    all: int

    @property
    def plain(self) -> int:
        return self.bytes

    def html(self) -> SafeString:
        words = option_units.words("log.bytes", str(self.bytes))
        bar = bars.in_cell(self.bytes, self.all, "")
        return format_html('<td class="num" title="{}">{}{}</td>', words, cells.grouped(self.bytes), bar)


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """Which page of the topics."""
    given = _PARAMETERS.read(raw)
    notes = given.notes
    number = listing.page_number(given.last_as_written("page", "1"), notes)
    return links.query([("page", str(number))] if number > 1 else []), tuple(notes)


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """The topics on the disks of a broker, the largest first."""
    (name,) = key.args
    title = f"Disk of broker {name}"
    if not paths.is_id(name):
        gone = f"“{name}” is not a broker id: broker ids are numbers from 0 to 2147483647."
        return View(title=title, parts=(), gone=gone)
    number = int(name)
    disk, trouble = recorded.told(
        snapshot.cluster,
        disks.USAGE,
        ("broker_disk", number),
        lambda opened: disks.broker_disk(opened, number),
        BrokerDisk(),
    )
    if disk.as_of_ms is None and not trouble and snapshot.state.loaded and number not in ids(snapshot.state):
        gone = f"No broker {name} is registered in ZooKeeper, and no log directory of it was seen."
        return View(title=title, parts=(), gone=gone)
    total = sum(topic.bytes for topic in disk.topics)
    usages = [Usage(snapshot.cluster, topic, total) for topic in disk.topics]
    cut = listing.cut(len(usages), int(of_canonical(key.query).get("page", "1")), _ROWS)
    return View(
        title=title,
        parts=(
            Block(id="facts", template="frame/facts.html", values=_facts(title, disk, total)),
            tables.part(
                "disk-topics",
                COLUMNS,
                (
                    (links.element_id("disk", usage.topic.topic), Severity.OK, usage)
                    for usage in usages[cut.place]
                ),
                Empty("No run of the pipeline has seen a log directory of this broker."),
            ),
            listing.pager(cut.at, cut.pages, lambda at: f"?page={at}" if at > 1 else "?", what="the topics"),
        ),
        context={
            "trouble": trouble,
            "no_source": configured.no_disks(snapshot.cluster),
            "broker": number,
            "broker_href": links.broker(snapshot.cluster, number),
            "headings": tables.headings(COLUMNS, ""),
            "count": len(usages),
            "trends": links.cluster(snapshot.cluster, "trends/", "last=30d") + "#disk",
            "pipeline": links.cluster(snapshot.cluster, "pipeline/"),
        },
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, usages),
        total=len(usages),
        extra=lambda: {
            "broker": number,
            "bytes": total,
            "directories": list(disk.directories),
            "seen": None if disk.as_of_ms is None else times.utc_text(disk.as_of_ms),
            **({"error": trouble} if trouble else {}),
        },
        version=disk,
    )


def look(_snapshot: Snapshot, key: PageKey) -> View:
    """Nothing of it is live but what stands above every page."""
    return View(title=f"Disk of broker {key.args[0]}", parts=())


def _facts(title: str, disk: BrokerDisk, total: int) -> Facts:
    if disk.as_of_ms is None:
        return Facts(title)
    facts = [
        Fact("Seen", moment(disk.as_of_ms)),
        Fact("Directories", ", ".join(disk.directories)),
        Fact("Segments’ bytes", cells.grouped(total), how="without indexes, as Kafka counts a log's size"),
    ]
    if disk.since_ms is not None:
        grown = sum(topic.grown or 0 for topic in disk.topics)
        facts += [Fact("Grown by", cells.grouped(grown)), Fact("since", moment(disk.since_ms))]
    return Facts(title, facts=tuple(facts))


def _grown(usage: Usage) -> Cell:
    return cells.unknown(_NO_SAMPLE) if usage.topic.grown is None else cells.Number(usage.topic.grown)


def _oldest(usage: Usage) -> Cell:
    return cells.absent(_NO_TIME) if usage.topic.oldest_ms is None else cells.Moment(usage.topic.oldest_ms)


COLUMNS: tuple[Column[Usage], ...] = (
    Column(
        "topic",
        "Topic",
        lambda usage: cells.Name(usage.topic.topic, links.topic(usage.cluster, usage.topic.topic) + "log/"),
        is_sortable=False,
    ),
    Column(
        "bytes", "Bytes", lambda usage: Share(usage.topic.bytes, usage.all), is_number=True, is_sortable=False
    ),
    Column(
        "grown",
        "Grown",
        _grown,
        is_number=True,
        is_sortable=False,
        title="bytes since the last look that was a day before",
    ),
    Column(
        "partitions",
        "Replicas",
        lambda usage: cells.Number(usage.topic.partitions),
        is_number=True,
        is_sortable=False,
    ),
    Column(
        "segments",
        "Segments",
        lambda usage: cells.Number(usage.topic.segments),
        is_number=True,
        is_sortable=False,
    ),
    Column("oldest", "Oldest entry", _oldest, is_sortable=False),
)

PAGE = Page(
    name=NAME,
    route="brokers/<name:broker>/disk/",
    template="disks/disk.html",
    look=look,
    canonical=canonical,
    shape=shapes.Shape(
        (COLUMNS,),
        {
            "broker": shapes.COUNT,
            "bytes": shapes.COUNT,
            "directories": shapes.TEXTS,
            "seen": shapes.TEXT_OR_NULL,
            "error": shapes.TEXT,
        },
        optional=frozenset({"broker", "bytes", "directories", "seen", "error"}),
        parameters={"page": shapes.PAGE},
    ),
    whole=whole,
    no_past="What lies on disks is told as the newest run of the pipeline saw it.",
)
