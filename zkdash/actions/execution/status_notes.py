"""What an action waits for, told while it waits: a sentence in its row, no event of the audit's."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q

from zkdash.actions import documents, order
from zkdash.actions.models import Action
from zkdash.actions.states import OCCUPYING, State


def next_due(cluster: str, now: datetime) -> Action | None:
    """The action that `claims.claim` would begin with, None where there is none or the cluster is busy."""
    here = Action.objects.filter(cluster=cluster)
    if here.filter(state__in=OCCUPYING).exists():
        return None
    due = here.filter(Q(not_before=None) | Q(not_before__lte=now), state=State.QUEUED, pause_wanted=False)
    return due.order_by("queued_at", "id").first()


def say(action: Action, sentence: str) -> None:
    """Let the row of an action that waits or is held say why nothing goes on; "" where it goes on again."""
    note = documents.text(sentence)
    same = Action.objects.filter(
        id=action.id, fence=action.fence, state__in=(State.QUEUED, State.RUNNING, State.VERIFYING)
    ).exclude(result=note)
    if same.exists():
        with order.change() as revision:
            same.update(result=note, revision=revision)
