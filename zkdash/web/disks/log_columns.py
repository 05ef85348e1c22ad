"""The tables of a partition's log: its replicas, and their segments with when retention deletes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from django.utils.safestring import SafeString

from zkdash.cluster.analysis.retention import Deletion
from zkdash.cluster.model.severity import Severity
from zkdash.history.queries.disks import LogSegment, ReplicaLog
from zkdash.web.frame import cells, links, times
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.markup import format_html
from zkdash.web.frame.tables import Column

_UNREAD: Final = "a run of the pipeline has not read it yet"
_STAYS: Final = "retention does not delete it"


class Goes(Cell, frozen=True):
    """When retention deletes a segment, mostly yet to come, so that it has no age; and by which option."""

    at_ms: int
    why: str

    @property
    def plain(self) -> str | None:
        return times.utc_text(self.at_ms)

    @property
    def reason(self) -> str | None:
        return "the time is outside the calendar" if self.plain is None else None

    def html(self) -> SafeString:
        moment = times.utc(self.at_ms)
        shown = f"{moment:%Y-%m-%d %H:%M} UTC" if moment else str(self.at_ms)
        return format_html('<td class="when">{}<br>{}</td>', shown, self.why)


class Line(NamedTuple):
    """A segment for the table, with the cluster's name and when retention deletes it."""

    cluster: str
    segment: LogSegment
    deletion: Deletion | None
    doubt: str


Entry = tuple[str, ReplicaLog]


def replica_severity(replica: ReplicaLog) -> Severity:
    return Severity.OK if replica.differs_at is None else Severity.CRITICAL


def segment_severity(segment: LogSegment) -> Severity:
    return Severity.CRITICAL if segment.damaged else Severity.OK


def _broker(cluster: str, broker: int | None) -> Cell:
    if broker is None:
        return cells.unknown("neither the configuration nor meta.properties tells its id")
    return cells.Id(broker, href=links.broker(cluster, broker))


def _number(value: int | None) -> Cell:
    return cells.unknown(_UNREAD) if value is None else cells.Number(value)


def _watermark(replica: ReplicaLog) -> Cell:
    if replica.high_watermark is None:
        return cells.absent("its broker noted none")
    return cells.Number(replica.high_watermark)


def _compared(replica: ReplicaLog) -> Cell:
    if replica.compared_from is None or replica.compared_upto is None:
        return cells.absent("it is the first one of its partition, or they have no offset in common")
    if replica.difference:
        words = f"from offset {replica.differs_at} on, {replica.differing} entries: {replica.difference}"
        return cells.Word(words, Severity.CRITICAL)
    return cells.Word(f"the same from {replica.compared_from} up to {replica.compared_upto}", Severity.OK)


def _when(epoch_ms: int | None, why: str) -> Cell:
    return cells.absent(why) if epoch_ms is None else cells.Moment(epoch_ms)


def _goes(line: Line) -> Cell:
    if line.deletion is None:
        return cells.unknown(line.doubt) if line.doubt else cells.absent(_STAYS)
    if line.deletion.at_ms is None:
        return cells.Text(f"at the next look: {line.deletion.why}")
    return Goes(line.deletion.at_ms, line.deletion.why)


def _tail(segment: LogSegment) -> Cell:
    if segment.damaged:
        return cells.Word(f"{segment.damaged} entries are damaged", Severity.CRITICAL)
    if segment.tail:
        return cells.Text(segment.tail)
    return cells.unknown(_UNREAD) if segment.next_offset is None else cells.absent("its last entry is whole")


def _codecs(segment: LogSegment) -> Cell:
    return cells.unknown(_UNREAD) if segment.codecs is None else cells.Marks(segment.codecs)


def _of_segment(cell: Callable[[LogSegment], Cell]) -> Callable[[Line], Cell]:
    return lambda line: cell(line.segment)


def _of_replica(cell: Callable[[ReplicaLog], Cell]) -> Callable[[Entry], Cell]:
    return lambda entry: cell(entry[1])


def _column(
    name: str, heading: str, cell: Callable[[LogSegment], Cell], *, is_number: bool = False, title: str = ""
) -> Column[Line]:
    return Column(name, heading, _of_segment(cell), is_number=is_number, is_sortable=False, title=title)


_NO_TIME: Final = "its entries have no timestamps, or were not read yet"

SEGMENTS: Sequence[Column[Line]] = (
    Column(
        "broker",
        "Broker",
        lambda line: _broker(line.cluster, line.segment.broker),
        is_number=True,
        is_sortable=False,
    ),
    _column("base_offset", "From offset", lambda each: cells.Id(each.base_offset), is_number=True),
    _column("next_offset", "Up to", lambda each: _number(each.next_offset), is_number=True),
    _column("bytes", "Bytes", lambda each: cells.Number(each.bytes), is_number=True),
    _column("records", "Records", lambda each: _number(each.records), is_number=True),
    _column("first", "First", lambda each: _when(each.first_ms, _NO_TIME)),
    _column("last", "Newest", lambda each: _when(each.last_ms, _NO_TIME)),
    _column("codecs", "Codecs", _codecs),
    _column("tail", "Behind it", _tail, title="what follows its last whole entry"),
    Column(
        "deleted", "Deleted", _goes, is_sortable=False, title="when retention deletes it, as configured now"
    ),
    Column(
        "deleted_why",
        "Why",
        lambda line: cells.absent(_STAYS) if line.deletion is None else cells.Text(line.deletion.why),
        is_sortable=False,
        is_shown=False,
    ),
)
REPLICAS: Sequence[Column[Entry]] = tuple(
    Column(name, heading, cell, is_number=is_number, is_sortable=False)
    for name, heading, cell, is_number in (
        ("broker", "Broker", lambda entry: _broker(entry[0], entry[1].broker), True),
        ("directory", "Directory", _of_replica(lambda each: cells.Text(each.directory)), False),
        ("log_start", "Starts at", _of_replica(lambda each: cells.Id(each.log_start)), True),
        ("log_end", "Ends at", _of_replica(lambda each: _number(each.log_end)), True),
        (
            "high_watermark",
            "High watermark",
            _of_replica(_watermark),
            True,
        ),
        ("segments", "Segments", _of_replica(lambda each: cells.Number(each.segments)), True),
        ("bytes", "Bytes", _of_replica(lambda each: cells.Number(each.bytes)), True),
        ("compared", "Against the first replica", _of_replica(_compared), False),
    )
)
