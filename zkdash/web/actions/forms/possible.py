"""Which kinds of actions a cluster takes, told before anybody fills a form: a sentence why not, or none."""

from __future__ import annotations

from typing import Final

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.intents import ReelectController
from zkdash.cluster.plans.values import Ground
from zkdash.kafka import paths

# What zkdash writes by itself, without a controller that acts on it.
_ALONE: Final = frozenset({"delete-group", "reset-offsets"})


def why_not(kind: str, state: ClusterState) -> str:
    """Why no action of a kind could be carried out now, whatever its form says; "" where one might be."""
    draft = Draft(ReelectController(), Ground(state), "")
    if kind in _ALONE:
        draft.require_loaded()
    elif draft.require_controller():
        draft.refusals += filter(None, [_special(kind, draft)])
    return draft.refusals[0] if draft.refusals else ""


def _special(kind: str, draft: Draft) -> str:
    state, era = draft.state, draft.era
    marks = any(name not in state.topics for name in state.deletions)
    neither = state.reassignment is None and state.election is None and not marks
    cases: tuple[tuple[str, bool, str], ...] = (
        (
            "change-config",
            era.topics is None,
            f"No notification is understood by all brokers: {era.unclear}.",
        ),
        (
            "reassign",
            state.reassignment is not None,
            f"Another reassignment runs ({paths.REASSIGNMENT} is there): a second would be ignored or lost.",
        ),
        (
            "elect-preferred",
            state.election is not None,
            f"An election was asked for and is not done yet ({paths.ELECTION} is there).",
        ),
        ("clear-configs", not state.remnants, "No absent topic has a configuration."),
        (
            "clear-stuck",
            neither,
            f"Neither {paths.REASSIGNMENT} nor {paths.ELECTION} is there, nor the mark of an absent topic.",
        ),
        (
            "revert-stuck",
            state.reassignment is None,
            f"{paths.REASSIGNMENT} is absent: no move is stuck in it.",
        ),
        ("clean-up-topic", not state.deletions, "No topic is marked for deletion."),
    )
    return next((sentence for of, holds, sentence in cases if of == kind and holds), "")
