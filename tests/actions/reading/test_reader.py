"""What pages read of the queue is the same from both databases, hostile names included."""

from __future__ import annotations

from tests.actions import small
from tests.databases import Database
from zkdash.actions.execution import leasing
from zkdash.actions.queue import queue
from zkdash.actions.reading import reader
from zkdash.actions.reading.reader import Search
from zkdash.actions.states import State, StepState
from zkdash.cluster.plans.values import Plan

HOSTILE = "\0<b>\ud800\u202e'"


def test_an_action_is_read_with_its_steps_and_its_audit(database: Database) -> None:
    plan = Plan("delete-topic", HOSTILE, small.plan(steps=2).steps)
    made = queue.submit(queue.propose("c", small.INTENT, plan, small.ANN).id, small.ANN)
    (entry,) = reader.begin(["c"]).entries
    assert (entry.target, entry.state, entry.steps) == (HOSTILE, State.QUEUED, 2)
    held = leasing.claim(["c"], "w1", small.LEASE_S, small.NOW)
    assert held is not None
    assert leasing.intend(held, 0, small.NOW)
    assert leasing.applied(held, 0, 4711, plan.steps[0].writes, small.NOW)
    news = reader.changed(entry.revision)
    assert [(one.state, one.zxids) for one in news.entries] == [(State.RUNNING, (4711,))]
    assert reader.changed(news.revision).entries == ()
    found = reader.detail("c", made.id)
    assert found is not None
    assert found.plan == plan
    assert [step.state for step in found.steps] == [StepState.APPLIED, StepState.WAITING]
    assert [line.event for line in found.audit][-2:] == ["submitted", "proposed"]
    assert reader.detail("d", made.id) is None


def test_the_audit_is_read_by_who_event_action_and_from_a_line_on(database: Database) -> None:
    first, second = small.queued(), small.proposed(who=small.BEN)
    lines = reader.audit(Search("c"), 10)
    assert [(line.event, line.action) for line in lines] == [
        ("proposed", second.id),
        ("submitted", first.id),
        ("proposed", first.id),
    ]
    assert reader.audit(Search("c", below=lines[0].id), 1) == lines[1:2]
    assert reader.audit(Search("c", who="ben"), 10) == lines[:1]
    assert reader.audit(Search("c", event="submitted", action=first.id), 10) == lines[1:2]
    assert reader.audit(Search("d"), 10) == ()
