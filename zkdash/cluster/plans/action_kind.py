"""What is declared of a kind of action, in its module below `kinds`; `registry` finds it there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from zkdash.cluster.plans import intents
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.values import Ground, Needs, Plan

AnIntent = TypeVar("AnIntent", bound=Intent)


def _reads_nothing(_: object) -> Needs:
    return Needs()


def _by_a_click(_: object) -> None:
    return None


def _always(_: Draft) -> str:
    return ""


class ActionKind(msgspec.Struct, Generic[AnIntent], frozen=True):
    """A kind of action. What its steps wait for (`goals`) is written by `plan` into each of them.

    `title` heads its form and its reviews. `plan` makes the plan of an intent; `needs` tells what must be
    read beside the state for it, `confirm` the text that an operator must type (None: a click is enough).
    `why_not` is a sentence where no such action could be carried out now, whatever its form says, "" where
    one might be; it is asked of a cluster that has a controller, unless the kind `needs_controller` not.
    `repeats` is set for what does the same good however often it is done, and names nothing that may be
    another thing by then.
    """

    intent: type[AnIntent]
    title: str
    plan: Callable[[AnIntent, Ground], Plan]
    needs: Callable[[AnIntent], Needs] = _reads_nothing
    confirm: Callable[[AnIntent], str | None] = _by_a_click
    why_not: Callable[[Draft], str] = _always
    needs_controller: bool = True
    repeats: bool = False

    @property
    def tag(self) -> str:
        """As in the intent's JSON, and in addresses."""
        return intents.tag(self.intent)
