"""Anything in any order: people ask, workers with wrong clocks claim and speak, also those who lost."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import timedelta

from django.db.models import Count
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from tests import full
from tests.actions.small import ANN, BEN, CARL, LEASE_S, NOW, now, proposed
from zkdash.actions import audit, order
from zkdash.actions.actor import Actor
from zkdash.actions.execution import leasing
from zkdash.actions.models import Action, Step
from zkdash.actions.queue import queue
from zkdash.actions.queue.queue import QueueError
from zkdash.actions.states import ENDED, OCCUPYING, State, StepState


def _ending(state: State) -> Callable[[Action, int], object]:
    return lambda held, number: leasing.end(held, state, "so", NOW, number=number)


PEOPLE = st.sampled_from([ANN, BEN, CARL])
NAMES = {"ann", "ben", "carl"}
SKEWS = st.sampled_from([timedelta(), timedelta(hours=-1), timedelta(hours=1)])
STEPS = 2
VERBS: dict[str, Callable[[int, Actor], object]] = {
    "submit": queue.submit,
    "approve": queue.approve,
    "stop": queue.stop,
    "pause": queue.pause,
    "resume": queue.resume,
    "applied": lambda action_id, who: queue.settle(action_id, who, True, "seen"),
    "not applied": lambda action_id, who: queue.settle(action_id, who, False, "not seen"),
}
SAYINGS: dict[str, Callable[[Action, int], object]] = {
    "renew": lambda held, _: leasing.renew(held, LEASE_S, NOW),
    "release": lambda held, _: leasing.release(held, NOW),
    "intend": lambda held, number: leasing.intend(held, number, NOW),
    "applied": lambda held, number: leasing.applied(held, number, 1, (), NOW),
    "verified": lambda held, number: leasing.verified(held, number, NOW),
    "verifying": lambda held, _: leasing.verifying(held),
    **{
        state: _ending(state)
        for state in (State.DONE, State.FAILED, State.REFUSED, State.STOPPED, State.UNKNOWN)
    },
}
_runs = itertools.count()


class Machine(RuleBasedStateMachine):
    """Two clusters of a run's own, so that runs need not clean up after each other."""

    actions: Bundle[int] = Bundle("actions")
    held: Bundle[Action] = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        run = next(_runs)
        self.clusters = (f"{run}-c", f"{run}-d")
        self.ended: dict[int, list[object]] = {}
        self.seen = order.revision()

    @rule(target=actions, cluster=st.integers(0, 1), who=PEOPLE, needs_approval=st.booleans())
    def propose(self, cluster: int, who: Actor, needs_approval: bool) -> int:
        return proposed(self.clusters[cluster], who, steps=STEPS, needs_approval=needs_approval).id

    @rule(action_id=actions, who=PEOPLE, verb=st.sampled_from(list(VERBS)))
    def ask(self, action_id: int, who: Actor, verb: str) -> None:
        before = _row(action_id)
        refused = ""
        try:
            VERBS[verb](action_id, who)
        except QueueError as error:
            refused = str(error)
        assert not refused or refused.startswith(f"Action {action_id} ")
        assert not refused or _row(action_id) == before

    @rule(target=held, owner=st.sampled_from(["w1", "w2"]), skew=SKEWS)
    def claim(self, owner: str, skew: timedelta) -> Action | MultipleResults[Action]:
        taken = leasing.claim(self.clusters, owner, LEASE_S, NOW + skew)
        return multiple() if taken is None else taken

    @rule(held=held, number=st.integers(0, STEPS - 1), say=st.sampled_from(list(SAYINGS)))
    def say(self, held: Action, number: int, say: str) -> None:
        before, rows = now(held), _row(held.id)
        is_held = (before.owner, before.fence) == (held.owner, held.fence) and State(before.state).is_active
        try:
            told = SAYINGS[say](held, number)
        except ValueError:  # a step out of its order
            told = False
        assert is_held or not told
        assert told or _row(held.id) == rows

    @invariant()
    def one_action_occupies_a_cluster(self) -> None:
        busy = Action.objects.filter(cluster__in=self.clusters, state__in=OCCUPYING).values("cluster")
        assert all(row["n"] == 1 for row in busy.annotate(n=Count("id")))

    @invariant()
    def what_has_ended_stays_as_it_ended(self) -> None:
        for action in Action.objects.filter(cluster__in=self.clusters, state__in=ENDED):
            assert action.ended_at is not None
            assert self.ended.setdefault(action.id, _row(action.id)) == _row(action.id)

    @invariant()
    def nothing_was_begun_that_was_not_queued_or_approved_by_a_second_person(self) -> None:
        for action in Action.objects.filter(cluster__in=self.clusters, started_at__isnull=False):
            assert action.queued_at is not None
            authors = {action.by, *action.authors.values_list("name", flat=True)}
            assert not action.needs_approval or action.approved_by in NAMES - authors

    @invariant()
    def what_was_verified_was_intended_and_applied(self) -> None:
        for step in Step.objects.filter(action__cluster__in=self.clusters, state=StepState.VERIFIED):
            assert step.intended_at is not None
            assert step.applied_at is not None

    @invariant()
    def revisions_only_grow(self) -> None:
        highest = order.revision()
        assert highest >= self.seen
        self.seen = highest


def test_whatever_is_asked_in_any_order_keeps_the_queues_promises(db: None) -> None:
    run_state_machine_as_test(
        Machine, settings=settings(max_examples=full.pick(8, 15), stateful_step_count=40, deadline=None)
    )
    assert audit.verify().broken is None


def _row(action_id: int) -> list[object]:
    """All columns."""
    action = Action.objects.get(id=action_id)
    return [getattr(action, field.attname) for field in Action._meta.concrete_fields]
