"""The queue as workers use it: take an action, hold it by a lease, tell what became of each step.

An action is held by (id, owner, fence). `claim` and taking over raise the fence; everything else is an UPDATE
under the condition that it has not moved on, and returns False where it has: who lost an action can change
nothing of it any more. Leases keep work going when a worker dies, and nothing else: two workers with wrong
clocks are kept apart by the fence, by the index of one occupying action a cluster, and in ZooKeeper by
markers and versions. Clocks are the caller's: `now` is aware, UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce

from zkdash.actions import audit, documents, order
from zkdash.actions.actor import Actor
from zkdash.actions.models import Action, Step
from zkdash.actions.queue import notify, queue, repeats
from zkdash.actions.queue.transitions import AFTER
from zkdash.actions.states import ENDED, OCCUPYING, State, StepState
from zkdash.cluster.plans.values import Plan, Write
from zkdash.znode import Operation

_ACTIVE = (State.RUNNING, State.VERIFYING)
_STEP_STATES = {
    State.FAILED: StepState.FAILED,
    State.REFUSED: StepState.REFUSED,
    State.UNKNOWN: StepState.UNKNOWN,
}


class Wanted(msgspec.Struct, frozen=True):
    """What people want of an action that is held."""

    stop: bool
    pause: bool


# Taking and keeping


def claim(clusters: Iterable[str], owner: str, lease_s: float, now: datetime) -> Action | None:
    """Take an action of these clusters: one whose lease ran out, to be resumed where it stands, else the one
    that was queued first and may begin. None where there is none, or another worker was faster.

    One with an empty plan is to be planned first (`replan`). The action's `step` comes next; its row tells
    whether it was intended or applied already.
    """
    names = tuple(clusters)
    if _first(names, now) is None:  # asked before, so that waiting workers write nothing
        return None
    with order.change() as revision:
        action = _first(names, now)
        return action and _take(action, owner, now + timedelta(seconds=lease_s), now, revision)


def renew(action: Action, lease_s: float, now: datetime) -> bool:
    """Hold it for longer. No change that anybody is shown: the revision stays."""
    return bool(_held(action).update(lease_until=now + timedelta(seconds=lease_s)))


def release(action: Action, now: datetime) -> bool:
    """Give it up as it stands; whoever claims next goes on at once."""
    return bool(_held(action).update(owner="", lease_until=now))


def wanted(action: Action) -> Wanted | None:
    """Whether it is to stop or to pause; None where it is no longer held."""
    flags = _held(action).values_list("stop_wanted", "pause_wanted").first()
    return Wanted(*flags) if flags else None


# Telling what was done


def replan(action: Action, plan: Plan) -> bool:
    """Keep the plan of an action that had none: a repeated one whose time has come. Never replaces one."""
    with order.change() as revision:
        kept = documents.encode(plan)
        if not _change(action, revision, Q(plan=b""), plan=kept, target=documents.pack(plan.target)):
            return False
        Step.objects.bulk_create(queue.steps(action, plan), batch_size=500)
        _tell("planned", action)
    action.plan = kept
    return True


def intend(action: Action, number: int, now: datetime) -> bool:
    """Say that step `number` is about to be written; only then may it be.

    False also where a stop or a pause is wanted (`wanted` tells which): it counts before the step then.
    Raises ValueError for a step that was written already.
    """
    free = Q(state=State.RUNNING, stop_wanted=False, pause_wanted=False)
    with order.change() as revision:
        if not _change(action, revision, free, step=number):
            return False
        _step(
            action,
            number,
            (StepState.WAITING, StepState.INTENDED),
            state=StepState.INTENDED,
            intended_at=Coalesce("intended_at", now),
        )
        _tell("intended", action, number)
    return True


def applied(action: Action, number: int, zxid: int | None, writes: Sequence[Write], now: datetime) -> bool:
    """The step's multi was applied by transaction `zxid`; the audit gets a row for each znode of `writes`."""
    with order.change() as revision:
        if not _change(action, revision):
            return False
        _step(action, number, (StepState.INTENDED,), state=StepState.APPLIED, zxid=zxid, applied_at=now)
        _tell("applied", action, number, zxid=zxid)
        audit.extend(
            (
                audit.Entry(
                    "wrote",
                    action.cluster,
                    action.id,
                    number,
                    write.path,
                    write.before,
                    write.after,
                    zxid,
                    {"operation": write.operation.value},
                )
                for write in writes
                if write.operation is not Operation.CHECK
            ),
            _who(action),
        )
    return True


def progress(action: Action, number: int, done: int, total: int, detail: object = None) -> bool:
    """How far the step's goal is, to be shown."""
    with order.change() as revision:
        if not _change(action, revision):
            return False
        kept = b"" if detail is None else documents.encode(detail)
        action.steps.filter(number=number).update(done=done, total=total, detail=kept)
    return True


def verified(action: Action, number: int, now: datetime) -> bool:
    """The step's goal was seen; the next one comes."""
    with order.change() as revision:
        if not _change(action, revision, step=number + 1):
            return False
        _step(action, number, (StepState.APPLIED,), state=StepState.VERIFIED, verified_at=now)
        _tell("verified", action, number)
    return True


def verifying(action: Action) -> bool:
    """Everything is written; what is left is Kafka's, so that nothing can be paused any more."""
    with order.change() as revision:
        if not _change(action, revision, Q(state=State.RUNNING), state=State.VERIFYING, pause_wanted=False):
            return False
        _tell("verifying", action)
    action.state = State.VERIFYING
    return True


def end(
    action: Action,
    state: State,
    sentence: str,
    now: datetime,
    *,
    number: int | None = None,
    again: bool = True,
) -> bool:
    """It has ended so, or waits for a person (`State.UNKNOWN`). `number` is the step that failed, was refused
    or of which nobody can tell. Queues the next of one that repeats, where it is to be done `again`. Raises
    ValueError for a state that cannot follow."""
    allowed = [before for before, after in AFTER.items() if state in after]
    if state not in ENDED and state is not State.UNKNOWN:
        raise ValueError(f"{state} is no end")
    result = documents.text(sentence)
    with order.change() as revision:
        ended_at = now if state in ENDED else None
        if not _change(
            action,
            revision,
            Q(state__in=allowed),
            state=state,
            result=result,
            ended_at=ended_at,
            lease_until=None,
        ):
            if _held(action).exists():
                raise ValueError(f"{state} cannot follow: everything of action {action.id} is written")
            return False
        if number is not None and state in _STEP_STATES:
            action.steps.filter(number=number).update(state=_STEP_STATES[state], sentence=result)
        _tell(
            "ended" if state in ENDED else "unknown",
            action,
            number,
            detail={"state": state, "sentence": result},
        )
        ended = Action.objects.get(id=action.id)
        notify.tell(ended)
        if state in ENDED:
            repeats.follow(ended, now, may=again)
    return True


# Rows


def _first(clusters: tuple[str, ...], now: datetime) -> Action | None:
    """What is to be taken, without its plan, which may be long."""
    here = Action.objects.filter(cluster__in=clusters)
    abandoned = here.filter(state__in=_ACTIVE, lease_until__lte=now)
    busy = Action.objects.filter(state__in=OCCUPYING).values("cluster")
    due = here.filter(Q(not_before=None) | Q(not_before__lte=now), state=State.QUEUED, pause_wanted=False)
    for candidates in (abandoned, due.exclude(cluster__in=busy)):
        sketch = candidates.order_by("queued_at", "id").only("state", "fence", "lease_until").first()
        if sketch is not None:
            return sketch
    return None


def _take(action: Action, owner: str, until: datetime, now: datetime, revision: int) -> Action | None:
    """Take it as it was found, unless its lease was renewed meanwhile. Should two workers ever get this far,
    the index refuses the second action of a cluster."""
    begins = action.state == State.QUEUED
    still = Action.objects.filter(
        id=action.id, state=action.state, fence=action.fence, lease_until=action.lease_until
    )
    if not still.update(
        state=State.RUNNING if begins else action.state,
        fence=F("fence") + 1,
        owner=owner,
        lease_until=until,
        started_at=Coalesce("started_at", now),
        revision=revision,
    ):
        return None
    taken = Action.objects.get(id=action.id)
    _tell("claimed" if begins else "taken-over", taken, detail={"fence": taken.fence})
    return taken


def _held(action: Action) -> QuerySet[Action]:
    return Action.objects.filter(id=action.id, owner=action.owner, fence=action.fence, state__in=_ACTIVE)


def _change(action: Action, revision: int, condition: Q | None = None, **fields: Any) -> bool:
    rows = _held(action) if condition is None else _held(action).filter(condition)
    return bool(rows.update(revision=revision, **fields))


def _step(action: Action, number: int, before: tuple[StepState, ...], **fields: Any) -> None:
    if not action.steps.filter(number=number, state__in=before).update(**fields):
        raise ValueError(f"step {number} of action {action.id} is not {' or '.join(before)}")


def _who(action: Action) -> Actor:
    """On whose behalf a worker works."""
    return Actor(action.by, action.user_id, "worker")


def _tell(
    event: str,
    action: Action,
    number: int | None = None,
    *,
    zxid: int | None = None,
    detail: dict[str, Any] | None = None,
) -> None:
    audit.append(
        event,
        _who(action),
        cluster=action.cluster,
        action=action.id,
        step=number,
        zxid=zxid,
        detail={"owner": action.owner, **(detail or {})},
    )
