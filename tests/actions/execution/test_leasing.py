"""Workers and the queue: who holds an action may change it, who lost it may not."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import datetime
from functools import partial
from hashlib import sha256

import pytest
from django.db import IntegrityError, transaction

from tests.actions.small import ANN, LEASE_S, NOW, SECOND, claimed, now, plan, queued
from tests.databases import Database, in_threads
from zkdash.actions import documents, order
from zkdash.actions.execution import leasing
from zkdash.actions.execution.leasing import Wanted
from zkdash.actions.models import Action, Audit, Step
from zkdash.actions.queue import queue
from zkdash.actions.states import OCCUPYING, State, StepState
from zkdash.cluster.plans.values import Operation, Write, check, create

LATE = NOW + (LEASE_S + 1) * SECOND

# Everything that a worker can say of an action that it holds.
SAYINGS: dict[str, Callable[[Action], bool]] = {
    "renew": lambda held: leasing.renew(held, LEASE_S, NOW),
    "release": lambda held: leasing.release(held, NOW),
    "replan": lambda held: leasing.replan(held, plan()),
    "intend": lambda held: leasing.intend(held, 0, NOW),
    "applied": lambda held: leasing.applied(held, 0, 7, (), NOW),
    "progress": lambda held: leasing.progress(held, 0, 1, 2, {"rate": 3}),
    "verified": lambda held: leasing.verified(held, 0, NOW),
    "verifying": leasing.verifying,
    "end": lambda held: leasing.end(held, State.DONE, "done", NOW),
}


def test_actions_are_taken_in_the_order_in_which_they_were_queued(database: Database) -> None:
    actions = [queued() for _ in range(3)]
    Action.objects.filter(id=actions[2].id).update(queued_at=NOW - SECOND)  # approved earlier, say
    taken = []
    while held := leasing.claim(["c"], "w1", LEASE_S, NOW):
        taken.append(held.id)
        assert leasing.claim(["c"], "w2", LEASE_S, NOW) is None
        assert leasing.end(held, State.DONE, "", NOW)
    assert taken == [actions[2].id, actions[0].id, actions[1].id]


def test_an_action_is_not_begun_before_its_time_and_holds_up_no_other(database: Database) -> None:
    scheduled, other = queued(not_before=NOW), queued()
    held = leasing.claim(["c"], "w1", LEASE_S, NOW - SECOND)
    assert held is not None
    assert held.id == other.id
    assert leasing.end(held, State.DONE, "", NOW)
    assert leasing.claim(["c"], "w1", LEASE_S, NOW - SECOND) is None
    held = leasing.claim(["c"], "w1", LEASE_S, NOW)
    assert held is not None
    assert held.id == scheduled.id


def test_only_actions_of_the_workers_own_clusters_are_taken(db: None) -> None:
    queued("other")
    assert leasing.claim(["c", "d"], "w1", LEASE_S, NOW) is None
    assert leasing.claim([], "w1", LEASE_S, NOW) is None


def test_clusters_do_not_wait_for_each_other(db: None) -> None:
    queued("c"), queued("d")
    taken = [leasing.claim(["c", "d"], "w1", LEASE_S, NOW) for _ in range(3)]
    assert [held and held.cluster for held in taken] == ["c", "d", None]


def test_an_action_is_taken_over_when_its_lease_ran_out_and_goes_on_where_it_stood(
    database: Database,
) -> None:
    first = claimed(steps=3)
    assert leasing.intend(first, 0, NOW)
    assert leasing.applied(first, 0, 7, (), NOW)
    assert leasing.verified(first, 0, NOW)
    assert leasing.intend(first, 1, NOW)
    assert leasing.claim(["c"], "w2", LEASE_S, NOW) is None

    second = leasing.claim(["c"], "w2", LEASE_S, LATE)
    assert second is not None
    assert (second.id, second.fence, second.owner, second.step) == (first.id, 2, "w2", 1)
    assert second.started_at == first.started_at
    assert [step.state for step in second.steps.all()] == [
        StepState.VERIFIED,
        StepState.INTENDED,
        StepState.WAITING,
    ]


@pytest.mark.parametrize("say", SAYINGS.values(), ids=SAYINGS)
def test_who_lost_an_action_changes_nothing_of_it(database: Database, say: Callable[[Action], bool]) -> None:
    stale = claimed()
    held = leasing.claim(["c"], "w2", LEASE_S, LATE)
    assert held is not None
    before = _rows()
    assert say(stale) is False
    assert _rows() == before
    # The fence alone would do, as would the owner.
    stale.owner = "w2"
    assert say(stale) is False
    stale.owner, stale.fence = "w1", held.fence
    assert say(stale) is False
    assert _rows() == before


@pytest.mark.parametrize("say", SAYINGS.values(), ids=SAYINGS)
def test_nothing_can_be_said_of_an_action_that_has_ended(db: None, say: Callable[[Action], bool]) -> None:
    held = claimed()
    assert leasing.end(held, State.FAILED, "no", NOW)
    before = _rows()
    assert say(held) is False
    assert _rows() == before


def test_a_renewed_lease_is_not_taken_over(db: None) -> None:
    held = claimed()
    seen = order.revision()
    assert leasing.renew(held, LEASE_S, LATE)
    assert leasing.claim(["c"], "w2", LEASE_S, LATE) is None
    assert order.revision() == seen


def test_a_lease_that_is_renewed_while_another_worker_looks_is_kept(database: Database) -> None:
    held = claimed()
    found = now(held)
    assert leasing.renew(held, LEASE_S, LATE)
    with order.change() as revision:
        assert leasing._take(found, "w2", LATE + SECOND, LATE, revision) is None
    assert now(held).owner == "w1"


def test_what_was_released_is_taken_over_at_once(db: None) -> None:
    held = claimed()
    assert leasing.release(held, NOW)
    assert not leasing.renew(held, LEASE_S, NOW)
    taken = leasing.claim(["c"], "w2", LEASE_S, NOW)
    assert taken is not None
    assert (taken.id, taken.fence) == (held.id, 2)


@pytest.mark.parametrize(
    ("ask", "wanted"),
    [(queue.stop, Wanted(True, False)), (queue.pause, Wanted(False, True))],
    ids=["stop", "pause"],
)
def test_a_stop_or_a_pause_counts_before_the_next_step(
    database: Database, ask: Callable[..., Action], wanted: Wanted
) -> None:
    held = claimed()
    assert leasing.wanted(held) == Wanted(False, False)
    ask(held.id, ANN)
    assert leasing.intend(held, 0, NOW) is False
    assert held.steps.get().state == StepState.WAITING
    assert leasing.wanted(held) == wanted
    assert leasing.end(held, State.STOPPED, "Stopped by ann.", NOW)
    assert leasing.wanted(held) is None


def test_a_step_goes_from_intended_to_applied_to_verified_and_never_back(db: None) -> None:
    held = claimed(steps=2)
    with pytest.raises(ValueError, match=f"step 0 of action {held.id} is not intended"):
        leasing.applied(held, 0, 7, (), NOW)
    assert leasing.intend(held, 0, NOW)
    assert leasing.intend(held, 0, LATE)  # again, by who found no marker
    assert leasing.applied(held, 0, 7, (), NOW + SECOND)
    out_of_order: tuple[Callable[[], object], ...] = (
        lambda: leasing.intend(held, 0, NOW),
        lambda: leasing.applied(held, 0, 8, (), NOW),
        lambda: leasing.intend(held, 2, NOW),
    )
    for say in out_of_order:
        with pytest.raises(ValueError, match="is not"):
            say()
    assert leasing.progress(held, 0, 3, 4, {"moving": ["a-0"]})
    assert leasing.verified(held, 0, NOW + 2 * SECOND)
    step = held.steps.get(number=0)
    assert (step.state, step.zxid, step.done, step.total) == (StepState.VERIFIED, 7, 3, 4)
    assert (step.intended_at, step.applied_at, step.verified_at) == (NOW, NOW + SECOND, NOW + 2 * SECOND)
    assert documents.detail(step.detail) == {"moving": ["a-0"]}
    assert now(held).step == 1


@pytest.mark.parametrize(
    ("state", "of_step"),
    [
        (State.FAILED, StepState.FAILED),
        (State.REFUSED, StepState.REFUSED),
        (State.UNKNOWN, StepState.UNKNOWN),
    ],
)
def test_a_step_tells_why_its_action_ended(db: None, state: State, of_step: StepState) -> None:
    held = claimed()
    assert leasing.intend(held, 0, NOW)
    assert leasing.end(held, state, "Because\0 of it.", LATE, number=0)
    ended, step = now(held), held.steps.get()
    assert (ended.state, ended.result, ended.lease_until) == (state, "Because\ufffd of it.", None)
    assert ended.ended_at == (LATE if state is not State.UNKNOWN else None)
    assert (step.state, step.sentence) == (of_step, "Because\ufffd of it.")


def test_only_what_is_an_end_ends_an_action(db: None) -> None:
    held = claimed()
    for state in set(State) - {State.DONE, State.FAILED, State.REFUSED, State.STOPPED, State.UNKNOWN}:
        with pytest.raises(ValueError, match=f"{state} is no end"):
            leasing.end(held, state, "", NOW)
    assert leasing.verifying(held)
    for state in (State.REFUSED, State.UNKNOWN):
        with pytest.raises(ValueError, match=f"{state} cannot follow: everything of action {held.id} is wri"):
            leasing.end(held, state, "", NOW)
    assert leasing.verifying(held) is False
    assert leasing.end(held, State.DONE, "", NOW)


def test_each_znode_written_is_in_the_audit_with_hashes_and_the_transaction(database: Database) -> None:
    writes = (
        create("/a", b"new"),
        check("/b", 4),
        Write(
            "/config/users/ann",
            Operation.SET,
            1,
            b"<hidden>",
            b'{"version":1,"config":{"SCRAM-SHA-256":"salt"}}',
        ),
        Write("/d", Operation.DELETE, 2, b"", None),
    )
    held = claimed()
    assert leasing.intend(held, 0, NOW)
    assert leasing.applied(held, 0, 0x700000001, writes, NOW)
    told = Audit.objects.filter(event="wrote").order_by("id")
    assert [(bytes(row.path), documents.detail(row.detail)["operation"]) for row in told] == [
        (b"/a", "create"),
        (b"/config/users/ann", "set"),
        (b"/d", "delete"),
    ]
    assert {(row.zxid, row.step, row.who) for row in told} == {(0x700000001, 0, "ann")}
    hashes = [(bytes(row.before), bytes(row.after)) for row in told]
    assert hashes[0] == (b"", sha256(b"new").digest())
    assert hashes[2] == (sha256(b"").digest(), b"")
    masked = b'{"version":1,"config":{"SCRAM-SHA-256":"<hidden>"}}'
    assert hashes[1][1] == sha256(masked).digest()


def test_an_action_without_a_plan_gets_one_from_who_took_it_and_never_another(database: Database) -> None:
    action = queued()
    Step.objects.all().delete()
    Action.objects.filter(id=action.id).update(plan=b"")
    held = leasing.claim(["c"], "w1", LEASE_S, NOW)
    assert held is not None
    assert leasing.replan(held, plan(steps=2))
    assert documents.plan(held.plan) == documents.plan(now(held).plan) == plan(steps=2)
    assert [step.number for step in held.steps.all()] == [0, 1]
    assert leasing.replan(held, plan(steps=3)) is False


def test_the_database_itself_refuses_a_second_occupying_action_of_a_cluster(database: Database) -> None:
    queued(), queued(), queued("d")
    for state, other in itertools.product(OCCUPYING, OCCUPYING):
        first, second = Action.objects.filter(cluster="c").order_by("id")
        with transaction.atomic():
            Action.objects.filter(id=first.id).update(state=state)
            Action.objects.filter(cluster="d").update(state=state)
            with pytest.raises(IntegrityError), transaction.atomic():
                Action.objects.filter(id=second.id).update(state=other)


def test_of_many_workers_at_the_same_time_one_gets_a_clusters_action(database: Database) -> None:
    for _ in range(5):
        for _ in range(2):
            queued("c"), queued("d")
        held = _all_claim(NOW)
        assert sorted(action.cluster for action in held) == ["c", "d"]
        assert {action.fence for action in held} == {1}
        assert all(leasing.end(action, State.DONE, "", NOW) for action in held)


def test_of_many_workers_at_the_same_time_one_takes_over(database: Database) -> None:
    claimed()
    for fence in range(2, 8):
        assert [action.fence for action in _all_claim(NOW + fence * (LEASE_S + 1) * SECOND)] == [fence]


def _all_claim(at: datetime) -> list[Action]:
    """What six workers got that asked at the same time."""
    claim = partial(leasing.claim, ["c", "d"], lease_s=LEASE_S, now=at)
    taken = in_threads(*(partial(claim, owner=f"w{number}") for number in range(6)))
    return [action for action in taken if action is not None]


def _rows() -> list[object]:
    return [*Action.objects.values_list(), *Step.objects.order_by("id").values_list(), Audit.objects.count()]
