"""Small actions, and workers of one's own, for tests of the queue."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User

from zkdash.access.models import Grant
from zkdash.actions.actor import Actor
from zkdash.actions.execution import leasing
from zkdash.actions.models import Action
from zkdash.actions.queue import queue
from zkdash.cluster.plans.goals import Written
from zkdash.cluster.plans.intents import DeleteTopic, ElectPreferred, Intent, kind
from zkdash.cluster.plans.values import Plan, Step, create

ANN, BEN, CARL = Actor("ann"), Actor("ben"), Actor("carl")
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
INTENT = DeleteTopic("a")
ELECT = ElectPreferred()
LEASE_S = 10.0


def plan(intent: Intent = INTENT, steps: int = 1, data: bytes | None = b"{}") -> Plan:
    """A plan of so many steps, each of which creates a znode."""
    return Plan(
        kind(intent),
        "a",
        tuple(
            Step(f"Create {number}", (create(f"/admin/step{number}", data),), Written())
            for number in range(steps)
        ),
    )


def proposed(
    cluster: str = "c", who: Actor = ANN, intent: Intent = INTENT, steps: int = 1, **more: Any
) -> Action:
    return queue.propose(cluster, intent, plan(intent, steps), who, **more)


def queued(cluster: str = "c", who: Actor = ANN, **more: Any) -> Action:
    """Queued, approved by ben where that is needed."""
    action = queue.submit(proposed(cluster, who, **more).id, who)
    return queue.approve(action.id, BEN) if action.needs_approval else action


def claimed(owner: str = "w1", now: datetime = NOW, **more: Any) -> Action:
    """A new action in the hands of a worker; its cluster must be free."""
    action = queued(**more)
    held = leasing.claim([action.cluster], owner, LEASE_S, now)
    assert held is not None
    assert held.id == action.id
    return held


def operator(name: str = "ann", clusters: str = "*") -> Actor:
    """A real user who may act on these clusters."""
    user = User.objects.create(username=name)
    Grant.objects.create(user=user, role="operator", clusters=clusters)
    return Actor(name, user.pk)


def now(action: Action) -> Action:
    """The action as the database has it."""
    return Action.objects.get(id=action.id)
