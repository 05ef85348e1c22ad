"""Dry runs that nobody submitted end by themselves: the cluster has changed since they were planned."""

from __future__ import annotations

from datetime import datetime, timedelta

from zkdash.actions import audit, order
from zkdash.actions.actor import Actor
from zkdash.actions.models import Action
from zkdash.actions.queue import notify
from zkdash.actions.states import State

KEPT = timedelta(days=30)
_WHO = Actor("zkdash", source="worker")


def end(cluster: str, now: datetime) -> int:
    """End what was proposed on a cluster more than thirty days ago and not submitted since; how many.

    Each is a change of its own, with its line in the audit.
    """
    old = Action.objects.filter(cluster=cluster, state=State.PLANNED, requested_at__lt=now - KEPT)
    return sum(_end(action_id, cluster, now) for action_id in old.order_by("id").values_list("id", flat=True))


def _end(action_id: int, cluster: str, now: datetime) -> bool:
    """False where somebody has submitted or withdrawn it meanwhile."""
    result = f"Nobody submitted it within {KEPT.days} days; nothing was written."
    still = Action.objects.filter(id=action_id, state=State.PLANNED)
    with order.change() as revision:
        if not still.update(state=State.STOPPED, ended_at=now, result=result, revision=revision):
            return False
        audit.append("expired", _WHO, cluster=cluster, action=action_id)
        notify.tell(Action.objects.get(id=action_id))
    return True
