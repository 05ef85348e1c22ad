"""Waiting for a step's goal: its znodes are read, often at first, until it is reached or it is stopped."""

from __future__ import annotations

import time
from datetime import datetime

from zkdash.actions.execution import leasing
from zkdash.actions.execution.failpoints import hit
from zkdash.actions.execution.following import Follower, Report
from zkdash.actions.execution.run import GLANCE_S, LeavingError, OverError, Run
from zkdash.actions.states import State
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import goals
from zkdash.cluster.plans.goals import Written
from zkdash.cluster.plans.values import Step
from zkdash.cluster.reducer import advance
from zkdash.kafka import paths
from zkdash.zk.reader.one_shot import OneShotError
from zkdash.znode import Batch

# Pauses between two readings: four a second for half a minute, then fewer.
_PACES = ((30.0, 0.2), (300.0, 1.0), (float("inf"), 5.0))
# A long reading must not become all that the ensemble does.
_SHARE = 5


def pursue(run: Run, number: int, step: Step) -> None:
    """Return when the goal of step `number` was reached. Raises OverError where it never will be."""
    if not isinstance(step.goal, Written):
        if number == len(run.plan.steps) - 1 and run.action.state == State.RUNNING:
            run.lease.held(leasing.verifying(run.action))
        _wait(run, number, step)
    hit("reached")
    run.say("")
    run.lease.held(leasing.verified(run.action, number, run.tools.clock()))
    hit("verified")
    run.told()


def _wait(run: Run, number: int, step: Step) -> None:
    began = time.monotonic()
    since, follower, shown = run.tools.clock(), Follower(step.goal, began), None
    while True:
        _check(run, number)
        before = time.monotonic()
        try:
            state = _state(run, step)
        except OneShotError as error:
            run.say(f"{error} Step {run.at(number)} was written; whether Kafka carries it out is not known.")
            run.wait(GLANCE_S)
            continue
        report = follower.take(state, time.monotonic())
        shown = _show(run, number, report, shown)
        if report.is_reached:
            return
        if report.failure:
            sentence = f"Step {run.at(number)} failed: {report.failure} {run.so_far(number)}"
            raise OverError(State.FAILED, sentence, number)
        run.say(_stuck(run, number, report, since))
        _pause(run, number, max(_pace(before - began), (time.monotonic() - before) * _SHARE))


def _check(run: Run, number: int) -> None:
    if run.lease.wanted().stop:
        raise OverError(
            State.STOPPED,
            f"Stopped while step {run.at(number)} waited for Kafka, which goes on with it by itself. "
            f"{run.so_far(number)}",
        )
    if run.tools.leaving.is_set():
        raise LeavingError


def _pause(run: Run, number: int, seconds: float) -> None:
    while seconds > 0:
        run.wait(min(GLANCE_S, seconds))
        _check(run, number)
        seconds -= GLANCE_S


def _state(run: Run, step: Step) -> ClusterState:
    """A state made of what tells of the goal, the request itself first: what it lists is gone last."""
    followed = (*goals.paths(step.goal), paths.CONTROLLER)
    tree = run.tools.asker.read(followed, children=(paths.BROKER_IDS,))
    state, _ = advance.advance(ClusterState(), Batch(changed=tree, zxid=0, whole=True))
    return state


def _show(run: Run, number: int, report: Report, shown: Report | None) -> Report:
    """Keep the progress for pages, where it is another."""
    if shown is not None and (shown.done, shown.total) == (report.done, report.total):
        return shown
    run.lease.held(leasing.progress(run.action, number, report.done, report.total, report.detail))
    run.told()
    return report


def _stuck(run: Run, number: int, report: Report, since: datetime) -> str:
    if not report.stuck:
        return ""
    return (
        f"Step {run.at(number)} has waited for Kafka since {since:%Y-%m-%d %H:%M:%S} UTC: {report.stuck}. "
        "It is waited for until somebody stops the action."
    )


def _pace(age: float) -> float:
    return next(pause for until, pause in _PACES if age < until)
