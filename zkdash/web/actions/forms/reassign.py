"""Moving replicas, in all the ways that lead to a list of moves."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec
from django import forms

from zkdash.cluster.plans import proposals
from zkdash.cluster.plans.intents import Reassign
from zkdash.cluster.plans.proposals import Proposal
from zkdash.kafka.payloads import reassignment_json
from zkdash.kafka.values import Assignment
from zkdash.kafka.znode_kinds import Kind
from zkdash.web.actions.forms.base import ActionForm, Given, Heading
from zkdash.web.actions.forms.fields import BrokersField, LinesField, PartitionsField, TopicsField
from zkdash.web.actions.forms.typed import MovesField, RateField, listed
from zkdash.znode import Operation

DRAIN, ADD, REPLACE, FACTOR, BALANCE, PASTE, LISTS = (
    "drain",
    "add",
    "replace",
    "factor",
    "balance",
    "paste",
    "lists",
)
_WAYS = (
    (DRAIN, "Drain brokers: no replica stays on them"),
    (ADD, "Fill new brokers: they get their share"),
    (REPLACE, "Replace a broker: another takes all its replicas"),
    (FACTOR, "Change the replication factor"),
    (BALANCE, "Balance replicas and leaders over all brokers"),
    (PASTE, "Paste a plan of kafka-reassign-partitions"),
    (LISTS, "Name the replicas of each partition"),
)
OURS, KAFKAS = "fewest", "kafka"
_COUNTED = {DRAIN, ADD, REPLACE, FACTOR, BALANCE}


class Compared(msgspec.Struct, frozen=True):
    """One plan beside the other."""

    name: str
    partitions: int
    replicas: int
    refusal: str


class Form(ActionForm):
    kind = "reassign"
    heading = Heading.REPLICAS
    rank = 1
    lead = (
        "Replicas are copied to other brokers by /admin/reassign_partitions. zkdash proposes the fewest "
        "copies that do it; you see every partition before anything is written."
    )
    template = "actions/forms/reassign.html"
    follows = {
        (Kind.REASSIGNMENT, Operation.CREATE): (
            "The controller reads it, has the new replicas copy from the leaders, drops the old ones when "
            "all are in sync, and removes the znode at the end."
        ),
    }
    names = {"topic": "topics", "partition": "partitions", "broker": "brokers", "with": "by"}
    uploads = True
    ways = {
        "brokers": "drain add replace",
        "by": "replace",
        "factor": "factor",
        "topics": "drain add replace factor balance",
        "partitions": "drain add replace factor balance",
        "plan": "paste",
        "upload": "paste",
        "moves": "lists",
        "generator": "drain add replace balance",
    }

    way = forms.ChoiceField(
        choices=_WAYS, initial=DRAIN, widget=forms.RadioSelect, label="What to do with the replicas"
    )
    brokers = BrokersField(
        label="Brokers", help_text="To drain, to fill, or the one to be replaced: 3, or 7 to 9."
    )
    by = BrokersField(label="Replaced by", help_text="The broker that takes over.")
    factor = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1000,
        label="Replication factor",
        help_text="Of the topics below.",
    )
    topics = TopicsField(
        label="Topics", help_text="Names and patterns (orders-*), one per line. Empty: all topics."
    )
    partitions = PartitionsField(
        label="Only these partitions", help_text="orders-0, one per line. Empty: all of the topics."
    )
    plan = LinesField(
        rows=5,
        longest=2 * reassignment_json.MOST_BYTES,
        label="Plan to paste",
        help_text='{"version":1,"partitions":[…]}',
    )
    upload = forms.FileField(required=False, allow_empty_file=True, label="or a plan’s file")
    moves = MovesField(
        rows=5,
        label="Replicas by partition",
        help_text="orders-0: 1, 2, 3, one per line; the first is preferred.",
    )
    generator = forms.ChoiceField(
        required=False,
        choices=(
            (OURS, "with the fewest copies"),
            (KAFKAS, "as Kafka’s own tool would place them from scratch"),
        ),
        widget=forms.RadioSelect,
        initial=OURS,
        label="Placed",
        help_text="Preview counts what each of both would copy.",
    )
    concurrent = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=100_000,
        label="Partitions that move at once",
        help_text="Empty: all at once.",
    )
    throttle = RateField(
        label="Throttle",
        help_text="Bytes a second and broker: 50 MB/s. Set before, removed after. Empty: none.",
    )
    supersede = forms.BooleanField(
        required=False,
        label="Supersede moves that run",
        help_text="Replace a move that the brokers’ own API started (2.4 and later).",
    )

    def prepare(self, given: Given) -> None:
        self._proposal = Proposal()
        self.compared: tuple[Compared, ...] = ()
        if "way" not in given and "broker" not in given:
            names = {"partition": LISTS, "moves": LISTS, "plan": PASTE, "topic": BALANCE}
            self.initial["way"] = next((way for name, way in names.items() if name in given), DRAIN)
        elif "way" in given:
            self.initial["way"] = given["way"][0]
        if self.initial.get("way") == LISTS and "moves" not in given:
            self.initial["moves"] = "\n".join(self._now(given.get("partition", ())))

    def _now(self, named: Collection[str]) -> list[str]:
        """The partitions that an address names, with the replicas they have."""
        lines = []
        for topic_name in named:
            name, _, number = topic_name.strip().rpartition("-")
            topic = self.state.topics.get(name)
            assignment = topic.assignment if topic else None
            if (
                isinstance(assignment, Assignment)
                and number.isdecimal()
                and int(number) in assignment.partitions
            ):
                lines.append(f"{topic_name}: {listed(assignment.partitions[int(number)])}")
        return lines

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        way = given.get("way")
        if way and not self.errors:
            self._proposal = {PASTE: self._pasted, LISTS: self._listed}.get(way, self._proposed)()
            if not self.errors:
                self._narrow(way)
        return given

    def intents(self) -> tuple[Reassign, ...]:
        given = self.cleaned_data
        moves = self._proposal.moves
        return (Reassign(moves, given["concurrent"], given["throttle"], bool(given["supersede"])),)

    def facts(self) -> Mapping[str, Any]:
        return {"compared": self.compared}

    # The ways

    def _pasted(self) -> Proposal:
        upload = self.cleaned_data.get("upload")
        data = (
            upload.read(reassignment_json.MOST_BYTES + 1)
            if upload
            else self.cleaned_data["plan"].encode("utf-8", "surrogatepass")
        )
        if not data.strip():
            self.add_error("plan", "Paste a plan, or choose its file.")
            return Proposal()
        moves, wrong = reassignment_json.read(data)
        if wrong:
            self.add_error("plan", " ".join(wrong))
        return Proposal(moves)

    def _listed(self) -> Proposal:
        moves = self.cleaned_data["moves"]
        if not moves:
            self.add_error("moves", "Name the replicas of at least one partition: orders-0: 1, 2, 3.")
        return Proposal(moves)

    def _proposed(self) -> Proposal:
        given, way = self.cleaned_data, self.cleaned_data["way"]
        topics = given["topics"] or tuple({topic for topic, _ in given["partitions"]}) or None
        if fault := self._missing(way):
            self.add_error(*fault)
            return Proposal()
        ours = self._ours(way, topics)
        kafkas = self._kafkas(way, topics)
        self.compared = tuple(
            _compared(name, proposal)
            for name, proposal in (("With the fewest copies", ours), ("As Kafka’s own tool", kafkas))
            if proposal is not None
        )
        chosen = kafkas if given.get("generator") == KAFKAS else ours
        if chosen is None:
            self.add_error("generator", "Kafka’s own tool changes no replication factor.")
            return Proposal()
        return chosen

    def _missing(self, way: str) -> tuple[str, str] | None:
        """The field that a way lacks, and a sentence."""
        given = self.cleaned_data
        brokers, by = given["brokers"], given["by"]
        needs: tuple[tuple[bool, str, str], ...] = (
            (way in {DRAIN, ADD} and not brokers, "brokers", "Name the brokers: 3, or 7 to 9."),
            (way == REPLACE and len(brokers) != 1, "brokers", "Name the one broker to be replaced."),
            (way == REPLACE and len(by) != 1, "by", "Name the one broker that takes over."),
            (way == FACTOR and given["factor"] is None, "factor", "Give the number of replicas."),
            (
                way == FACTOR and not given["topics"] and not given["partitions"],
                "topics",
                "Name the topics whose replication factor shall change; * names all.",
            ),
        )
        return next(((field, words) for wrong, field, words in needs if wrong), None)

    def _ours(self, way: str, topics: Collection[str] | None) -> Proposal:
        given, state = self.cleaned_data, self.state
        ways: dict[str, Callable[[], Proposal]] = {
            DRAIN: lambda: proposals.drain(state, given["brokers"], topics),
            ADD: lambda: proposals.add(state, given["brokers"], topics),
            REPLACE: lambda: proposals.replace(state, given["brokers"][0], given["by"][0], topics),
            FACTOR: lambda: proposals.resize(state, given["factor"], topics or ()),
            BALANCE: lambda: proposals.balance(state, topics),
        }
        return ways[way]()

    def _kafkas(self, way: str, topics: Collection[str] | None) -> Proposal | None:
        """Kafka's tool places over brokers; it knows no replication factor but the topic's."""
        if way == FACTOR:
            return None
        left = set(self.cleaned_data["brokers"]) if way in {DRAIN, REPLACE} else set()
        brokers = sorted(set(self.state.brokers) - left)
        count = max(len(brokers), 1)

        def draw(topic: str) -> tuple[int, int]:
            lot = zlib.crc32(topic.encode("utf-8", "surrogatepass"))
            return lot % count, lot // count % count

        return proposals.regenerate(self.state, brokers, draw, topics)

    def _narrow(self, way: str) -> None:
        """Only the partitions that were named; what the proposal says against itself goes to the form."""
        proposal = self._proposal
        if proposal.refusals:
            self.add_error(None, " ".join(proposal.refusals))
        self.remarks += proposal.warnings
        wanted = self.cleaned_data["partitions"]
        if wanted and way in _COUNTED:
            moves = tuple(move for move in proposal.moves if (move.topic, move.partition) in set(wanted))
            self._proposal = Proposal(moves)
            if proposal.moves and not moves:
                self.add_error("partitions", "None of these partitions would have to move.")


def _compared(name: str, proposal: Proposal) -> Compared:
    return Compared(name, len(proposal.moves), proposal.replicas_moved, " ".join(proposal.refusals))
