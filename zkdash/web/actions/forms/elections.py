"""Electing preferred replicas, now, later or again and again; electing the controller anew."""

from __future__ import annotations

from typing import Any

from django import forms

from zkdash.cluster.plans.intents import ElectPreferred, ReelectController
from zkdash.kafka.znode_kinds import Kind
from zkdash.web.actions.forms.base import ActionForm, Given, Heading
from zkdash.web.actions.forms.fields import PartitionsField, TopicsField
from zkdash.znode import Operation

ALL, CHOSEN = "all", "chosen"


class Form(ActionForm):
    kind = "elect-preferred"
    heading = Heading.REPLICAS
    rank = 2
    lead = (
        "The first replica of each partition becomes its leader again, where it is in sync. Partitions whose "
        "preferred replica cannot lead are left out. An election may be repeated, planned again each time."
    )
    follows = {
        (Kind.ELECTION, Operation.CREATE): (
            "The controller lets the first replica of each partition lead, where it is in sync, and removes "
            "the znode."
        ),
    }
    names = {"topic": "topics", "partition": "partitions"}

    which = forms.ChoiceField(
        choices=((ALL, "All topics"), (CHOSEN, "Only the topics and partitions below")),
        widget=forms.RadioSelect,
        initial=ALL,
        label="Which partitions",
    )
    topics = TopicsField(label="Topics", help_text="Names and patterns (orders-*), one per line.")
    partitions = PartitionsField(label="Partitions", help_text="orders-0, one per line.")

    def prepare(self, given: Given) -> None:
        if {"topic", "topics", "partition", "partitions"}.intersection(given):
            self.initial["which"] = CHOSEN

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        if not self.errors:
            named = given["topics"] or given["partitions"]
            if given["which"] == CHOSEN and not named:
                self.add_error("topics", "Name the topics or partitions, or choose all topics.")
            if given["which"] == ALL and named:
                self.add_error(
                    "which", "Topics or partitions are named below: choose them, or empty the fields."
                )
        return given

    def intents(self) -> tuple[ElectPreferred, ...]:
        return (ElectPreferred(self.cleaned_data["topics"], self._partitions()),)

    def _partitions(self) -> tuple[tuple[str, int], ...]:
        """Of a topic that is named as a whole no single partitions."""
        whole = set(self.cleaned_data["topics"])
        return tuple(pair for pair in self.cleaned_data["partitions"] if pair[0] not in whole)


class ControllerForm(ActionForm):
    kind = "reelect-controller"
    heading = Heading.CLEARING
    rank = 1
    lead = (
        "/controller is deleted, and every broker tries to be the next controller, which reads the cluster "
        "again. Until it has, no partition gets another leader. You will be asked to type a word."
    )
    follows = {
        (Kind.CONTROLLER, Operation.DELETE): (
            "Every broker tries to be the next controller; the first one reads the cluster again."
        ),
    }

    def intents(self) -> tuple[ReelectController, ...]:
        return (ReelectController(),)
