"""The queue as people use it: propose, submit, approve, stop, pause, resume, settle.

Each is one transaction: the row, its revision and its line in the audit, or none of them. A plan never
changes once it was proposed, so what is approved and carried out is what was reviewed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.utils import timezone

from zkdash.actions import audit, documents, order
from zkdash.actions.actor import Actor
from zkdash.actions.models import Action, Author, Step
from zkdash.actions.queue import notify, repeats
from zkdash.actions.queue.transitions import QueueError, Verb, name, require
from zkdash.actions.states import State, StepState
from zkdash.cluster.plans import intents
from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.values import Plan

__all__ = [
    "Actor",
    "QueueError",
    "approve",
    "find",
    "pause",
    "propose",
    "resume",
    "settle",
    "steps",
    "stop",
    "submit",
]


def propose(
    cluster: str,
    intent: Intent,
    plan: Plan,
    who: Actor,
    *,
    reason: str = "",
    not_before: datetime | None = None,
    repeat_s: int | None = None,
    needs_approval: bool = False,
    before: Action | None = None,
) -> Action:
    """Keep a plan for review; nothing is carried out before `submit`. `before` is the action that it undoes
    or repeats. Raises QueueError for a plan that was refused, and for what cannot be repeated."""
    kind = intents.kind(intent)
    if plan.refusals or not plan.steps:
        raise QueueError(
            f"{kind} on {cluster} cannot be proposed: {' '.join(plan.refusals) or 'its plan has no steps.'}"
        )
    if repeat_s is not None:
        repeats.require(intent, cluster, repeat_s, who, needs_approval=needs_approval)
    kept = documents.encode(plan)
    with order.change() as revision:
        action = Action.objects.create(
            cluster=cluster,
            kind=kind,
            target=documents.pack(plan.target),
            intent=documents.encode(intent),
            plan=kept,
            state=State.PLANNED,
            reason=documents.text(reason),
            source=who.source,
            user_id=who.user_id,
            by=documents.text(who.name, 200),
            requested_at=timezone.now(),
            needs_approval=needs_approval,
            not_before=not_before,
            repeat_s=repeat_s,
            before=before,
            revision=revision,
        )
        Step.objects.bulk_create(steps(action, plan), batch_size=500)
        _credit(action, who)
        _tell("proposed", action, who, {"kind": kind, "plan": hashlib.sha256(kept).hexdigest()})
    return action


def submit(action_id: int, who: Actor) -> Action:
    """planned -> pending where a second person must approve, else queued. Who submits is who asked for it."""
    with _changing(action_id, Verb.SUBMIT) as action:
        action.user_id, action.by = who.user_id, documents.text(who.name, 200)
        if action.needs_approval:
            action.state = State.PENDING
        else:
            _queue(action)
        _tell("submitted", action, who, {"state": action.state})
    return action


def approve(action_id: int, who: Actor) -> Action:
    """pending -> queued, by somebody else than who asked for it, and than who had a hand in its plan."""
    with _changing(action_id, Verb.APPROVE) as action:
        part = ""
        if _is(who, action.user_id, action.by):
            part = "asked for it"
        elif any(_is(who, author.user_id, author.name) for author in action.authors.all()):
            part = "proposed the plan"
        if part:
            raise QueueError(
                f"{name(action)} is pending and cannot be approved by {who.name}, who {part}: "
                "somebody else must approve it, or it can be withdrawn."
            )
        action.approver_id, action.approved_by = who.user_id, documents.text(who.name, 200)
        action.approved_at = timezone.now()
        _queue(action)
        _tell("approved", action, who, {"plan": hashlib.sha256(bytes(action.plan)).hexdigest()})
    return action


def stop(action_id: int, who: Actor) -> Action:
    """What does not run yet is stopped at once, and its repetition; what runs stops before its next step."""
    with _changing(action_id, Verb.STOP) as action:
        if State(action.state).is_active:
            if not action.stop_wanted:
                action.stop_wanted = True
                _tell("stop-wanted", action, who)
        else:
            action.state, action.ended_at = State.STOPPED, timezone.now()
            action.result = documents.text(f"Withdrawn by {who.name}; nothing was written.")
            _tell("stopped", action, who)
            notify.tell(action)
    return action


def pause(action_id: int, who: Actor) -> Action:
    """Pause an action: a queued one is not begun, a running one begins no further step."""
    return _hold(action_id, who, Verb.PAUSE)


def resume(action_id: int, who: Actor) -> Action:
    """Let a paused action go on."""
    return _hold(action_id, who, Verb.RESUME)


def settle(action_id: int, who: Actor, applied: bool, sentence: str) -> Action:
    """A person has looked whether a step of unknown outcome was applied, and says so.

    Applied: the action goes on behind that write, as soon as a worker takes it: it waits for the goal, then
    come the further steps. Not applied: it has failed; the step is never written again.
    """
    now = timezone.now()
    with _changing(action_id, Verb.SETTLE) as action:
        step = action.steps.filter(number=action.step)
        note = documents.text(f"{who.name}: {sentence}")
        action.owner = ""
        if applied:
            step.update(state=StepState.APPLIED, applied_at=now, sentence=note)
            action.state, action.lease_until, action.ended_at, action.result = State.RUNNING, now, None, ""
        else:
            step.update(state=StepState.FAILED, sentence=note)
            action.state, action.ended_at, action.result = State.FAILED, now, note
            notify.tell(action)
            repeats.follow(action, now)
        _tell("settled", action, who, {"applied": applied, "sentence": sentence, "step": action.step})
    return action


def steps(action: Action, plan: Plan) -> list[Step]:
    """The rows of a plan's steps, not saved."""
    return [
        Step(action=action, number=number, title=documents.text(step.title))
        for number, step in enumerate(plan.steps)
    ]


def find(action_id: int, *, locks: bool = False) -> Action:
    """The action; locked until the end of the transaction, also against a lease being renewed. Raises
    QueueError."""
    rows = Action.objects.select_for_update() if locks else Action.objects.all()
    action = rows.filter(id=action_id).first() if 0 < action_id < 1 << 63 else None
    if action is None:
        raise QueueError(f"There is no action {action_id}: it was never proposed here.")
    return action


def _hold(action_id: int, who: Actor, verb: Verb) -> Action:
    wanted = verb is Verb.PAUSE
    with _changing(action_id, verb) as action:
        if action.pause_wanted != wanted:
            action.pause_wanted = wanted
            _tell("paused" if wanted else "resumed", action, who)
    return action


@contextmanager
def _changing(action_id: int, verb: Verb) -> Iterator[Action]:
    """The action as it is, nobody else's until it is saved at the end of the block."""
    with order.change() as revision:
        action = find(action_id, locks=True)
        require(action, verb)
        yield action
        action.revision = revision
        action.save()


def _credit(action: Action, who: Actor) -> None:
    """Who had a hand in the plan: who proposes it, and who had in the one that is proposed again by it."""
    authors = [Author(action=action, user_id=who.user_id, name=documents.text(who.name, 200))]
    before = action.before
    if before is not None and bytes(before.intent) == bytes(action.intent):
        earlier = [
            (author.user_id, author.name)
            for author in before.authors.all()
            if not _is(who, author.user_id, author.name)
        ]
        authors += (Author(action=action, user_id=user_id, name=of) for user_id, of in earlier)
    Author.objects.bulk_create(authors)


def _is(who: Actor, user_id: int | None, name: str) -> bool:
    """Whether it is the same person: by the user, who may have been renamed, or by the name."""
    return who.name == name or (who.user_id is not None and who.user_id == user_id)


def _queue(action: Action) -> None:
    action.state, action.queued_at = State.QUEUED, timezone.now()


def _tell(event: str, action: Action, who: Actor, detail: object = None) -> None:
    audit.append(event, who, cluster=action.cluster, action=action.id, detail=detail)
