"""What can be asked of an action in which state, as one table, and the sentence where it cannot."""

from __future__ import annotations

import enum
from typing import Final, NamedTuple, Protocol

from zkdash.actions.models import Action
from zkdash.actions.states import State


class QueueError(Exception):
    """What was asked for cannot be; one sentence names the action, its state and what can be done."""


class Verb(enum.StrEnum):
    """What a person asks for; also the last part of the URL that asks for it."""

    SUBMIT = "submit"
    APPROVE = "approve"
    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"
    SETTLE = "settle"


class _Rule(NamedTuple):
    participle: str
    states: frozenset[State]


_RULES: Final = {
    Verb.SUBMIT: _Rule("queued", frozenset({State.PLANNED})),
    Verb.APPROVE: _Rule("approved", frozenset({State.PENDING})),
    Verb.STOP: _Rule(
        "stopped",
        frozenset({State.PLANNED, State.PENDING, State.QUEUED, State.RUNNING, State.VERIFYING}),
    ),
    Verb.PAUSE: _Rule("paused", frozenset({State.QUEUED, State.RUNNING})),
    Verb.RESUME: _Rule("resumed", frozenset({State.QUEUED, State.RUNNING})),
    Verb.SETTLE: _Rule("settled", frozenset({State.UNKNOWN})),
}

# What a worker makes of an action that it holds.
AFTER: Final = {
    State.RUNNING: frozenset(
        {State.VERIFYING, State.DONE, State.FAILED, State.REFUSED, State.STOPPED, State.UNKNOWN}
    ),
    State.VERIFYING: frozenset({State.DONE, State.FAILED, State.STOPPED}),
}

_HINTS: Final = {
    State.PLANNED: "it is a dry run so far, and can be queued or withdrawn",
    State.PENDING: "it waits for a second person, and can be approved or withdrawn",
    State.QUEUED: "it waits for its turn, and can be stopped, paused or resumed",
    State.RUNNING: "it is at work, and can be stopped, paused or resumed",
    State.VERIFYING: "everything is written, and only the waiting for Kafka can be stopped",
    State.UNKNOWN: "somebody must first look whether its last step was applied, and settle it",
}
_ENDED: Final = "it has ended; propose a new one from the cluster as it is now"


class Standing(Protocol):
    """How an action stands: its row, or what pages hold of it."""

    @property
    def state(self) -> str: ...

    @property
    def stop_wanted(self) -> bool: ...

    @property
    def pause_wanted(self) -> bool: ...


def can(action: Standing, verb: Verb) -> bool:
    """Whether it can be asked for now, whoever asks. A paused action can be resumed, not paused."""
    state = State(action.state)
    if state not in _RULES[verb].states:
        return False
    if verb in {Verb.PAUSE, Verb.RESUME}:
        return action.pause_wanted == (verb is Verb.RESUME)
    return verb is not Verb.STOP or not action.stop_wanted


def require(action: Action, verb: Verb) -> None:
    """Raise QueueError where the state does not allow it. Asking again for what is so already is allowed."""
    state = State(action.state)
    if state not in _RULES[verb].states:
        raise QueueError(
            f"{name(action)} is {state} and cannot be {_RULES[verb].participle}: {_HINTS.get(state, _ENDED)}."
        )


def name(action: Action) -> str:
    """How a sentence begins: "Action 42 (delete-topic on prod)"."""
    return f"Action {action.id} ({action.kind} on {action.cluster})"
