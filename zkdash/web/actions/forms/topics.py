"""Creating, widening, configuring and deleting a topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from zkdash.cluster.model.topics import Topic
from zkdash.cluster.plans.intents import AddPartitions, ChangeConfig, CreateTopic, DeleteTopic
from zkdash.cluster.plans.kinds.creations import MOST_PARTITIONS
from zkdash.kafka import topic_names
from zkdash.kafka.assignment import placement
from zkdash.kafka.documents.document import few
from zkdash.kafka.values import Assignment, TopicConfig
from zkdash.kafka.znode_kinds import Kind
from zkdash.web.actions.forms import option_rows, patterns
from zkdash.web.actions.forms.base import MOST_AT_ONCE, ActionForm, Given, Heading
from zkdash.web.actions.forms.fields import NameField, TopicField, TopicsField
from zkdash.web.actions.forms.typed import ConfigField, ListsField
from zkdash.znode import Operation


class CreateForm(ActionForm):
    kind = "create-topic"
    heading = Heading.TOPICS
    rank = 1
    lead = "The topic’s configuration and its replicas are written at once; the controller does the rest."
    template = "actions/forms/topic_options.html"
    follows = {
        (Kind.TOPIC, Operation.CREATE): (
            "The controller notices the topic, makes the znodes of its partitions and elects their leaders."
        ),
    }

    topic = NameField(label="Topic", help_text="1 to 249 of a-z, A-Z, 0-9, “.”, “_” and “-”.")
    partitions = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_PARTITIONS, initial=1, label="Partitions"
    )
    replication = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1000,
        label="Replication factor",
        help_text="Empty: as many as there are brokers, three at most.",
    )
    assignment = ListsField(
        label="or the replicas of each partition",
        help_text="0: 1, 2, 3, one per line; instead of both numbers.",
    )
    config = ConfigField(label="Configuration", help_text="retention.ms=1000, one per line.")

    def prepare(self, _: Given) -> None:
        self.initial["replication"] = placement.usual_replication(len(self.state.brokers))

    def clean_topic(self) -> str:
        name: str = self.cleaned_data["topic"]
        if fault := topic_names.fault(name):
            raise forms.ValidationError(fault)
        return name

    def intents(self) -> tuple[CreateTopic, ...]:
        given = self.cleaned_data
        return (
            CreateTopic(
                given["topic"],
                given["partitions"] or 1,
                given["replication"],
                given["config"],
                given["assignment"],
            ),
        )

    def facts(self) -> Mapping[str, Any]:
        return {"options": option_rows.rows()}


class WidenForm(ActionForm):
    kind = "add-partitions"
    heading = Heading.TOPICS
    rank = 2
    lead = (
        "New partitions are added behind those that there are; they cannot be taken away again, and messages "
        "with a key go to other partitions from then on."
    )
    follows = {
        (Kind.TOPIC, Operation.SET): (
            "The controller notices the new partitions, makes their znodes and elects their leaders."
        ),
    }
    names = {"partitions": "total"}

    topic = TopicField(label="Topic")
    total = forms.IntegerField(
        min_value=2,
        max_value=MOST_PARTITIONS,
        label="Partitions in all",
        help_text="Those that it has, and the new.",
    )
    assignment = ListsField(
        label="Replicas of the new partitions",
        help_text="3: 1, 2, 3, one per line. Empty: placed as Kafka places them.",
    )

    def prepare(self, given: Given) -> None:
        self._topic = self.state.topics.get(self.typed("topic", given).strip())

    def facts(self) -> Mapping[str, Any]:
        count = _partitions(self._topic)
        name = self._topic.name if self._topic else ""
        return {"told": () if count is None else ((f"Partitions of “{name}” now", str(count)),)}

    def intents(self) -> tuple[AddPartitions, ...]:
        given = self.cleaned_data
        return (AddPartitions(given["topic"], given["total"], given["assignment"]),)


class _OfTopics(ActionForm):
    """A form about topics that there are, each of which makes an action of its own."""

    names = {"topic": "topics"}

    topics = TopicsField(
        required=True,
        most=MOST_AT_ONCE,
        label="Topics",
        help_text="Names and patterns (orders-*), one per line; each becomes an action of its own.",
    )

    def prepare(self, given: Given) -> None:
        named = patterns.chosen(self.typed("topics", given), self.state.topics).names
        self._topics = [self.state.topics[name] for name in named[:MOST_AT_ONCE]]


class ConfigForm(_OfTopics):
    kind = "change-config"
    heading = Heading.TOPICS
    rank = 3
    lead = "Options of the topic are set or removed, all others stay, and every broker is told."
    template = "actions/forms/topic_options.html"

    put = ConfigField(label="Set", help_text="retention.ms=1000, one per line.")
    drop = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label="Remove what is set now"
    )

    def prepare(self, given: Given) -> None:
        super().prepare(given)
        self._now = {
            topic.name: topic.config.config for topic in self._topics if isinstance(topic.config, TopicConfig)
        }
        values: dict[str, list[str]] = {}
        for config in self._now.values():
            for name, value in config.items():
                values.setdefault(name, []).append(value)
        drop = self.fields["drop"]
        if isinstance(drop, forms.MultipleChoiceField):
            drop.choices = [
                (name, f"{name} = {', '.join(_valued(name, values_of_name))}")
                for name, values_of_name in sorted(values.items())
            ]
        if not values:
            drop.help_text = (
                "Nothing is set: the brokers’ own values count."
                if self._topics
                else "Shown once topics are named: choose Preview."
            )

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        both = set(given.get("put", ())).intersection(given.get("drop", ()))
        if both:
            self.add_error("drop", f"{min(both)} is both set and removed.")
        elif not self.errors and not given["put"] and not given["drop"]:
            self.add_error("put", "Name what to set (name=value), or choose what to remove.")
        return given

    def intents(self) -> tuple[ChangeConfig, ...]:
        """One for each topic; of several, those alone that are not configured so already."""
        given = self.cleaned_data
        put, drop = given["put"], tuple(given["drop"])
        intents = {name: ChangeConfig(name, put, drop) for name in given["topics"]}
        changed = [intent for name, intent in intents.items() if self._changes(name, put, drop)]
        if changed and len(changed) < len(intents):
            self.remarks.append(f"{len(intents) - len(changed)} topics are configured so already: left out.")
        return tuple(changed or intents.values())

    def _changes(self, name: str, put: Mapping[str, str], drop: Iterable[str]) -> bool:
        now = self._now.get(name, {})
        return any(now.get(key) != value for key, value in put.items()) or any(key in now for key in drop)

    def facts(self) -> Mapping[str, Any]:
        return {"options": option_rows.rows()}


class DeleteForm(_OfTopics):
    kind = "delete-topic"
    heading = Heading.TOPICS
    rank = 4
    lead = (
        "The topic is marked for deletion; the controller then has every broker delete its messages, for "
        "ever. Offsets of groups and ACLs stay. What can block it or bring it back is told before you "
        "submit, and you will be asked to type the topic’s name."
    )
    follows = {
        (Kind.DELETION, Operation.CREATE): (
            "The controller stops the replicas, has every broker delete its logs, and then removes the "
            "topic’s znodes, its configuration and this mark."
        ),
    }

    def facts(self) -> Mapping[str, Any]:
        if not self._topics:
            return {}
        counts = [count for topic in self._topics if (count := _partitions(topic)) is not None]
        groups = sorted({name for topic in self._topics for name in self.state.consumers.get(topic.name, ())})
        facts = [("Partitions whose messages are lost", str(sum(counts)))]
        if groups:
            facts.append(("Groups that know them", ", ".join(few(groups))))
        return {"told": facts}

    def intents(self) -> tuple[DeleteTopic, ...]:
        return tuple(map(DeleteTopic, self.cleaned_data["topics"]))


def _valued(name: str, values: Iterable[str]) -> list[str]:
    """The different values of an option, with what they mean in units."""
    return few([option_rows.valued(name, value) for value in dict.fromkeys(values)])


def _partitions(topic: Topic | None) -> int | None:
    """How many partitions a topic has, None where that cannot be told."""
    assignment = topic.assignment if topic else None
    return len(assignment.partitions) if isinstance(assignment, Assignment) else None
