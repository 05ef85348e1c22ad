"""Actions that repeat: when one ends, the next is queued for its time and planned anew when that has come.

There is one of a chain at a time, so that times which were missed do not pile up. Stopping it ends the chain,
and so does taking the right to act from who asked for it, or asking for approval on the cluster.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from zkdash.access import rights
from zkdash.access.roles import Right
from zkdash.actions import audit
from zkdash.actions.actor import Actor
from zkdash.actions.models import Action
from zkdash.actions.queue.transitions import QueueError
from zkdash.actions.states import State
from zkdash.cluster.plans import registry
from zkdash.cluster.plans.intents import Intent

SHORTEST_S = 60
LONGEST_S = 366 * 86_400


def require(intent: Intent, cluster: str, repeat_s: int, who: Actor, *, needs_approval: bool) -> None:
    """Raise QueueError with a sentence where an action cannot repeat."""
    kind = registry.of(intent)
    refusal = f"{kind.tag} on {cluster} cannot be repeated"
    if not kind.repeats:
        repeated = " and ".join(tag for tag, each in registry.BY_TAG.items() if each.repeats)
        raise QueueError(f"{refusal}: only {repeated} can; propose it once.")
    if not SHORTEST_S <= repeat_s <= LONGEST_S:
        raise QueueError(f"{refusal} every {repeat_s} s: give {SHORTEST_S} to {LONGEST_S} s.")
    if needs_approval:
        raise QueueError(
            f"{refusal}: each plan on {cluster} must be approved by a second person, "
            "and a repeated action is planned anew each time; propose it once."
        )
    if who.user_id is None:
        raise QueueError(f"{refusal} for {who.name}, who is no user: nobody could take the right from them.")


def follow(action: Action, now: datetime, *, may: bool = True) -> Action | None:
    """Queue what comes after an action that has ended, in the transaction that ends it; `may` is False where
    the cluster takes no repeated ones any more."""
    if action.repeat_s is None or action.state == State.STOPPED or action.stop_wanted:
        return None
    who = Actor(action.by, action.user_id, "repeat")
    if not (may and _may(action)):
        audit.append("repeat-ended", who, cluster=action.cluster, action=action.id)
        return None
    follower = Action.objects.create(
        cluster=action.cluster,
        kind=action.kind,
        target=action.target,
        intent=action.intent,
        state=State.QUEUED,
        reason=action.reason,
        source=who.source,
        user_id=action.user_id,
        by=action.by,
        requested_at=now,
        queued_at=now,
        not_before=due(action, now),
        repeat_s=action.repeat_s,
        before=action,
        revision=action.revision,
    )
    audit.append("queued", who, cluster=action.cluster, action=follower.id, detail={"after": action.id})
    return follower


def due(action: Action, now: datetime) -> datetime:
    """The next time of its raster (its own time, and each `repeat_s` from there) that has not passed."""
    start = action.not_before or action.queued_at or action.requested_at
    every = timedelta(seconds=action.repeat_s or 0)
    return start + every * max(1, math.ceil((now - start) / every))


def _may(action: Action) -> bool:
    user = action.user
    return user is not None and rights.of(user, anonymous_reads=False).may(Right.ACT, action.cluster)
