"""Clearing what was left behind: throttles, configurations, dead requests, half-deleted topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django import forms

from zkdash.cluster.plans.intents import CleanUpTopic, ClearConfigs, ClearStuck, ClearThrottles, RevertStuck
from zkdash.cluster.plans.kinds import stuck_reassignments
from zkdash.kafka import paths
from zkdash.kafka.values import Assignment, Move
from zkdash.kafka.znode_kinds import Kind
from zkdash.web.actions.forms import patterns
from zkdash.web.actions.forms.base import MOST_AT_ONCE, ActionForm, Given, Heading
from zkdash.web.actions.forms.fields import LinesField, NameField
from zkdash.web.actions.forms.typed import MovesField, listed
from zkdash.znode import Operation

_MOST_FOLDERS = 200
_MOST_MARKS = 200
_MOST_SUPPOSED = 1000


class ThrottlesForm(ActionForm):
    kind = "clear-throttles"
    heading = Heading.CLEARING
    rank = 2
    lead = (
        "Throttles of topics and brokers that a finished reassignment left behind are removed. Nothing is "
        "done while partitions move. It may be repeated."
    )

    def intents(self) -> tuple[ClearThrottles, ...]:
        return (ClearThrottles(),)


class ConfigsForm(ActionForm):
    kind = "clear-configs"
    heading = Heading.CLEARING
    rank = 3
    lead = "Configurations below /config/topics whose topics no longer are, are removed."
    names = {"topic": "topics"}

    topics = LinesField(
        label="Topics that are gone", help_text="Names and patterns, one per line. Empty: all that are gone."
    )

    def clean_topics(self) -> tuple[str, ...]:
        chosen = patterns.chosen(self.cleaned_data["topics"], self.state.remnants)
        if chosen.fault or chosen.misses:
            missed = patterns.sentence(chosen.misses, "absent topic with a configuration")
            raise forms.ValidationError(chosen.fault or missed)
        return chosen.names

    def intents(self) -> tuple[ClearConfigs, ...]:
        return (ClearConfigs(self.cleaned_data["topics"]),)


class StuckForm(ActionForm):
    kind = "clear-stuck"
    heading = Heading.CLEARING
    rank = 4
    lead = (
        "A request that no controller can act on is removed, and the controller is re-elected, so that it "
        "looks for the next. Removing a reassignment that runs is no cancel: such a request is refused "
        "here. The mark of a topic that is not there is just removed."
    )
    follows = {
        (Kind.REASSIGNMENT, Operation.DELETE): (
            "A controller that has read it goes on with what it began: this is no cancel."
        ),
    }

    path = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label="Requests",
        help_text="Each becomes an action of its own.",
    )

    def prepare(self, _: Given) -> None:
        marked = sorted(name for name in self.state.deletions if name not in self.state.topics)
        field = self.fields["path"]
        if isinstance(field, forms.MultipleChoiceField):
            field.choices = [
                (paths.REASSIGNMENT, f"The reassignment ({paths.REASSIGNMENT})"),
                (paths.ELECTION, f"The election ({paths.ELECTION})"),
                *(
                    (paths.deletion(name), f"The mark of “{name}”, which is not there")
                    for name in marked[:_MOST_MARKS]
                ),
            ]
        if self.state.reassignment is not None:
            self.initial["path"] = [paths.REASSIGNMENT]
        elif self.state.election is not None:
            self.initial["path"] = [paths.ELECTION]

    def clean_path(self) -> tuple[str, ...]:
        chosen = tuple(self.cleaned_data["path"])
        if len(chosen) > MOST_AT_ONCE:
            raise forms.ValidationError(
                f"These are {len(chosen)} requests; {MOST_AT_ONCE} at a time are the most."
            )
        return chosen

    def intents(self) -> tuple[ClearStuck, ...]:
        return tuple(map(ClearStuck, self.cleaned_data["path"]))


class RevertForm(ActionForm):
    kind = "revert-stuck"
    heading = Heading.CLEARING
    rank = 5
    lead = (
        "A reassignment that waits for a broker which will not come is replaced by one that asks for the "
        "replicas as they were, and the controller is re-elected, so that it reads it. You will be asked to "
        "type a word."
    )

    originals = MovesField(
        label="Replicas before the move",
        help_text="orders-0: 1, 2, 3, one per line; only where ZooKeeper does not tell (before Kafka 2.4). "
        "What stands here at first is what the ISR suggests: compare it with what you know.",
    )

    def prepare(self, _: Given) -> None:
        self.initial["originals"] = "\n".join(
            f"{move.topic}-{move.partition}: {listed(move.replicas)}"
            for move in stuck_reassignments.supposed(self.state)[:_MOST_SUPPOSED]
        )

    def clean_originals(self) -> tuple[Move, ...]:
        given: tuple[Move, ...] = self.cleaned_data["originals"]
        guessed = set(stuck_reassignments.supposed(self.state)).intersection(given)
        if guessed:
            self.remarks.append(
                f"The replicas before the move of {len(guessed)} partitions are those that the ISR suggests."
            )
        return given

    def intents(self) -> tuple[RevertStuck, ...]:
        return (RevertStuck(self.cleaned_data["originals"]),)


class CleanUpForm(ActionForm):
    kind = "clean-up-topic"
    heading = Heading.CLEARING
    rank = 6
    lead = (
        "Where a deletion hangs for good: remove the topic’s folders on the brokers yourself, then zkdash "
        "removes its znodes and re-elects the controller, as the old one would remember the "
        "topic."
    )
    template = "actions/forms/clean_up.html"

    topic = NameField(label="Topic", help_text="One that is marked for deletion.")
    folders_removed = forms.BooleanField(
        required=False,
        label="The folders are removed",
        help_text="On every broker, each while it was stopped: one that finds them brings the data back.",
    )

    def prepare(self, given: Given) -> None:
        self._name = self.typed("topic", given).strip()

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        name = given.get("topic")
        if name and name not in self.state.deletions:
            self.add_error("topic", f"“{name}” is not marked for deletion: delete it the ordinary way first.")
        elif name and not given.get("folders_removed"):
            self.add_error("folders_removed", "Remove the folders first, and say so here.")
        return given

    def intents(self) -> tuple[CleanUpTopic, ...]:
        given = self.cleaned_data
        return (CleanUpTopic(given["topic"], folders_removed=given["folders_removed"]),)

    def facts(self) -> Mapping[str, Any]:
        """The folders by broker, as far as the assignment still tells; of no topic that shall stay."""
        is_marked = self._name in self.state.deletions
        topic = self.state.topics.get(self._name) if is_marked else None
        assignment = topic.assignment if topic else None
        partitions_of: dict[int, list[int]] = {}
        if isinstance(assignment, Assignment):
            for number, replicas in sorted(assignment.partitions.items()):
                for broker in replicas:
                    partitions_of.setdefault(broker, []).append(number)
        folders = [
            (broker, [f"{self._name}-{number}" for number in numbers[:_MOST_FOLDERS]], len(numbers))
            for broker, numbers in sorted(partitions_of.items())
        ]
        marked = [] if is_marked else sorted(self.state.deletions)[:_MOST_FOLDERS]
        queries = [(name, urlencode({"topic": name}, errors="surrogatepass")) for name in marked]
        return {"folders": folders, "marked": queries, "named": self._name if is_marked else ""}
