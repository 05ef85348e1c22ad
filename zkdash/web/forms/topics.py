"""Creating, widening, configuring and deleting a topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from zkdash.cluster.plans.creations import MOST_PARTITIONS
from zkdash.cluster.plans.intents import AddPartitions, ChangeConfig, CreateTopic, DeleteTopic
from zkdash.kafka import topic_names, topic_options
from zkdash.kafka.values import Assignment, TopicConfig
from zkdash.web.forms.base import ActionForm, Given
from zkdash.web.forms.fields import ConfigField, ListsField, NameField, TopicField


class CreateForm(ActionForm):
    kind = "create-topic"
    lead = "The topic’s configuration and its replicas are written at once; the controller does the rest."

    topic = NameField(label="Topic", help_text="1 to 249 of a-z, A-Z, 0-9, “.”, “_” and “-”.")
    partitions = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_PARTITIONS, initial=1, label="Partitions"
    )
    replication = forms.IntegerField(
        required=False, min_value=1, max_value=1000, initial=1, label="Replication factor"
    )
    assignment = ListsField(
        label="or the replicas of each partition",
        help_text="0: 1, 2, 3, one a line; instead of both numbers.",
    )
    config = ConfigField(label="Configuration", help_text="retention.ms=1000, one a line.")

    def clean_topic(self) -> str:
        name: str = self.cleaned_data["topic"]
        if fault := topic_names.fault(name):
            raise forms.ValidationError(fault)
        return name

    def intent(self) -> CreateTopic:
        given = self.cleaned_data
        return CreateTopic(
            given["topic"],
            given["partitions"] or 1,
            given["replication"] or 1,
            given["config"],
            given["assignment"],
        )

    def facts(self) -> Mapping[str, Any]:
        return {"options": sorted(topic_options.KNOWN)}


class _OfTopic(ActionForm):
    """A form about one topic that there is."""

    topic = TopicField(label="Topic")

    def prepare(self, given: Given) -> None:
        self._topic = self.state.topics.get(self.typed("topic", given).strip())

    @property
    def partition_count(self) -> int | None:
        """How many partitions the topic has, None where there is no topic to be asked yet."""
        found = self._topic.assignment if self._topic else None
        return len(found.partitions) if isinstance(found, Assignment) else None


class WidenForm(_OfTopic):
    kind = "add-partitions"
    lead = (
        "New partitions are added behind those that there are; they cannot be taken away again, and messages "
        "with a key go to other partitions from then on."
    )
    names = {"partitions": "total"}

    total = forms.IntegerField(
        min_value=2,
        max_value=MOST_PARTITIONS,
        label="Partitions in all",
        help_text="Those that it has, and the new.",
    )
    assignment = ListsField(
        label="Replicas of the new partitions",
        help_text="3: 1, 2, 3, one a line. Empty: placed as Kafka places them.",
    )

    def facts(self) -> Mapping[str, Any]:
        count = self.partition_count
        return {"told": () if count is None else ((f"Partitions of “{self._name}” now", str(count)),)}

    @property
    def _name(self) -> str:
        return self._topic.name if self._topic else ""

    def intent(self) -> AddPartitions:
        given = self.cleaned_data
        return AddPartitions(given["topic"], given["total"], given["assignment"])


class ConfigForm(_OfTopic):
    kind = "change-config"
    lead = "Options of the topic are set or removed, all others stay, and every broker is told."

    put = ConfigField(label="Set", help_text="retention.ms=1000, one a line.")
    drop = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label="Remove what is set now"
    )

    def prepare(self, given: Given) -> None:
        super().prepare(given)
        found = self._topic.config if self._topic else None
        self._now = dict(found.config) if isinstance(found, TopicConfig) else {}
        drop = self.fields["drop"]
        if isinstance(drop, forms.MultipleChoiceField):
            drop.choices = [(name, f"{name} = {value}") for name, value in sorted(self._now.items())]
        if not self._now:
            drop.help_text = (
                "Nothing is set for this topic: the brokers’ own values count."
                if self._topic
                else "Shown once the topic is named: choose Preview."
            )

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        if not self.errors and not given["put"] and not given["drop"]:
            self.add_error("put", "Name what to set (name=value), or choose what to remove.")
        both = set(given.get("put", ())).intersection(given.get("drop", ()))
        if both:
            self.add_error("drop", f"{min(both)} is both set and removed.")
        return given

    def intent(self) -> ChangeConfig:
        given = self.cleaned_data
        return ChangeConfig(given["topic"], given["put"], tuple(given["drop"]))

    def facts(self) -> Mapping[str, Any]:
        return {"options": sorted(topic_options.KNOWN)}


class DeleteForm(_OfTopic):
    kind = "delete-topic"
    lead = (
        "The topic is marked for deletion; the controller then has every broker delete its messages, for "
        "ever. Offsets of groups and ACLs stay. What can block it or bring it back is told before you "
        "submit, and you will be asked to type the topic’s name."
    )

    def facts(self) -> Mapping[str, Any]:
        count = self.partition_count
        if self._topic is None or count is None:
            return {}
        groups = sorted(self.state.consumers.get(self._topic.name, ()))
        told = [("Partitions whose messages are lost", str(count))]
        if groups:
            more = f" and {len(groups) - 5} more" if len(groups) > 5 else ""
            told.append(("Groups that know it", ", ".join(groups[:5]) + more))
        return {"told": told}

    def intent(self) -> DeleteTopic:
        return DeleteTopic(self.cleaned_data["topic"])
