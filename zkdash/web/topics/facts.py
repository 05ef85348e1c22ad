"""What stands above a topic's partitions: what the topic is, and which groups consume it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from zkdash.cluster.analysis.position import Unknown
from zkdash.cluster.model.topics import Topic, TopicSummary
from zkdash.kafka import paths
from zkdash.kafka.values import Assignment, Layout
from zkdash.live.parts import Block
from zkdash.live.snapshot import Snapshot
from zkdash.live.watching import positions
from zkdash.web.frame import cells, links
from zkdash.web.frame.facts import Fact, Facts, Note, listed, path, status_line

MOST_GROUPS = 20


class Consumer(msgspec.Struct, frozen=True):
    """A group that consumes the topic; `lag` is "" where nothing was committed, `why` says why unknown."""

    name: str
    href: str
    lag: str = ""
    why: str = ""


def block(snapshot: Snapshot, name: str, topic: Topic | None) -> Block:
    """The live part, of a topic that is there or not."""
    summary = snapshot.state.summaries.get(name)
    if topic is None or summary is None:
        gone = f"No topic named “{name}” is in ZooKeeper."
        if not snapshot.state.loaded:
            gone = "Topics are not known before the first load from ZooKeeper."
        values = Facts(name, gone)
    else:
        doubt = "" if isinstance(topic.assignment, Assignment | None) else topic.assignment.reason
        notes = (Note(f"The assignment is not to be had: {doubt}"),) if doubt else ()
        values = Facts(name, facts=tuple(_known(snapshot, topic, summary)), notes=notes)
    return Block(id="facts", template="frame/facts.html", values=values)


def consumers(snapshot: Snapshot, topic: str, names: list[str]) -> tuple[Consumer, ...]:
    """The groups of these names, with what each has left to read of a topic; nothing of that in 0.7."""
    is_old = snapshot.state.layout is Layout.V07
    found = []
    for name in names:
        group = snapshot.state.groups[name]
        left = None if is_old else positions.lag(snapshot.samples, group, (topic,))
        href = links.group(snapshot.cluster, name)
        if isinstance(left, Unknown):
            found.append(Consumer(name, href, "unknown", left.reason))
        else:
            found.append(Consumer(name, href, "" if left is None else cells.grouped(left)))
    return tuple(found)


def _known(snapshot: Snapshot, topic: Topic, summary: TopicSummary) -> Iterator[Fact]:
    groups = sorted(snapshot.state.consumers.get(topic.name, ()))
    assignment = topic.assignment
    yield status_line(summary.tone, summary.words)
    yield Fact("Path", path(paths.topic(topic.name)))
    if isinstance(assignment, Assignment) and assignment.topic_id:
        yield Fact("Topic id", format_html("<code>{}</code>", assignment.topic_id))
    yield Fact("Layout", topic.layout.value)
    marks = [
        word for word, holds in (("deleting", topic.deleting), ("reassigning", bool(topic.moving))) if holds
    ]
    if marks:
        yield Fact(
            "Marks", format_html_join("", '<span class="tone info">{}</span> ', ((mark,) for mark in marks))
        )
    if groups:
        shown = consumers(snapshot, topic.name, groups[:MOST_GROUPS])
        yield Fact("Groups", listed(map(_consumer, shown), more=len(groups) - len(shown)))


def _consumer(one: Consumer) -> SafeString:
    """The group with its page, and its lag where that is to be told."""
    name = format_html('<a href="{}"><bdi>{}</bdi></a>', one.href, one.name)
    if not one.lag:
        return name
    why = format_html(' title="{}"', one.why) if one.why else ""
    return format_html('{} <span class="missing"{}>lag {}</span>', name, why, one.lag)
