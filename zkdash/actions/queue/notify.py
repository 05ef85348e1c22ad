"""Tells others what became of an action: in the transaction of its end, whoever ended it."""

from __future__ import annotations

from zkdash.actions import documents
from zkdash.actions.models import Action
from zkdash.notices import outbox
from zkdash.notices.outbox import Notice

EVENT = "action-ended"


def tell(action: Action) -> None:
    """Enqueue what became of an action that has ended, or that waits for a person to settle it."""
    target = documents.unpack(bytes(action.target))
    facts = {
        "id": action.pk,
        "kind": action.kind,
        "target": target,
        "state": str(action.state),
        "by": action.by,
        "result": action.result,
        "started_at": action.started_at and action.started_at.isoformat(),
        "ended_at": action.ended_at and action.ended_at.isoformat(),
    }
    sentence = f"Action {action.pk} ({action.kind} of {target}) is {action.state}: {action.result}"
    page = f"actions/{action.pk}/"
    outbox.enqueue(Notice(EVENT, action.cluster, about(action.pk), sentence, facts, page))


def about(number: int) -> str:
    """What deliveries say that they tell of."""
    return f"action {number}"
