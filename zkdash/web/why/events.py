"""What happened to one thing: its changes, each with the incident that it belongs to and who wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from zkdash.cluster.changes import Change
from zkdash.cluster.incidents import Incident, words
from zkdash.cluster.incidents.belonging import Belonging, without
from zkdash.history.queries.writers import Writer
from zkdash.live.parts import Block
from zkdash.web.frame import cells, links
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.panels import change_table, incident_list
from zkdash.web.frame.panels.incident_list import Actions, Page, Story, Written
from zkdash.web.frame.subjects import Subject
from zkdash.web.frame.tables import Column

# So many of an incident's changes of one thing are drawn; JSON and CSV have those of the page.
_MOST_ROWS: Final = 50
_NO_LOG: Final = (
    "no log of ZooKeeper that was read holds the transaction, and a watcher is not told who wrote"
)
_NO_ACTION: Final = "no action that is at hand wrote it"


class Event(msgspec.Struct, frozen=True):
    """Changes of one thing that belong together, oldest first; `incident` is None where one stands alone."""

    incident: Incident | None
    changes: tuple[Change, ...]


class Happened(msgspec.Struct, frozen=True):
    """One change as JSON and CSV have it."""

    change: Change
    incident: Incident | None
    writer: Writer | None
    action: int | None


def grouped(changes: Iterable[Change], belonging: Belonging) -> list[Event]:
    """Changes, the newest first, by what they belong to: that with the newest change comes first."""
    by_incident: dict[tuple[int, int], list[Change]] = {}
    incidents: dict[tuple[int, int], Incident | None] = {}
    for number, change in enumerate(changes):
        incident = belonging.of(change)
        # ids are those of one folding, and the tables' is another
        key = (-number, 0) if incident is None else (incident.id, incident.began)
        incidents[key] = incident
        by_incident.setdefault(key, []).append(change)
    return [Event(incidents[key], tuple(reversed(each))) for key, each in by_incident.items()]


def whole(event: Event, mine: Sequence[Change]) -> Event:
    """The event with all of its incident's changes that are about the thing, which are `mine`."""
    others = without(event.changes, mine)
    return msgspec.structs.replace(event, changes=(*mine, *others))


class Storyteller(msgspec.Struct, frozen=True):
    """Draws the events of one thing as lists of incidents are drawn, with the ways to its own page."""

    cluster: str
    subject: Subject
    ours: Actions
    writers: Mapping[int, Writer] = {}

    def block(self, part: str, listed: Sequence[Event], empty: str = "") -> Block:
        """The part that lists them; `empty` is said of none."""
        return incident_list.block(part, self._stories(listed), "" if listed else empty)

    def _stories(self, listed: Sequence[Event]) -> Iterator[Story]:
        alone = incident_list.names(event.changes[0] for event in listed if event.incident is None)
        for event in listed:
            if event.incident is None:
                name, change = next(alone)
                story = incident_list.single(self.cluster, change, name, self.ours, self._page)
            else:
                story = self._of_incident(event.incident, event.changes)
            yield msgspec.structs.replace(story, written=self._written(event.changes))

    @property
    def _page(self) -> Page:
        return Page(*self.subject.page, self.subject.pairs)

    def _of_incident(self, incident: Incident, changes: tuple[Change, ...]) -> Story:
        first = incident.rows[0] if incident.rows else changes[0]
        return Story(
            id=f"incident-{incident.began}-{incident.id}",
            at=incident.at,
            severity=words.severity(incident),
            title=words.title(incident),
            effects=words.effects(incident),
            took=incident_list.took(incident),
            is_open=incident.ended is None,
            changes=max(incident.changes, len(changes)),
            rows=changes[:_MOST_ROWS],
            more=incident_list.span(self.cluster, incident),
            by=incident_list.by_action(self.cluster, first, self.ours),
            ways=incident_list.ways(
                self.cluster, first.zxid, incident.at, until_ms=incident.ended, page=self._page
            ),
            of=self.subject.words,
        )

    def _written(self, changes: Iterable[Change]) -> tuple[Written, ...]:
        written = dict.fromkeys(
            writer
            for change in changes
            if change.zxid is not None and (writer := self.writers.get(change.zxid))
        )
        return tuple(Written(in_words(writer), _session(self.cluster, writer)) for writer in written)


def in_words(writer: Writer) -> str:
    """Who wrote, as pages say it."""
    if writer.session == 0:
        return "ZooKeeper’s server itself"
    session = f"session {links.session_text(writer.session)}"
    named = f"{writer.client} ({session})" if writer.client else session
    return f"the end of {named}" if writer.ended else named


def _session(cluster: str, writer: Writer) -> str:
    return "" if writer.session == 0 or writer.ended else links.session(cluster, writer.session)


def _incident(each: Happened) -> Cell:
    if each.incident is None:
        return cells.absent("it belongs to no incident that is at hand")
    return cells.Text(words.title(each.incident))


def _writer(each: Happened) -> Cell:
    return cells.unknown(_NO_LOG) if each.writer is None else cells.Text(in_words(each.writer))


def _of_change(column: Column[Change]) -> Column[Happened]:
    return Column(
        column.name, column.heading, lambda each: column.cell(each.change), is_number=column.is_number
    )


COLUMNS: tuple[Column[Happened], ...] = (
    *map(_of_change, change_table.COLUMNS),
    Column("incident", "Incident", _incident),
    Column("written_by", "Written by", _writer),
    Column(
        "action",
        "Action",
        lambda each: cells.absent(_NO_ACTION) if each.action is None else cells.Id(each.action),
        is_number=True,
    ),
)
