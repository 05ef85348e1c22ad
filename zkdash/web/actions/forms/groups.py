"""Deleting a group of ZooKeeper consumers, and setting where it goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms

from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.topics import Topic
from zkdash.cluster.plans.intents import DeleteGroup, OffsetAt, ResetOffsets
from zkdash.cluster.plans.kinds import offsets
from zkdash.kafka.documents.document import LONG_MAX, quote
from zkdash.kafka.values import Assignment
from zkdash.kafka.znode_kinds import Kind
from zkdash.web.actions.forms import asked_offsets, patterns
from zkdash.web.actions.forms.base import MOST_AT_ONCE, ActionForm, Given, Heading
from zkdash.web.actions.forms.fields import (
    MOST_CHARACTERS,
    GroupsField,
    LinesField,
    NameField,
    NewGroupsField,
    PartitionsField,
    TopicsField,
)
from zkdash.web.actions.forms.typed import MomentField
from zkdash.znode import Operation

EARLIEST, LATEST, TIME, VALUE, SHIFT, FILE = "earliest", "latest", "time", "value", "shift", "file"
_WAYS = (
    (EARLIEST, "the earliest message that there is"),
    (LATEST, "the latest: only what comes from now on"),
    (TIME, "the first message of a time or later"),
    (VALUE, "one offset for all"),
    (SHIFT, "back or forth by a number of messages"),
    (FILE, "the offsets of a file in Kafka’s export format"),
)
_EACH = "Names and patterns, one per line; each becomes an action of its own."


class _OfGroups(ActionForm):
    """A form about groups, each of which makes an action of its own."""

    template = "actions/forms/groups.html"

    def prepare(self, given: Given) -> None:
        named = patterns.chosen(self.typed("groups", given), self.state.groups).names
        self._groups = [self.state.groups[name] for name in named[:MOST_AT_ONCE]]

    def facts(self) -> Mapping[str, Any]:
        return {"exported": "".join(map(offsets.exported, self._groups))}


class DeleteForm(_OfGroups):
    kind = "delete-group"
    heading = Heading.GROUPS
    rank = 2
    lead = (
        "What the group keeps in ZooKeeper is deleted, if the group has no live consumers. Its offsets are "
        "kept with the action, which can put them back."
    )
    names = {"group": "groups"}

    groups = GroupsField(required=True, most=MOST_AT_ONCE, label="Groups", help_text=_EACH)
    topic = NameField(required=False, label="Only this topic", help_text="Empty: the whole group.")

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        topic = given.get("topic")
        if topic and not self.errors:
            for group in self._groups:
                if topic not in {*group.offsets, *group.owners}:
                    sentence = f"{quote(group.name)} keeps nothing about {quote(topic)} in ZooKeeper."
                    self.add_error("topic", sentence)
                    break
        return given

    def intents(self) -> tuple[DeleteGroup, ...]:
        topic = self.cleaned_data["topic"] or None
        return tuple(DeleteGroup(name, topic) for name in self.cleaned_data["groups"])


class OffsetsForm(_OfGroups):
    kind = "reset-offsets"
    heading = Heading.GROUPS
    rank = 1
    lead = (
        "The offsets that the group keeps in ZooKeeper are set, if the group has no live consumers. The old "
        "values are kept with the action, which can put them back. A group that also commits to Kafka "
        "(dual.commit.enabled) goes on from the larger of both offsets: going back has no effect there. You "
        "will be asked to type the group’s name."
    )
    follows = {
        (Kind.OFFSET, Operation.CREATE): ("The next consumer that owns the partition begins there."),
        (Kind.OFFSET, Operation.SET): ("The next consumer that owns the partition begins there."),
        (Kind.OFFSET, Operation.DELETE): (
            "The next consumer that owns the partition begins where its auto.offset.reset says."
        ),
    }
    names = {"group": "groups", "topic": "topics", "partition": "partitions", "to": "way"}
    uploads = True
    ways = {
        "moment": "time",
        "value": "value",
        "shift": "shift",
        "topics": "earliest latest time value shift",
        "partitions": "earliest latest time value shift",
        "file": "file",
        "upload": "file",
    }

    groups = NewGroupsField(
        required=True, most=MOST_AT_ONCE, label="Groups", help_text=f"{_EACH} A name may be new."
    )
    way = forms.ChoiceField(choices=_WAYS, widget=forms.RadioSelect, label="To")
    moment = MomentField(label="Time", help_text="UTC.")
    value = forms.IntegerField(required=False, min_value=0, max_value=LONG_MAX, label="Offset")
    shift = forms.IntegerField(
        required=False,
        min_value=-LONG_MAX,
        max_value=LONG_MAX,
        label="Messages",
        help_text="Less than 0 goes back, never below 0.",
    )
    topics = TopicsField(
        label="Topics",
        help_text="Names and patterns, one per line. Empty: those of which the group keeps offsets.",
    )
    partitions = PartitionsField(label="Only these partitions", help_text="orders-0, one per line.")
    file = LinesField(
        rows=5, label="Offsets", help_text="/consumers/<group>/offsets/<topic>/<partition>:<offset>"
    )
    upload = forms.FileField(required=False, allow_empty_file=True, label="or their file")

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        way = given.get("way")
        self._offsets: dict[str, tuple[OffsetAt, ...]] = {}
        if not self.errors and way:
            ways = {VALUE: self._valued, SHIFT: self._shifted, FILE: self._filed}
            for name in given["groups"]:
                self._offsets[name] = ways.get(way, self._asked)(self.state.groups.get(name) or Group(name))
                if not self.errors and not self._offsets[name]:
                    self.add_error("topics", f"{quote(name)} keeps no offsets of these topics: name others.")
                if self.errors:
                    break
        return given

    def intents(self) -> tuple[ResetOffsets, ...]:
        return tuple(ResetOffsets(name, offsets) for name, offsets in self._offsets.items())

    # The ways

    def _valued(self, group: Group) -> tuple[OffsetAt, ...]:
        value = self.cleaned_data["value"]
        if value is None:
            self.add_error("value", "Give the offset.")
            return ()
        return offsets.to(self._places(group), value)

    def _shifted(self, group: Group) -> tuple[OffsetAt, ...]:
        by = self.cleaned_data["shift"]
        if not by:
            self.add_error("shift", "Give the number of messages, as -1000.")
            return ()
        resets = offsets.shifted(group, by, self.cleaned_data["topics"] or None)
        wanted = self._wanted()
        return tuple(offset for offset in resets if not wanted or (offset.topic, offset.part) in wanted)

    def _filed(self, group: Group) -> tuple[OffsetAt, ...]:
        resets, wrong = offsets.from_file(group.name, self._text())
        if wrong:
            self.add_error("file", " ".join(wrong))
        elif not resets:
            self.add_error("file", f"No offset of {quote(group.name)} is in the file.")
        return resets

    def _text(self) -> str:
        """What was pasted, or the file that was sent, which is read once."""
        upload = self.cleaned_data.get("upload")
        if upload:
            self.cleaned_data["upload"] = None
            self.cleaned_data["file"] = upload.read(MOST_CHARACTERS).decode("utf-8", "replace")
        return str(self.cleaned_data["file"])

    def _asked(self, group: Group) -> tuple[OffsetAt, ...]:
        way, moment = self.cleaned_data["way"], self.cleaned_data["moment"]
        if way == TIME and moment is None:
            self.add_error("moment", "Give the time, in UTC.")
            return ()
        answer = asked_offsets.ask(
            self.snapshot,
            self._places(group),
            latest=way == LATEST,
            at_ms=int(moment.timestamp() * 1000) if way == TIME else None,
            ask=self.ask,
        )
        if answer.refusals:
            self.add_error("way", " ".join(answer.refusals))
        self.remarks += answer.remarks
        return answer.offsets

    def _wanted(self) -> set[tuple[str, str]]:
        return {(topic, str(number)) for topic, number in self.cleaned_data["partitions"]}

    def _places(self, group: Group) -> list[tuple[str, str]]:
        """The partitions that are meant: those named, else all of the topics, or of those that it reads."""
        given = self.cleaned_data
        if given["partitions"]:
            return sorted(self._wanted())
        names = given["topics"] or sorted(group.offsets)
        topics = [self.state.topics[name] for name in names if name in self.state.topics]
        return [(topic.name, part) for topic in topics for part in _parts(topic)]


def _parts(topic: Topic) -> Iterator[str]:
    """Its partitions as offsets name them: "1", or 0.7's "1-0"."""
    if isinstance(topic.assignment, Assignment):
        yield from map(str, sorted(topic.assignment.partitions))
    for count in topic.counts:
        if isinstance(count.count, int):
            yield from (f"{count.broker}-{number}" for number in range(count.count))
