"""Why is this so: the story of a topic, a partition, a group or a broker, the newest first.

It is told of what a watcher keeps and of what the tables hold, as the Timeline is, without a seam.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from zkdash.cluster.changes import Change
from zkdash.cluster.incidents.belonging import Belonging, without
from zkdash.cluster.incidents.book import GIVE_UP_MS
from zkdash.history.queries import writers
from zkdash.history.queries.timeline import Search
from zkdash.history.queries.writers import Writer
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import links, shapes, subjects, tables, times
from zkdash.web.frame.cells import Record
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.panels import incident_list
from zkdash.web.frame.subjects import Subject
from zkdash.web.history import recorded, timeline_past, timeline_query
from zkdash.web.why import events, now, query
from zkdash.web.why.events import COLUMNS, Event, Happened, Storyteller
from zkdash.web.why.query import WhyQuery

NAME: Final = "why"
SIZE: Final = 50
_NOBODY: Final[Mapping[int, Writer]] = {}
_NOTHING: Final = "Nothing is kept in memory or recorded of it."


class _Story:
    """One page of the story of a thing: what is older than `before`, read of memory and of the tables."""

    def __init__(self, snapshot: Snapshot, wanted: WhyQuery, subject: Subject) -> None:
        search = wanted.search
        read = timeline_past.changes(snapshot, search, SIZE)
        self.recorded = read.changes
        self.merged = timeline_past.merged(snapshot, search, SIZE, read.changes)
        self.changes = [entry.change for entry in self.merged.entries]
        # What goes on when a page of the tables ends is folded so far beyond it.
        to_ms = self.changes[0].when + GIVE_UP_MS if wanted.before is not None and self.changes else None
        self.earlier, untold = timeline_past.earlier(snapshot, Search(to_ms=to_ms))
        belonging = Belonging(snapshot.incidents, self.earlier)
        self.live = _live(snapshot, wanted)
        shown = [change for event in self.live for change in event.changes]
        # what memory keeps is live, but on an older page
        rest = self.changes[self.merged.from_memory if wanted.before is None else 0 :]
        self.older = events.grouped(without(rest, shown), belonging)
        self.writers, unasked = _writers(snapshot, self.changes)
        self.trouble = read.trouble or untold or unasked
        self.ours = ours = incident_list.actions(snapshot.queue)
        self.rows = [
            Happened(
                change,
                belonging.of(change),
                self.writers.get(change.zxid or 0),
                None if (entry := ours.get(change.zxid or 0)) is None else entry.id,
            )
            for change in self.changes
        ]
        last = str(self.merged.entries[-1].place) if self.merged.more and self.changes else ""
        pairs = [*subject.pairs, ("before", last)]
        self.next = links.why(snapshot.cluster, pairs) if last else ""

    @property
    def incidents(self) -> list[Record]:
        """As JSON has them."""
        incidents = (event.incident for event in (*self.live, *self.older))
        return [incident_list.record(incident, self.ours) for incident in incidents if incident is not None]


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """One page of it."""
    wanted = query.understood(key.query)
    subject = wanted.subject
    if subject is None:
        return _choice()
    story = _Story(snapshot, wanted, subject)
    by = story.writers if snapshot.past is not None else _NOBODY  # live frames ask no table
    nothing = "" if story.live or story.trouble else _NOTHING
    return View(
        title=_title(subject),
        parts=(
            *_live_parts(snapshot, subject, story.live, by),
            _storyteller(snapshot, subject, story.writers).block("earlier", story.older, nothing),
        ),
        context=_context(snapshot, wanted, subject, story),
        fields=tables.fields(COLUMNS),
        records=lambda: tables.records(COLUMNS, story.rows),
        total=len(story.rows),
        extra=lambda: {
            "of": _record(snapshot, subject),
            "older": f"{story.next}&format=json" if story.next else None,
            "recorded_up_to": _utc(story.recorded.reach_ms),
            "incidents": story.incidents,
            **({"error": story.trouble} if story.trouble else {}),
        },
        version=(story.recorded, story.earlier, snapshot.revision),
    )


def look(snapshot: Snapshot, key: PageKey) -> View:
    """What of it goes on: how it is, and what a watcher keeps."""
    wanted = query.understood(key.query)
    if wanted.subject is None:
        return _choice()
    parts = _live_parts(snapshot, wanted.subject, _live(snapshot, wanted), _NOBODY)
    return View(title=_title(wanted.subject), parts=parts)


def _choice() -> View:
    """The page of nothing: a form."""
    return View(
        title="Why is this so?",
        parts=(),
        context={"subject": None},
        fields=tables.fields(COLUMNS),
        extra=lambda: dict.fromkeys(("of", "older", "recorded_up_to")) | {"incidents": []},
    )


def _title(subject: Subject) -> str:
    return f"Why is {subject.words} so?"


def _context(snapshot: Snapshot, wanted: WhyQuery, subject: Subject, story: _Story) -> Mapping[str, object]:
    route, of = subject.page
    cluster = snapshot.cluster
    return {
        "subject": subject,
        "page": links.cluster(cluster, route, links.query(of)),
        "timeline": links.cluster(cluster, "timeline/", links.query(subject.pairs[:1])),
        "pipeline": links.cluster(cluster, "pipeline/"),
        "trouble": story.trouble,
        "reach": story.recorded.reach_ms,
        "gap": timeline_past.has_gap(snapshot, story.recorded),
        "older": story.next,
        "first": links.why(cluster, subject.pairs) if wanted.before else "",
    }


def _live(snapshot: Snapshot, wanted: WhyQuery) -> list[Event]:
    """What the watcher keeps of it, each incident with all of its changes that are about it."""
    if wanted.before is not None:
        return []
    entries = timeline_past.newest_kept(snapshot, wanted.search, SIZE)
    kept = events.grouped((entry.change for entry in entries), Belonging(snapshot.incidents))
    return [events.whole(event, _mine(event, wanted.search)) for event in kept]


def _mine(event: Event, search: Search) -> Sequence[Change]:
    rows = () if event.incident is None else event.incident.rows
    return [change for change in rows if timeline_query.is_meant(change, search)]


def _writers(snapshot: Snapshot, changes: Sequence[Change]) -> tuple[Mapping[int, Writer], str]:
    zxids = tuple(sorted({change.zxid for change in changes if change.zxid is not None}))
    return recorded.told(
        snapshot.cluster,
        writers.TABLES,
        ("writers", zxids),
        lambda read: writers.look(read, zxids),
        _NOBODY,
    )


def _live_parts(
    snapshot: Snapshot, subject: Subject, live: Sequence[Event], by: Mapping[int, Writer]
) -> tuple[Block, ...]:
    return (
        Block(id="so", template="why/so.html", values=now.look(snapshot, subject)),
        _storyteller(snapshot, subject, by).block("kept", live),
    )


def _storyteller(snapshot: Snapshot, subject: Subject, by: Mapping[int, Writer]) -> Storyteller:
    return Storyteller(snapshot.cluster, subject, incident_list.actions(snapshot.queue), by)


def _record(snapshot: Snapshot, subject: Subject) -> Record:
    so = now.look(snapshot, subject)
    if so is None:
        why = {"status_reason": "it is not there", "words_reason": "it is not there"}
        return {"what": subject.words, "status": None, "words": None, **why}
    return {"what": subject.words, "status": so.severity.value, "words": so.words}


def _utc(epoch_ms: int | None) -> str | None:
    return None if epoch_ms is None else times.utc_text(epoch_ms)


PAGE = Page(
    name=NAME,
    route="why/",
    template="why/why.html",
    look=look,
    areas=frozenset({"changes", "topics", "groups", "brokers", "actions"}),
    canonical=query.canonical,
    shape=shapes.Shape(
        (COLUMNS,),
        {
            "of": shapes.or_null(
                shapes.fields(what=shapes.TEXT, status=shapes.TEXT_OR_NULL, words=shapes.TEXT_OR_NULL)
            ),
            "older": shapes.TEXT_OR_NULL,
            "recorded_up_to": shapes.TEXT_OR_NULL,
            "incidents": shapes.many(incident_list.RECORD),
        },
        parameters={
            **{name: subjects.SCHEMAS[name] for name in (*query.KINDS, "partition")},
            "before": shapes.TEXT,
        },
    ),
    whole=whole,
    subject_of=lambda key: query.understood(key.query).subject,
)
