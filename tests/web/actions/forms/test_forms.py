"""Each form: what is typed becomes the right intent, or one sentence beside the field at fault."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.forms import ChoiceField

from tests.narrowing import sure
from tests.web import states
from tests.web.states import Tree, znode
from zkdash.broker import offsets_at
from zkdash.broker.offsets_at import Absent, At, Reason
from zkdash.cluster import checks
from zkdash.cluster.plans import intents, registry
from zkdash.cluster.plans.intents import (
    AddPartitions,
    ChangeConfig,
    CleanUpTopic,
    ClearConfigs,
    ClearStuck,
    ClearThrottles,
    CreateTopic,
    DeleteGroup,
    DeleteTopic,
    ElectPreferred,
    OffsetAt,
    Reassign,
    ReelectController,
    ResetOffsets,
    RevertStuck,
)
from zkdash.kafka.values import Move
from zkdash.web.actions import forms
from zkdash.web.actions.forms.base import ActionForm

ROOT = Path(__file__).parents[4]


def tree() -> Tree:
    """Four brokers, the fourth empty; a group with offsets; a topic being deleted; a lone configuration."""
    return {
        **states.healthy(),
        **states.brokers(4),
        **states.topic("gone-soon", {0: [1]}),
        "/admin/delete_topics/gone-soon": znode(),
        "/config/topics/long-gone": znode({"version": 1, "config": {}}),
        **states.group("billing", {}, offsets={"orders": {0: 100, 1: 200}, "clicks": {0: 5}}),
    }


def made(kind: str, data: Mapping[str, Any], **options: Any) -> ActionForm:
    return forms.BY_KIND[kind](states.snapshot(tree()), {}, data, **options)


def intent(kind: str, data: Mapping[str, Any], **options: Any) -> intents.Intent:
    form = made(kind, data, **options)
    assert form.is_valid(), form.errors
    (found,) = form.intents()
    return found


def faults(kind: str, data: Mapping[str, Any], **options: Any) -> dict[str, list[str]]:
    form = made(kind, data, **options)
    assert not form.is_valid()
    return {name: [str(sentence) for sentence in sentences] for name, sentences in form.errors.items()}


PLAN = '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[3,2,1]}]}'
FILE = "/consumers/billing/offsets/orders/0:7\n"

PROPOSED: list[tuple[str, dict[str, Any], intents.Intent]] = [
    (
        "reassign",
        {"way": "lists", "moves": "orders-0: 3, 2, 1\norders-1:[1 2]"},
        Reassign((Move("orders", 0, (3, 2, 1)), Move("orders", 1, (1, 2)))),
    ),
    (
        "reassign",
        {"way": "lists", "moves": "orders-0:1", "throttle": "50 MB/s", "concurrent": "3", "supersede": "on"},
        Reassign((Move("orders", 0, (1,)),), 3, 50_000_000, True),
    ),
    ("reassign", {"way": "paste", "plan": PLAN}, Reassign((Move("orders", 0, (3, 2, 1)),))),
    (
        "reassign",
        {"way": "replace", "brokers": "3", "by": "4", "topics": "clicks"},
        Reassign((Move("clicks", 0, (4, 1)),)),
    ),
    (
        "reassign",
        {"way": "replace", "brokers": "3", "by": "4", "partitions": "orders-2"},
        Reassign((Move("orders", 2, (4, 1, 2)),)),
    ),
    ("elect-preferred", {"which": "all"}, ElectPreferred()),
    ("elect-preferred", {"which": "chosen", "topics": "pay*"}, ElectPreferred(("payments",))),
    (
        "elect-preferred",
        {"which": "chosen", "topics": "orders", "partitions": "payments-1\norders-0"},
        ElectPreferred(("orders",), (("payments", 1),)),
    ),
    (
        "create-topic",
        {"topic": "new", "partitions": "6", "replication": "2", "config": "retention.ms = 1000"},
        CreateTopic("new", 6, 2, {"retention.ms": "1000"}),
    ),
    (
        "create-topic",
        {"topic": "new", "assignment": "0: 1,2\n1: 2,3"},
        CreateTopic("new", assignment={0: (1, 2), 1: (2, 3)}),
    ),
    ("add-partitions", {"topic": "orders", "total": "5"}, AddPartitions("orders", 5)),
    (
        "add-partitions",
        {"topic": "orders", "total": "4", "assignment": "3: 1,2,3"},
        AddPartitions("orders", 4, {3: (1, 2, 3)}),
    ),
    (
        "change-config",
        {"topics": "orders", "put": "cleanup.policy=compact", "drop": ["retention.ms"]},
        ChangeConfig("orders", {"cleanup.policy": "compact"}, ("retention.ms",)),
    ),
    ("delete-topic", {"topics": " orders "}, DeleteTopic("orders")),
    ("delete-group", {"groups": "billing"}, DeleteGroup("billing")),
    ("delete-group", {"groups": "billing", "topic": "clicks"}, DeleteGroup("billing", "clicks")),
    (
        "reset-offsets",
        {"groups": "billing", "way": "value", "value": "42", "topics": "orders"},
        ResetOffsets("billing", tuple(OffsetAt("orders", part, 42) for part in "012")),
    ),
    (
        "reset-offsets",
        {"groups": "new", "way": "value", "value": "0", "partitions": "clicks-0"},
        ResetOffsets("new", (OffsetAt("clicks", "0", 0),)),
    ),
    (
        "reset-offsets",
        {"groups": "billing", "way": "shift", "shift": "-150"},
        ResetOffsets(
            "billing", (OffsetAt("clicks", "0", 0), OffsetAt("orders", "0", 0), OffsetAt("orders", "1", 50))
        ),
    ),
    (
        "reset-offsets",
        {"groups": "billing", "way": "shift", "shift": "1", "partitions": "orders-1"},
        ResetOffsets("billing", (OffsetAt("orders", "1", 201),)),
    ),
    (
        "reset-offsets",
        {"groups": "billing", "way": "file", "file": FILE},
        ResetOffsets("billing", (OffsetAt("orders", "0", 7),)),
    ),
    ("reelect-controller", {}, ReelectController()),
    ("clear-throttles", {}, ClearThrottles()),
    ("clear-configs", {}, ClearConfigs()),
    ("clear-configs", {"topics": "long*"}, ClearConfigs(("long-gone",))),
    ("clear-stuck", {"path": ["/admin/reassign_partitions"]}, ClearStuck("/admin/reassign_partitions")),
    ("revert-stuck", {"originals": "orders-0: 1,2"}, RevertStuck((Move("orders", 0, (1, 2)),))),
    (
        "clean-up-topic",
        {"topic": "gone-soon", "folders_removed": "on"},
        CleanUpTopic("gone-soon", folders_removed=True),
    ),
]


@pytest.mark.parametrize(("kind", "data", "expected"), PROPOSED)
def test_what_is_typed_becomes_the_intent(
    kind: str, data: Mapping[str, Any], expected: intents.Intent
) -> None:
    assert intent(kind, data) == expected


def test_where_a_group_shall_go_on_is_never_chosen_beforehand() -> None:
    form = forms.BY_KIND["reset-offsets"](states.snapshot(tree()), {"group": ["billing"]})
    assert "checked" not in str(form["way"])
    named = forms.BY_KIND["reset-offsets"](states.snapshot(tree()), {"group": ["billing"], "to": ["latest"]})
    assert str(named["way"]).count("checked") == 1


@pytest.mark.parametrize(("brokers", "replicas"), [((1, 2, 3, 4), 3), ((1, 2), 2)])
def test_a_new_topic_is_offered_three_replicas_where_there_are_so_many_brokers(
    brokers: tuple[int, ...], replicas: int
) -> None:
    shown = {path: node for path, node in tree().items() if not path.startswith("/brokers/ids/")}
    snapshot = states.snapshot(shown | states.brokers(*brokers))
    made = forms.BY_KIND["create-topic"](snapshot, {})
    assert made["replication"].value() == replicas
    given = forms.BY_KIND["create-topic"](snapshot, {"replication": ["1"]})
    assert given["replication"].value() == "1"


def test_every_kind_has_one_form_and_a_case_that_makes_its_intent() -> None:
    listed = sorted(form.kind for _, below in forms.LISTED for form in below)
    assert listed == sorted(registry.BY_TAG)
    assert {(kind, type(intent)) for kind, _, intent in PROPOSED} == {
        (kind.tag, kind.intent) for kind in registry.KINDS
    }


def test_each_form_has_its_own_place_in_the_list_and_its_words() -> None:
    found = list(forms.BY_KIND.values())
    assert len({(form.heading, form.rank) for form in found}) == len(found)
    assert len({form.title() for form in found}) == len({form.lead for form in found}) == len(found)


def test_what_kafka_does_about_a_write_is_said_by_one_form_alone() -> None:
    said = [written for form in forms.BY_KIND.values() for written in form.follows]
    assert sorted(said, key=str) == sorted(forms.FOLLOWS, key=str)
    assert len(said) == len(set(said))


def test_the_fields_of_each_way_are_hidden_by_a_rule_where_another_is_chosen() -> None:
    styles = (ROOT / "static" / "style" / "forms.css").read_text()
    ways = {way for form in forms.BY_KIND.values() for listed in form.ways.values() for way in listed.split()}
    assert ways
    for way in ways:
        assert f'.ask:has([value="{way}"]:checked) .way:not(.{way})' in styles


def test_what_checks_offer_has_a_form() -> None:
    offered = {kind for check in checks.CHECKS for kind in check.deeds}
    assert offered
    assert offered <= set(forms.BY_KIND)


REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("reassign", {"way": "drain"}, "brokers", "Name the brokers: 3, or 7 to 9."),
    (
        "reassign",
        {"way": "drain", "brokers": "x"},
        "brokers",
        '"x" is not a broker: write ids as 3, or 7 to 9.',
    ),
    ("reassign", {"way": "drain", "brokers": "9-7"}, "brokers", "the smaller id comes first."),
    ("reassign", {"way": "replace", "brokers": "1 2", "by": "4"}, "brokers", "Name the one broker"),
    ("reassign", {"way": "replace", "brokers": "1"}, "by", "Name the one broker that takes over."),
    ("reassign", {"way": "factor", "topics": "*"}, "factor", "Give the number of replicas."),
    ("reassign", {"way": "factor", "factor": "2"}, "topics", "* names all."),
    ("reassign", {"way": "factor", "factor": "9", "topics": "*"}, "__all__", "9 replicas do not fit 4"),
    (
        "reassign",
        {"way": "factor", "factor": "2", "topics": "orders", "generator": "kafka"},
        "generator",
        "Kafka’s own tool changes no replication factor.",
    ),
    ("reassign", {"way": "add", "brokers": "9"}, "__all__", "Broker 9 is not registered."),
    ("reassign", {"way": "balance", "topics": "ordres"}, "topics", 'There is no topic "ordres".'),
    ("reassign", {"way": "balance", "topics": "x*"}, "topics", 'No topic matches "x*".'),
    ("reassign", {"way": "balance", "throttle": "fast"}, "throttle", '"fast" is not a rate'),
    ("reassign", {"way": "lists"}, "moves", "Name the replicas of at least one partition"),
    ("reassign", {"way": "lists", "moves": "orders: 1"}, "moves", '"orders: 1" is no move'),
    ("reassign", {"way": "lists", "moves": "orders-0: 1\norders-0: 2"}, "moves", "orders-0 is named twice."),
    ("reassign", {"way": "paste"}, "plan", "Paste a plan, or choose its file."),
    ("reassign", {"way": "paste", "plan": "{"}, "plan", "The plan cannot be read: it is not JSON."),
    (
        "reassign",
        {"way": "paste", "plan": PLAN.replace("[3,2,1]", '[3],"log_dirs":["/data"]')},
        "plan",
        '"log_dirs" names folders',
    ),
    ("reassign", {"way": "paste", "plan": PLAN.replace("[3,2,1]", '["3"]')}, "plan", "broker ids"),
    ("reassign", {"way": "sideways"}, "way", "sideways is not one of the available choices."),
    ("elect-preferred", {"which": "chosen"}, "topics", "Name the topics or partitions"),
    ("elect-preferred", {"which": "all", "topics": "orders"}, "which", "are named below"),
    ("elect-preferred", {"which": "chosen", "partitions": "orders-9"}, "partitions", "has no partition 9."),
    ("elect-preferred", {"which": "chosen", "partitions": "9"}, "partitions", "write <topic>-<number>."),
    ("create-topic", {"topic": "a b"}, "topic", "A topic's name is 1 to 249"),
    ("create-topic", {}, "topic", "This field is required."),
    ("create-topic", {"topic": "n", "partitions": "0"}, "partitions", "greater than or equal to 1"),
    ("create-topic", {"topic": "n", "config": "retention"}, "config", "write name=value."),
    (
        "create-topic",
        {"topic": "n", "config": "retention.ms=soon"},
        "config",
        "is not a value that retention.ms",
    ),
    ("create-topic", {"topic": "n", "config": "colour=red"}, "config", "is not an option of a topic"),
    ("create-topic", {"topic": "n", "assignment": "0 1 2"}, "assignment", "write 0: 1, 2, 3."),
    ("create-topic", {"topic": "n", "assignment": "0:1\n0:2"}, "assignment", "Partition 0 is named twice."),
    ("add-partitions", {"topic": "orders"}, "total", "This field is required."),
    ("add-partitions", {"topic": "ordres", "total": "4"}, "topic", 'There is no topic "ordres".'),
    ("change-config", {"topics": "orders"}, "put", "Name what to set (name=value)"),
    ("change-config", {"topics": "orders", "drop": ["preallocate"]}, "drop", "not one of the available"),
    (
        "change-config",
        {"topics": "orders", "put": "retention.ms=1", "drop": ["retention.ms"]},
        "drop",
        "retention.ms is both set and removed.",
    ),
    ("delete-topic", {"topics": "ordres"}, "topics", 'There is no topic "ordres".'),
    ("delete-group", {"groups": "biling"}, "groups", 'There is no group "biling". Only groups that are in'),
    ("delete-group", {}, "groups", "This field is required."),
    ("delete-group", {"groups": "billing", "topic": "payments"}, "topic", 'keeps nothing about "payments"'),
    ("reset-offsets", {"groups": "billing"}, "way", "This field is required."),
    ("reset-offsets", {"groups": "billing", "way": "value"}, "value", "Give the offset."),
    (
        "reset-offsets",
        {"groups": "billing", "way": "shift"},
        "shift",
        "Give the number of messages, as -1000.",
    ),
    ("reset-offsets", {"groups": "billing", "way": "time"}, "moment", "Give the time, in UTC."),
    (
        "reset-offsets",
        {"groups": "billing", "way": "time", "moment": "noon"},
        "moment",
        '"noon" is not a moment',
    ),
    ("reset-offsets", {"groups": "new", "way": "value", "value": "1"}, "topics", "name others."),
    ("reset-offsets", {"groups": "billing", "way": "file", "file": "x"}, "file", "Line 1 is not /consumers/"),
    ("reset-offsets", {"groups": "other", "way": "file", "file": FILE}, "file", 'another group, "billing"'),
    ("reset-offsets", {"groups": "billing", "way": "file"}, "file", 'No offset of "billing" is in the file.'),
    ("reset-offsets", {"groups": "billing", "way": "latest"}, "way", "they are not asked on this cluster"),
    ("clear-configs", {"topics": "orders"}, "topics", "There is no absent topic with a configuration"),
    ("clear-stuck", {"path": ["/controller"]}, "path", "is not one of the available choices."),
    ("revert-stuck", {"originals": "orders-0"}, "originals", "is no move"),
    (
        "clean-up-topic",
        {"topic": "gone-soon"},
        "folders_removed",
        "Remove the folders first, and say so here.",
    ),
    ("clean-up-topic", {"topic": "orders", "folders_removed": "on"}, "topic", "is not marked for deletion"),
    ("clear-throttles", {"not_before": "soon"}, "not_before", '"soon" is not a moment'),
    ("clear-throttles", {"repeat": "7"}, "repeat", "is not one of the available choices."),
]


@pytest.mark.parametrize(("kind", "data", "field", "sentence"), REFUSED)
def test_what_cannot_be_is_said_beside_its_field(
    kind: str, data: Mapping[str, Any], field: str, sentence: str
) -> None:
    found = faults(kind, data)
    assert list(found) == [field]
    assert len(found[field]) == 1
    assert sentence in found[field][0]


# Reassignments that are computed


def test_a_drained_broker_holds_nothing_afterwards() -> None:
    found = intent("reassign", {"way": "drain", "brokers": "3"})
    assert isinstance(found, Reassign)
    assert found.moves
    assert all(3 not in move.replicas for move in found.moves)


def test_both_placements_are_counted_and_either_can_be_chosen() -> None:
    ours = made("reassign", {"way": "drain", "brokers": "3"})
    kafkas = made("reassign", {"way": "drain", "brokers": "3", "generator": "kafka"})
    assert ours.is_valid()
    assert kafkas.is_valid()
    fewest, theirs = ours.facts()["compared"]
    assert kafkas.facts()["compared"] == (fewest, theirs)
    assert 0 < fewest.replicas <= theirs.replicas
    moves, others = (sure(Reassign, one.intents()[0]).moves for one in (ours, kafkas))
    assert (len(moves), len(others)) == (
        fewest.partitions,
        theirs.partitions,
    )


def test_a_plan_may_come_as_a_file() -> None:
    form = made("reassign", {"way": "paste"}, files={"upload": SimpleUploadedFile("p.json", PLAN.encode())})
    assert form.is_valid()
    assert form.intents() == (Reassign((Move("orders", 0, (3, 2, 1)),)),)


def test_a_plan_that_is_too_large_is_refused() -> None:
    huge = SimpleUploadedFile("p.json", PLAN.encode() + b" " * 5_000_001)
    assert "5000000 are the most" in faults("reassign", {"way": "paste"}, files={"upload": huge})["plan"][0]


# Offsets that brokers tell


def _asking(answers: Mapping[int, Any], asked: list[int]) -> Any:
    """What `offsets_at.ask` answers of every partition, by what it is asked for."""

    def ask(brokers: Any, leaders: Any, partitions: Any, at: int) -> Any:
        assert all(leaders(topic)[number] in brokers for topic, number in partitions)
        asked.append(at)
        return dict.fromkeys(partitions, answers[at])

    return ask


@pytest.mark.parametrize(("way", "at"), [("earliest", offsets_at.EARLIEST), ("latest", offsets_at.LATEST)])
def test_the_ends_of_the_logs_are_asked_for(way: str, at: int) -> None:
    asked: list[int] = []
    data = {"groups": "billing", "way": way, "topics": "clicks"}
    assert intent("reset-offsets", data, ask=_asking({at: At(9)}, asked)) == ResetOffsets(
        "billing", (OffsetAt("clicks", "0", 9),)
    )
    assert asked == [at]


def test_a_time_behind_the_last_message_is_the_end_of_the_log() -> None:
    moment = 1_795_257_000_000
    answers = {moment: Absent("no message is as late", offsets_at.LATEST), offsets_at.LATEST: At(77)}
    data = {"groups": "billing", "way": "time", "moment": "2026-11-21T10:30", "topics": "clicks"}
    form = made("reset-offsets", data, ask=_asking(answers, []))
    assert form.is_valid()
    assert form.intents() == (ResetOffsets("billing", (OffsetAt("clicks", "0", 77),)),)
    assert form.remarks == ["Of 1 partitions the nearest end is taken: no message is as late."]


def test_a_time_that_is_known_roughly_is_told_so() -> None:
    answers = {1_795_257_000_000: At(70, is_exact=False)}
    data = {"groups": "billing", "way": "time", "moment": "2026-11-21 10:30 UTC", "topics": "clicks"}
    form = made("reset-offsets", data, ask=_asking(answers, []))
    assert form.is_valid()
    assert "only the time of whole segments is known" in form.remarks[0]


def test_what_no_broker_tells_is_no_offset() -> None:
    answers = {offsets_at.EARLIEST: Reason("no leader")}
    found = faults("reset-offsets", {"groups": "billing", "way": "earliest"}, ask=_asking(answers, []))
    assert "clicks-0: no leader." in found["way"][0]


# Several at once


def test_each_topic_or_group_becomes_an_action_of_its_own() -> None:
    assert made("delete-topic", {"topics": "orders\nclicks"}).errors == {}
    form = made("delete-topic", {"topics": "orders, clicks"})
    assert form.is_valid()
    assert form.intents() == (DeleteTopic("clicks"), DeleteTopic("orders"))
    form = made("reset-offsets", {"groups": "billing new", "way": "value", "value": "3", "topics": "clicks"})
    assert form.is_valid()
    at = (OffsetAt("clicks", "0", 3),)
    assert form.intents() == (ResetOffsets("billing", at), ResetOffsets("new", at))


def test_topics_that_are_configured_so_already_are_left_out_of_several() -> None:
    form = made("change-config", {"topics": "*", "drop": ["retention.ms"]})
    assert form.is_valid()
    assert form.intents() == (ChangeConfig("orders", {}, ("retention.ms",)),)
    assert form.remarks == ["3 topics are configured so already: left out."]
    alone = made("change-config", {"topics": "orders", "put": "retention.ms=1000"})
    assert alone.is_valid()
    assert alone.intents() == (ChangeConfig("orders", {"retention.ms": "1000"}),)


def test_more_than_fifty_at_once_are_refused() -> None:
    state = {
        **tree(),
        **{path: value for n in range(60) for path, value in states.topic(f"t-{n}", {0: [1]}).items()},
    }
    form = forms.BY_KIND["delete-topic"](states.snapshot(state), {}, {"topics": "t-*"})
    assert form.errors == {"topics": ["These are 60 topics; 50 at a time are the most."]}


# Filled by an address

FILLED: list[tuple[str, dict[str, list[str]], dict[str, Any]]] = [
    ("reassign", {"broker": ["3", "4"]}, {"way": "drain", "brokers": "3, 4"}),
    ("reassign", {"broker": ["3"], "way": ["replace"], "with": ["4"]}, {"way": "replace", "by": "4"}),
    ("reassign", {"topic": ["orders", "clicks"]}, {"way": "balance", "topics": "orders\nclicks"}),
    ("reassign", {"partition": ["orders-0"]}, {"way": "lists", "moves": "orders-0: 1, 2, 3"}),
    ("reassign", {"plan": [PLAN]}, {"way": "paste", "plan": PLAN}),
    ("elect-preferred", {"partition": ["orders-0"]}, {"which": "chosen", "partitions": "orders-0"}),
    ("elect-preferred", {}, {}),
    ("create-topic", {"topic": ["new"], "partitions": ["3"]}, {"topic": "new", "partitions": "3"}),
    ("add-partitions", {"topic": ["orders"], "total": ["9"]}, {"topic": "orders", "total": "9"}),
    ("change-config", {"topic": ["orders"], "drop": ["retention.ms"]}, {"drop": ["retention.ms"]}),
    ("delete-topic", {"topic": ["orders", "clicks"]}, {"topics": "orders\nclicks"}),
    ("delete-group", {"group": ["billing"], "topic": ["orders"]}, {"groups": "billing", "topic": "orders"}),
    ("reset-offsets", {"groups": ["billing"], "to": ["latest"]}, {"groups": "billing", "way": "latest"}),
    ("clear-configs", {"topic": ["long-gone"]}, {"topics": "long-gone"}),
    ("clean-up-topic", {"topic": ["gone-soon"]}, {"topic": "gone-soon"}),
]


@pytest.mark.parametrize(("kind", "given", "initial"), FILLED)
def test_an_address_fills_the_form(
    kind: str, given: dict[str, list[str]], initial: Mapping[str, Any]
) -> None:
    form = forms.BY_KIND[kind](states.snapshot(tree()), given)
    assert form.notes == []
    assert {name: form[name].value() for name in initial} == initial


def test_a_parameter_that_makes_no_sense_is_named_and_shown() -> None:
    given = {"topic": ["ordres", "orders"], "colour": ["red"], "way": ["up"], "concurrent": ["1", "2"]}
    form = forms.BY_KIND["reassign"](states.snapshot(tree()), given)
    choice = "Select a valid choice. up is not one of the available choices."
    assert form.notes == [
        "“colour” is not a parameter of this form.",
        'Topics: “ordres\norders” was given. There is no topic "ordres".',
        f"What to do with the replicas: “up” was given. {choice}",
        "Partitions that move at once takes one value: “1” is taken.",
    ]
    assert form["topics"].value() == "ordres\norders"


def test_a_form_says_how_many_topics_match() -> None:
    form = forms.BY_KIND["elect-preferred"](states.snapshot(tree()), {"topic": ["*o*"]})
    assert "2 of 4 topics match now." in form["topics"].help_text


def test_the_present_values_stand_beside_what_changes_them() -> None:
    snapshot = states.snapshot(tree())
    config = forms.BY_KIND["change-config"](snapshot, {"topic": ["orders"]})
    drop = sure(ChoiceField, config.fields["drop"])
    assert drop.choices == [("retention.ms", "retention.ms = 1000 (1 s)")]
    group = forms.BY_KIND["reset-offsets"](snapshot, {"group": ["billing"]})
    assert "/consumers/billing/offsets/orders/0:100\n" in group.facts()["exported"]
    folders = forms.BY_KIND["clean-up-topic"](snapshot, {"topic": ["gone-soon"]}).facts()["folders"]
    assert folders == [(1, ["gone-soon-0"], 1)]
    kept = forms.BY_KIND["clean-up-topic"](snapshot, {"topic": ["orders"]}).facts()
    assert kept == {"folders": [], "marked": [("gone-soon", "topic=gone-soon")], "named": ""}
    deleted = forms.BY_KIND["delete-topic"](snapshot, {"topic": ["orders"]})
    assert deleted.facts()["told"][0] == ("Partitions whose messages are lost", "3")
    assert deleted.facts()["told"][1] == ("Groups that know them", "billing")
