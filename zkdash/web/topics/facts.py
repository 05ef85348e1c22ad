"""What stands above a topic's partitions: what the topic is, and which groups consume it."""

from __future__ import annotations

import msgspec

from zkdash.cluster.analysis.position import Unknown
from zkdash.cluster.model.tone import Tone
from zkdash.cluster.model.topics import Topic, TopicSummary
from zkdash.kafka import paths
from zkdash.kafka.values import Assignment, Layout
from zkdash.live.parts import Block
from zkdash.live.snapshot import Snapshot
from zkdash.live.watching import positions
from zkdash.web.frame import cells, links

MOST_GROUPS = 20


class Consumer(msgspec.Struct, frozen=True):
    """A group that consumes the topic; `lag` is "" where nothing was committed, `why` says why unknown."""

    name: str
    href: str
    lag: str = ""
    why: str = ""


class Facts(msgspec.Struct, frozen=True):
    """What the template draws. `gone` is the sentence where there is no such topic."""

    name: str
    gone: str
    path: str
    tone: Tone = Tone.UNKNOWN
    words: str = ""
    layout: str = ""
    topic_id: str = ""
    marks: tuple[str, ...] = ()
    groups: tuple[Consumer, ...] = ()
    more_groups: int = 0
    doubt: str = ""


def block(snapshot: Snapshot, name: str, topic: Topic | None) -> Block:
    """The live part, of a topic that is there or not."""
    summary = snapshot.state.summaries.get(name)
    if topic is None or summary is None:
        gone = f"No topic named “{name}” is in ZooKeeper."
        if not snapshot.state.loaded:
            gone = "Topics are not known before the first load from ZooKeeper."
        values = Facts(name=name, gone=gone, path=paths.topic(name))
    else:
        values = _known(snapshot, topic, summary)
    return Block(id="facts", template="frame/definitions.html", values=values)


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


def _known(snapshot: Snapshot, topic: Topic, summary: TopicSummary) -> Facts:
    groups = sorted(snapshot.state.consumers.get(topic.name, ()))
    assignment = topic.assignment
    return Facts(
        name=topic.name,
        gone="",
        path=paths.topic(topic.name),
        tone=summary.tone,
        words=summary.words,
        layout=topic.layout.value,
        topic_id=(assignment.topic_id or "") if isinstance(assignment, Assignment) else "",
        marks=tuple(
            word
            for word, holds in (("deleting", topic.deleting), ("reassigning", bool(topic.moving)))
            if holds
        ),
        groups=consumers(snapshot, topic.name, groups[:MOST_GROUPS]),
        more_groups=max(0, len(groups) - MOST_GROUPS),
        doubt="" if assignment is None or isinstance(assignment, Assignment) else assignment.reason,
    )
