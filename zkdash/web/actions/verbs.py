"""What can be asked for an action now, as buttons."""

from __future__ import annotations

import msgspec

from zkdash.access.roles import Right, Role
from zkdash.actions.queue.transitions import Verb, can
from zkdash.actions.reading.entries import Detail, Entry
from zkdash.actions.states import State, StepState
from zkdash.live.parts import PageKey
from zkdash.web.frame import links, row_selection


class Button(msgspec.Struct, frozen=True):
    """Something that can be asked for now."""

    verb: str
    label: str
    href: str


def offered(detail: Detail, key: PageKey) -> tuple[tuple[Button, ...], str]:
    """The buttons for what can be asked for now, and where a person settles an unknown step, if it is one."""
    if not row_selection.may_act(key):
        return (), ""
    entry = detail.entry
    rights = Role(key.rights).rights
    choices = [
        (Verb.APPROVE, "Approve", Right.APPROVE in rights),
        (Verb.RESUME, "Resume", True),
        (Verb.PAUSE, "Pause", True),
        (Verb.STOP, "Stop before the next step" if entry.state.is_active else "Withdraw", True),
    ]
    buttons = [
        Button(verb.value, label, href(entry, verb))
        for verb, label, allowed in choices
        if allowed and can(entry, verb)
    ]
    if (
        entry.state.has_ended
        and detail.plan is not None
        and detail.plan.inverse is not None
        and _applied(detail)
    ):
        buttons.append(Button("undo", "Undo: propose the inverse", href(entry, "undo")))
    if entry.state in {State.FAILED, State.REFUSED, State.STOPPED}:
        buttons.append(Button("again", "Propose again from the current state", href(entry, "again")))
    return tuple(buttons), href(entry, Verb.SETTLE) if can(entry, Verb.SETTLE) else ""


def href(entry: Entry, verb: str) -> str:
    """The address at which an action is asked for something."""
    return links.action(entry.cluster, entry.id, f"{verb}/")


def _applied(detail: Detail) -> bool:
    return any(step.state in {StepState.APPLIED, StepState.VERIFIED} for step in detail.steps)
