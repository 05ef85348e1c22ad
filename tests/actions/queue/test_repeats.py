"""Actions that repeat: one after the other, at their times, until somebody ends it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User

from tests.actions.small import ANN, ELECT, LEASE_S, NOW, claimed, now, operator, plan, proposed, queued
from tests.databases import Database
from zkdash.access.models import Grant
from zkdash.actions import audit
from zkdash.actions.execution import leasing
from zkdash.actions.models import Action, Audit
from zkdash.actions.queue import queue
from zkdash.actions.queue.queue import Actor, QueueError
from zkdash.actions.states import State
from zkdash.cluster.plans.intents import ClearThrottles, DeleteTopic

HOUR = timedelta(hours=1)
HOUR_S = 3600


def repeated(who: Actor, not_before: datetime = NOW) -> Action:
    """An action of every full hour, in the hands of a worker."""
    return claimed(now=not_before, who=who, intent=ELECT, not_before=not_before, repeat_s=HOUR_S)


@pytest.mark.parametrize("state", [State.DONE, State.FAILED, State.REFUSED])
def test_when_one_has_ended_the_next_is_queued_for_its_time_to_be_planned_anew(
    database: Database, state: State
) -> None:
    ann = operator()
    first = repeated(ann)
    assert leasing.end(first, state, "", NOW + HOUR / 2)
    second = Action.objects.exclude(id=first.id).get()
    assert (second.state, second.not_before, second.repeat_s) == (State.QUEUED, NOW + HOUR, HOUR_S)
    assert (second.by, second.user_id, second.source) == ("ann", ann.user_id, "repeat")
    assert (second.kind, bytes(second.intent)) == (first.kind, bytes(first.intent))
    assert (second.before, second.revision) == (first, now(first).revision)
    assert bytes(second.plan) == b""
    assert not second.steps.exists()

    assert leasing.claim(["c"], "w1", LEASE_S, NOW + HOUR / 2) is None
    held = leasing.claim(["c"], "w1", LEASE_S, NOW + HOUR)
    assert held is not None
    assert leasing.replan(held, plan(ELECT, steps=2))
    assert held.steps.count() == 2
    assert audit.verify().broken is None


def test_times_that_were_missed_do_not_pile_up_and_the_raster_stays(db: None) -> None:
    first = repeated(operator())
    assert leasing.end(first, State.DONE, "", NOW + 5.5 * HOUR)
    second = Action.objects.exclude(id=first.id).get()
    assert second.not_before == NOW + 6 * HOUR
    # Nobody was there to take it for two days.
    held = leasing.claim(["c"], "w1", LEASE_S, NOW + 48.2 * HOUR)
    assert held is not None
    assert leasing.end(held, State.DONE, "", NOW + 48.3 * HOUR)
    third = Action.objects.get(state=State.QUEUED)
    assert third.not_before == NOW + 49 * HOUR


def test_one_that_ends_at_a_time_of_its_own_has_it_as_the_next(db: None) -> None:
    for ended in (NOW, NOW + HOUR):
        first = repeated(operator(f"at {ended}"))
        assert leasing.end(first, State.DONE, "", ended)
        follower = Action.objects.get(state=State.QUEUED)
        assert follower.not_before == NOW + HOUR
        queue.stop(follower.id, ANN)


def test_withdrawing_the_next_ends_the_repetition(database: Database) -> None:
    ann = operator()
    first = repeated(ann)
    assert leasing.end(first, State.DONE, "", NOW)
    queue.stop(Action.objects.get(state=State.QUEUED).id, ann)
    assert not Action.objects.filter(state=State.QUEUED).exists()


@pytest.mark.parametrize("state", [State.STOPPED, State.DONE])
def test_stopping_one_that_runs_ends_the_repetition_though_it_came_too_late(db: None, state: State) -> None:
    ann = operator()
    first = repeated(ann)
    queue.stop(first.id, ann)
    assert leasing.end(first, state, "", NOW)
    assert Action.objects.count() == 1


def test_what_was_settled_as_not_applied_is_repeated_all_the_same(db: None) -> None:
    ann = operator()
    first = repeated(ann)
    assert leasing.intend(first, 0, NOW)
    assert leasing.end(first, State.UNKNOWN, "", NOW, number=0)
    assert Action.objects.count() == 1
    queue.settle(first.id, ann, False, "no")
    assert Action.objects.filter(state=State.QUEUED).count() == 1


@pytest.mark.parametrize("take", ["grant", "activity", "user"])
def test_who_may_act_no_more_repeats_nothing(db: None, take: str, django_user_model: type[User]) -> None:
    first = repeated(operator())
    if take == "grant":
        Grant.objects.all().delete()
    elif take == "activity":
        django_user_model.objects.update(is_active=False)
    else:
        django_user_model.objects.all().delete()
    assert leasing.end(first, State.DONE, "", NOW)
    assert Action.objects.count() == 1
    assert Audit.objects.filter(event="repeat-ended").count() == 1


def test_only_what_does_good_each_time_can_be_repeated(db: None) -> None:
    ann = operator()
    for intent in (ELECT, ClearThrottles()):
        assert proposed(who=ann, intent=intent, repeat_s=60).repeat_s == 60
    with pytest.raises(QueueError, match="delete-topic on c cannot be repeated: only elect-preferred and"):
        proposed(who=ann, intent=DeleteTopic("a"), repeat_s=60)


def test_what_cannot_be_repeated_is_told_why(db: None) -> None:
    ann = operator()
    for seconds in (59, 0, -1, 367 * 86_400):
        with pytest.raises(QueueError, match=f"cannot be repeated every {seconds} s: give 60 to"):
            proposed(who=ann, intent=ELECT, repeat_s=seconds)
    with pytest.raises(QueueError, match="each plan on c must be approved by a second person"):
        proposed(who=ann, intent=ELECT, repeat_s=60, needs_approval=True)
    with pytest.raises(QueueError, match="for cron, who is no user"):
        proposed(who=Actor("cron"), intent=ELECT, repeat_s=60)
    assert not Action.objects.exists()


def test_what_does_not_repeat_is_followed_by_nothing(db: None) -> None:
    queued()
    held = leasing.claim(["c"], "w1", LEASE_S, NOW)
    assert held is not None
    assert leasing.end(held, State.DONE, "", NOW)
    assert Action.objects.count() == 1
