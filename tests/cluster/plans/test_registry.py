"""What is declared of kinds of actions: each once, whole, with rows in the table of kinds and eras."""

from __future__ import annotations

import typing

import pytest

from tests.cluster.plans import cells, worlds
from zkdash.cluster.plans import intents, registry
from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.kafka import paths


def test_every_intent_is_declared_once() -> None:
    declared = [kind.intent.__name__ for kind in registry.KINDS]
    assert sorted(declared) == sorted(intent.__name__ for intent in typing.get_args(intents.Intent))


def test_every_kind_has_words_of_its_own() -> None:
    titles = [registry.title(kind.tag) for kind in registry.KINDS]
    assert all(titles)
    assert len(set(titles)) == len(titles)
    assert not set(titles) & set(registry.BY_TAG)


def test_a_kind_that_a_later_release_made_is_told_by_its_tag() -> None:
    assert registry.title("split-topic") == "split-topic"


@pytest.mark.parametrize("kind", registry.KINDS, ids=lambda kind: kind.tag)
def test_every_kind_has_a_row_of_which_a_plan_is_made(kind: ActionKind[intents.Intent]) -> None:
    rows = [
        row for row, (asked, _) in cells.ROWS.items() if type(asked(worlds.world("3.9.1"))) is kind.intent
    ]
    plans = [cells.planned(row, "3.9.1")[1] for row in rows]
    assert any(plan.steps for plan in plans)
    assert {plan.kind for plan in plans} == {kind.tag}


@pytest.mark.parametrize("row", cells.ROWS)
def test_what_can_be_planned_is_never_said_to_be_impossible(row: str) -> None:
    tree, plan = cells.planned(row, "3.9.1")
    reason = registry.why_not(plan.kind, tree.state())
    assert plan.refusals or not reason


@pytest.mark.parametrize(
    ("asked", "typed"),
    [
        (intents.DeleteTopic("t"), "t"),
        (intents.DeleteGroup("g"), "g"),
        (intents.DeleteGroup("g", "t"), None),
        (intents.ResetOffsets("g", ()), "g"),
        (intents.ReelectController(), "controller"),
        (intents.ClearStuck(paths.ELECTION), paths.ELECTION),
        (intents.RevertStuck(), "revert"),
        (intents.CleanUpTopic("t"), "t"),
        (intents.CreateTopic("t"), None),
        (intents.ElectPreferred(), None),
    ],
)
def test_what_cannot_be_taken_back_is_to_be_typed(asked: intents.Intent, typed: str | None) -> None:
    assert registry.of(asked).confirm(asked) == typed


@pytest.mark.parametrize("row", cells.ROWS)
def test_a_plan_asks_for_what_its_kind_says_and_a_refused_one_for_nothing(row: str) -> None:
    asked, _ = cells.ROWS[row]
    tree, plan = cells.planned(row, "3.9.1")
    intent = asked(tree)
    assert plan.confirm == (None if plan.refusals else registry.of(intent).confirm(intent))
