"""Actions carried out on a real ZooKeeper by a worker of the test's own, beside a played controller."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from tests.conftest import Chroot
from tests.waiting import wait_for
from tests.zk.reader.test_one_shot import config_of
from zkdash.actions.actor import Actor
from zkdash.actions.execution.worker import Worker, utc_now
from zkdash.actions.models import Action
from zkdash.actions.queue import planning, queue
from zkdash.actions.states import ENDED, State
from zkdash.cluster.plans.intents import Intent

ANN, BEN = Actor("ann"), Actor("ben")


def config(chroot: Chroot, **more: Any) -> Any:
    """The cluster "test" of this chroot."""
    return config_of(chroot.address, **more)


def queued(chroot: Chroot, intent: Intent, **more: Any) -> Action:
    """An action as it was reviewed just now, and submitted."""
    plan = planning.plan(config(chroot), intent)
    assert plan.refusals == ()
    return queue.submit(queue.propose("test", intent, plan, ANN, **more).id, ANN)


@contextlib.contextmanager
def working(chroot: Chroot, *, owner: str = "w1", ahead_s: float = 0.0, **more: Any) -> Iterator[Worker]:
    """A worker whose clock is ahead by so much; `more` is for its cluster's configuration."""
    worker = Worker(
        [config(chroot, **more)],
        owner=owner,
        clock=lambda: utc_now() + timedelta(seconds=ahead_s),
        lease_s=2.0,
        poll_s=0.05,
    )
    worker.start()
    try:
        yield worker
    finally:
        assert worker.stop(20)


def now(action: Action) -> Action:
    return Action.objects.get(id=action.id)


def ended(action: Action, limit_s: float = 60.0) -> Action:
    """The action once it has ended, or waits for a person."""
    final = ENDED | {State.UNKNOWN}
    wait_for(lambda: now(action).state in final, limit_s, lambda: told(action))
    return now(action)


def told(action: Action) -> str:
    row = now(action)
    return f"{row} at step {row.step}: {row.result} {[str(step) for step in row.steps.all()]}"
