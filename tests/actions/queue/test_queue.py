"""The queue's transitions: what may be asked for in which state, by whom, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from tests.actions.small import (
    ANN,
    BEN,
    CARL,
    ELECT,
    INTENT,
    NOW,
    SECOND,
    claimed,
    now,
    plan,
    proposed,
    queued,
)
from tests.databases import Database
from tests.narrowing import known
from zkdash.actions import audit, documents
from zkdash.actions.execution import leasing
from zkdash.actions.models import Action, Audit
from zkdash.actions.queue import queue, transitions
from zkdash.actions.queue.queue import Actor, QueueError
from zkdash.actions.queue.transitions import Verb
from zkdash.actions.states import ENDED, State, StepState
from zkdash.cluster.plans.values import Plan


def in_state(state: State) -> Action:
    """A new action that came there by itself; on a cluster of its own."""
    cluster = f"c{Action.objects.count()}"
    if state is State.PLANNED:
        return proposed(cluster)
    if state is State.PENDING:
        return queue.submit(proposed(cluster, needs_approval=True).id, ANN)
    if state is State.QUEUED:
        return queued(cluster)
    held = claimed(cluster=cluster)
    if state is State.VERIFYING:
        assert leasing.verifying(held)
    elif state is not State.RUNNING:
        if state is State.UNKNOWN:
            assert leasing.intend(held, 0, NOW)
        assert leasing.end(held, state, "so it went", NOW, number=0)
    return now(held)


VERBS: dict[Verb, Callable[[int], Action]] = {
    Verb.SUBMIT: lambda action_id: queue.submit(action_id, ANN),
    Verb.APPROVE: lambda action_id: queue.approve(action_id, BEN),
    Verb.STOP: lambda action_id: queue.stop(action_id, ANN),
    Verb.PAUSE: lambda action_id: queue.pause(action_id, ANN),
    Verb.RESUME: lambda action_id: queue.resume(action_id, ANN),
    Verb.SETTLE: lambda action_id: queue.settle(action_id, ANN, False, "it is not there"),
}

# Where each verb leads; what is not here is refused.
LEGAL = {
    (State.PLANNED, Verb.SUBMIT): State.QUEUED,
    (State.PENDING, Verb.APPROVE): State.QUEUED,
    (State.PLANNED, Verb.STOP): State.STOPPED,
    (State.PENDING, Verb.STOP): State.STOPPED,
    (State.QUEUED, Verb.STOP): State.STOPPED,
    (State.RUNNING, Verb.STOP): State.RUNNING,
    (State.VERIFYING, Verb.STOP): State.VERIFYING,
    (State.QUEUED, Verb.PAUSE): State.QUEUED,
    (State.RUNNING, Verb.PAUSE): State.RUNNING,
    (State.QUEUED, Verb.RESUME): State.QUEUED,
    (State.RUNNING, Verb.RESUME): State.RUNNING,
    (State.UNKNOWN, Verb.SETTLE): State.FAILED,
}


@pytest.mark.parametrize("verb", Verb)
def test_each_verb_leads_where_the_table_says_or_is_refused(database: Database, verb: Verb) -> None:
    for state in State:
        action = in_state(state)
        assert action.state == state
        told = Audit.objects.count()
        if (state, verb) in LEGAL:
            assert transitions.can(action, verb) or verb is Verb.RESUME
            returned = VERBS[verb](action.id)
            assert now(action).state == returned.state == LEGAL[state, verb], (state, verb)
            continue
        assert not transitions.can(action, verb)
        with pytest.raises(QueueError) as refused:
            VERBS[verb](action.id)
        sentence = str(refused.value)
        assert sentence.startswith(
            f"Action {action.id} ({action.kind} on {action.cluster}) is {state} and cannot be "
        )
        assert ("propose a new one" in sentence) == (state in ENDED)
        assert (now(action).revision, Audit.objects.count()) == (action.revision, told)
    assert audit.verify().broken is None


def test_a_proposal_is_a_dry_run_until_it_is_submitted(database: Database) -> None:
    action = proposed(steps=3, reason="broker 3 is full")
    assert (action.state, action.by, action.reason) == (State.PLANNED, "ann", "broker 3 is full")
    assert [(step.number, step.state) for step in action.steps.all()] == [
        (number, StepState.WAITING) for number in range(3)
    ]
    assert leasing.claim(["c"], "w1", 10, NOW) is None


def test_a_refused_plan_cannot_be_proposed(db: None) -> None:
    with pytest.raises(QueueError, match=r"delete-topic on c cannot be proposed: There is no topic 'a'\."):
        queue.propose("c", INTENT, Plan("delete-topic", "a", refusals=("There is no topic 'a'.",)), ANN)
    with pytest.raises(QueueError, match="its plan has no steps"):
        queue.propose("c", INTENT, Plan("delete-topic", "a"), ANN)
    assert not Action.objects.exists()
    assert not Audit.objects.exists()


def test_who_asked_for_it_cannot_approve_it(db: None) -> None:
    action = queue.submit(proposed(who=Actor("ann", None), needs_approval=True).id, ANN)
    assert action.state == State.PENDING
    with pytest.raises(QueueError, match="cannot be approved by ann, who asked for it: somebody else must"):
        queue.approve(action.id, Actor("ann"))
    approved = queue.approve(action.id, BEN)
    assert (approved.state, approved.approved_by) == (State.QUEUED, "ben")
    assert approved.approved_at is not None


def test_who_was_renamed_meanwhile_cannot_approve_it_either(db: None, django_user_model: type[User]) -> None:
    user = django_user_model.objects.create(username="ann")
    action = queue.submit(proposed(needs_approval=True).id, Actor("ann", user.pk))
    with pytest.raises(QueueError, match="who asked for it"):
        queue.approve(action.id, Actor("anna", user.pk))


def test_who_submits_what_another_proposed_is_who_asked_for_it(db: None) -> None:
    action = queue.submit(proposed(who=ANN, needs_approval=True).id, BEN)
    assert action.by == "ben"
    with pytest.raises(QueueError, match="by ben, who asked for it"):
        queue.approve(action.id, BEN)


def test_who_proposed_a_plan_cannot_approve_it_whoever_submitted_it(db: None) -> None:
    action = queue.submit(proposed(who=ANN, needs_approval=True).id, BEN)
    with pytest.raises(
        QueueError, match="cannot be approved by ann, who proposed the plan: somebody else must"
    ):
        queue.approve(action.id, ANN)
    assert now(action).state == State.PENDING
    assert queue.approve(action.id, CARL).approved_by == "carl"


def test_who_proposed_a_plan_and_was_renamed_cannot_approve_it_either(
    db: None, django_user_model: type[User]
) -> None:
    user = django_user_model.objects.create(username="ann")
    action = queue.submit(proposed(who=Actor("ann", user.pk), needs_approval=True).id, BEN)
    with pytest.raises(QueueError, match="by anna, who proposed the plan"):
        queue.approve(action.id, Actor("anna", user.pk))


def test_who_first_wanted_what_another_proposed_again_cannot_approve_it(db: None) -> None:
    """What is proposed again is the same intent, planned anew; what undoes it is another."""
    first = proposed(who=ANN, needs_approval=True)
    again = proposed(who=BEN, needs_approval=True, before=first)
    third = proposed(who=CARL, needs_approval=True, before=again)
    queue.submit(third.id, CARL)
    for one in (ANN, BEN, CARL):
        with pytest.raises(QueueError, match=f"by {one.name}, who "):
            queue.approve(third.id, one)
    undo = queue.submit(proposed(who=BEN, needs_approval=True, before=first, intent=ELECT).id, BEN)
    assert queue.approve(undo.id, ANN).approved_by == "ann"


def test_the_approved_plan_is_the_reviewed_one(db: None) -> None:
    action = queued(needs_approval=True)
    told = {row.event: documents.detail(row.detail) for row in Audit.objects.all()}
    assert told["proposed"]["plan"] == told["approved"]["plan"]
    held = leasing.claim(["c"], "w1", 10, NOW)
    assert held is not None
    assert not leasing.replan(held, plan(steps=5))
    assert bytes(now(action).plan) == documents.encode(plan())


def test_stopping_twice_or_pausing_twice_changes_nothing_more(db: None) -> None:
    action = claimed()
    for verb in (queue.pause, queue.stop):
        verb(action.id, ANN)
        told = Audit.objects.count()
        verb(action.id, BEN)
        assert Audit.objects.count() == told
    held = now(action)
    assert (held.stop_wanted, held.pause_wanted) == (True, True)
    assert not any(transitions.can(held, verb) for verb in (Verb.STOP, Verb.PAUSE))
    assert transitions.can(held, Verb.RESUME)


def test_a_paused_action_waits_and_others_do_not_wait_for_it(db: None) -> None:
    first, second = queued(), queued()
    queue.pause(first.id, ANN)
    held = leasing.claim(["c"], "w1", 10, NOW)
    assert held is not None
    assert held.id == second.id
    assert leasing.end(held, State.DONE, "", NOW)
    assert leasing.claim(["c"], "w1", 10, NOW) is None
    queue.resume(first.id, ANN)
    assert leasing.claim(["c"], "w1", 10, NOW) is not None


def test_what_was_settled_as_applied_goes_on_behind_the_write(database: Database) -> None:
    held = claimed(steps=2)
    assert leasing.intend(held, 0, NOW)
    assert leasing.end(held, State.UNKNOWN, "Nobody can tell whether step 0 was written.", NOW, number=0)
    assert now(held).ended_at is None
    assert held.steps.get(number=0).state == StepState.UNKNOWN
    assert leasing.claim(["c"], "w2", 10, NOW + 99 * SECOND) is None

    settled = queue.settle(held.id, BEN, True, "the topic is marked")
    taken = leasing.claim(["c"], "w2", 10, known(settled.lease_until))
    assert taken is not None
    assert (taken.id, taken.fence, taken.step) == (held.id, 2, 0)
    assert taken.steps.get(number=0).state == StepState.APPLIED
    assert leasing.verified(taken, 0, NOW)
    assert leasing.intend(taken, 1, NOW)


def test_what_was_settled_as_not_applied_has_failed_and_frees_the_cluster(database: Database) -> None:
    held = in_state(State.UNKNOWN)
    settled = queue.settle(held.id, BEN, False, "no mark to be seen")
    assert (settled.state, settled.result) == (State.FAILED, "ben: no mark to be seen")
    assert settled.ended_at is not None
    step = held.steps.get()
    assert (step.state, step.sentence) == (StepState.FAILED, "ben: no mark to be seen")
    queued(held.cluster)
    assert leasing.claim([held.cluster], "w1", 10, NOW) is not None


def test_an_action_that_is_not_there_is_told_by_its_number(db: None) -> None:
    for unknown in (4, 0, -1, 1 << 70):
        with pytest.raises(QueueError, match=f"There is no action {unknown}"):
            queue.stop(unknown, ANN)


def test_an_undoing_action_tells_what_it_undoes(db: None) -> None:
    first = proposed()
    assert now(proposed(before=first)).before == first


def test_each_change_is_told_to_the_audit_with_who_made_it(db: None) -> None:
    action = queue.submit(proposed(needs_approval=True).id, ANN)
    queue.approve(action.id, BEN)
    queue.pause(action.id, ANN)
    queue.resume(action.id, BEN)
    queue.stop(action.id, ANN)
    assert list(Audit.objects.values_list("event", "who", "cluster", "action")) == [
        (event, who, "c", action.id)
        for event, who in [
            ("proposed", "ann"),
            ("submitted", "ann"),
            ("approved", "ben"),
            ("paused", "ann"),
            ("resumed", "ben"),
            ("stopped", "ann"),
        ]
    ]
