"""What stands above a topic's partitions: what the topic is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from zkdash.cluster.model.topics import Topic, TopicSummary
from zkdash.cluster.tables import topic_statuses
from zkdash.kafka import paths
from zkdash.kafka.values import Assignment
from zkdash.live.parts import Block
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import links, shapes
from zkdash.web.frame.cells import Record
from zkdash.web.frame.facts import Fact, Facts, Note, path, status_line
from zkdash.web.frame.markup import format_html, format_html_join


def block(snapshot: Snapshot, name: str, topic: Topic | None) -> Block:
    """The live part, of a topic that is there or not."""
    summary = _summary(snapshot, name)
    if topic is None or summary is None:
        gone = f"No topic named “{name}” is in ZooKeeper."
        if not snapshot.state.loaded:
            gone = "Topics are not known before the first load from ZooKeeper."
        values = Facts(name, gone)
    else:
        doubt = "" if isinstance(topic.assignment, Assignment | None) else topic.assignment.reason
        notes = (Note(f"The assignment is not to be had: {doubt}"),) if doubt else ()
        values = Facts(name, facts=tuple(_known(snapshot.cluster, topic, summary)), notes=notes)
    return Block(id="facts", template="frame/facts.html", values=values)


RECORD: Final = {"status": shapes.TEXT_OR_NULL, "status_words": shapes.TEXT_OR_NULL}


def record(snapshot: Snapshot, name: str) -> Record:
    """The topic's status for JSON, as Topics lists it."""
    summary = _summary(snapshot, name)
    if summary is None:
        why = "there is no such topic"
        return {"status": None, "status_reason": why, "status_words": None, "status_words_reason": why}
    return {"status": summary.severity.value, "status_words": summary.words}


def _summary(snapshot: Snapshot, name: str) -> TopicSummary | None:
    return topic_statuses.of_topic(snapshot.state, snapshot.observations.standing, name)


def _known(cluster: str, topic: Topic, summary: TopicSummary) -> Iterator[Fact]:
    assignment = topic.assignment
    yield status_line(summary.severity, summary.words, why=links.why(cluster, [("topic", topic.name)]))
    yield Fact("Path", path(paths.topic(topic.name)))
    if isinstance(assignment, Assignment) and assignment.topic_id:
        yield Fact("Topic id", format_html("<code>{}</code>", assignment.topic_id))
    yield Fact("Layout", topic.layout.value)
    marks = [
        word for word, holds in (("deleting", topic.deleting), ("reassigning", bool(topic.moving))) if holds
    ]
    if marks:
        yield Fact(
            "Marks",
            format_html_join("", '<span class="severity info">{}</span> ', ((mark,) for mark in marks)),
        )
