"""Deleting a group of ZooKeeper consumers, and setting where it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from zkdash.cluster.groups import Group
from zkdash.cluster.plans import offsets
from zkdash.cluster.plans.intents import DeleteGroup, OffsetAt, ResetOffsets
from zkdash.kafka.layouts.document import LONG_MAX
from zkdash.kafka.values import Assignment
from zkdash.web.forms import asked_offsets
from zkdash.web.forms.base import ActionForm, Given
from zkdash.web.forms.fields import (
    GroupField,
    LinesField,
    MomentField,
    NameField,
    PartitionsField,
    TopicsField,
)

EARLIEST, LATEST, TIME, VALUE, SHIFT, FILE = "earliest", "latest", "time", "value", "shift", "file"
_WAYS = (
    (EARLIEST, "the earliest message that there is"),
    (LATEST, "the latest: only what comes from now on"),
    (TIME, "the first message of a time or later"),
    (VALUE, "one offset for all"),
    (SHIFT, "back or forth by a number of messages"),
    (FILE, "the offsets of a file in Kafka’s export format"),
)


class DeleteForm(ActionForm):
    kind = "delete-group"
    lead = (
        "What the group keeps in ZooKeeper is deleted, while none of its consumers lives. Its offsets are "
        "kept with the action, which can put them back."
    )

    group = GroupField(label="Group")
    topic = NameField(required=False, label="Only this topic", help_text="Empty: the whole group.")

    def prepare(self, given: Given) -> None:
        self._group = self.state.groups.get(self.typed("group", given).strip())

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        group, topic = self._group, given.get("topic")
        if group and topic and topic not in {*group.offsets, *group.owners}:
            self.add_error("topic", f"The group keeps nothing of “{topic}” in ZooKeeper.")
        return given

    def intent(self) -> DeleteGroup:
        return DeleteGroup(self.cleaned_data["group"], self.cleaned_data["topic"] or None)

    def facts(self) -> Mapping[str, Any]:
        return {"exported": offsets.exported(self._group) if self._group else ""}


class OffsetsForm(ActionForm):
    kind = "reset-offsets"
    lead = (
        "The offsets that the group keeps in ZooKeeper are set while none of its consumers lives. The "
        "values of before are kept with the action, which can put them back. A group that also commits to "
        "Kafka (dual.commit.enabled) goes on from the larger of both offsets: going back has no effect "
        "there."
    )
    names = {"topic": "topics", "partition": "partitions", "to": "way"}
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

    group = NameField(label="Group", help_text="One that is in ZooKeeper, or a new one.")
    way = forms.ChoiceField(choices=_WAYS, widget=forms.RadioSelect, initial=EARLIEST, label="To")
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
        help_text="Names and patterns, one a line. Empty: those of which the group keeps offsets.",
    )
    partitions = PartitionsField(label="Only these partitions", help_text="orders-0, one a line.")
    file = LinesField(
        rows=5, label="Offsets", help_text="/consumers/<group>/offsets/<topic>/<partition>:<offset>"
    )
    upload = forms.FileField(required=False, allow_empty_file=True, label="or their file")

    def prepare(self, given: Given) -> None:
        self._group = self.state.groups.get(self.typed("group", given).strip())
        self._offsets: tuple[OffsetAt, ...] = ()

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        way = given.get("way")
        if not self.errors and way:
            ways = {VALUE: self._valued, SHIFT: self._shifted, FILE: self._filed}
            self._offsets = ways.get(way, self._asked)()
            if not self.errors and not self._offsets:
                self.add_error("topics", "The group keeps no offsets of these topics: name other topics.")
        return given

    def intent(self) -> ResetOffsets:
        return ResetOffsets(self.cleaned_data["group"], self._offsets)

    def facts(self) -> Mapping[str, Any]:
        return {"exported": offsets.exported(self._group) if self._group else ""}

    # The ways

    def _valued(self) -> tuple[OffsetAt, ...]:
        value = self.cleaned_data["value"]
        if value is None:
            self.add_error("value", "Give the offset.")
            return ()
        return offsets.to(self._places(), value)

    def _shifted(self) -> tuple[OffsetAt, ...]:
        by = self.cleaned_data["shift"]
        if not by:
            self.add_error("shift", "Give the number of messages, as -1000.")
            return ()
        found = offsets.shifted(self._group or Group(""), by, self.cleaned_data["topics"] or None)
        wanted = self._wanted()
        return tuple(one for one in found if not wanted or (one.topic, one.part) in wanted)

    def _filed(self) -> tuple[OffsetAt, ...]:
        upload = self.cleaned_data.get("upload")
        text = upload.read().decode("utf-8", "replace") if upload else self.cleaned_data["file"]
        found, wrong = offsets.from_file(self.cleaned_data["group"], text)
        if wrong:
            self.add_error("file", " ".join(wrong))
        elif not found:
            self.add_error("file", "No offset of this group is in the file.")
        return found

    def _asked(self) -> tuple[OffsetAt, ...]:
        way, moment = self.cleaned_data["way"], self.cleaned_data["moment"]
        if way == TIME and moment is None:
            self.add_error("moment", "Give the time, in UTC.")
            return ()
        at_ms = int(moment.timestamp() * 1000) if way == TIME else None
        answer = asked_offsets.ask(
            self.snapshot, self._places(), latest=way == LATEST, at_ms=at_ms, ask=self.ask
        )
        if answer.refusals:
            self.add_error("way", " ".join(answer.refusals))
        self.remarks += answer.remarks
        return answer.offsets

    def _wanted(self) -> set[tuple[str, str]]:
        return {(topic, str(number)) for topic, number in self.cleaned_data["partitions"]}

    def _places(self) -> list[tuple[str, str]]:
        """The partitions that are meant: those named, else all of the topics, or of those that it reads."""
        given = self.cleaned_data
        if given["partitions"]:
            return sorted(self._wanted())
        names = given["topics"] or (sorted(self._group.offsets) if self._group else ())
        found: list[tuple[str, str]] = []
        for name in names:
            topic = self.state.topics.get(name)
            if topic is None:
                continue
            if isinstance(topic.assignment, Assignment):
                found += ((name, str(number)) for number in sorted(topic.assignment.partitions))
            for one in topic.counts:
                if isinstance(one.count, int):
                    found += ((name, f"{one.broker}-{number}") for number in range(one.count))
        return found
