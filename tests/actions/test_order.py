"""Who polls for `revision > seen` is shown every change, whatever happens at the same time."""

from __future__ import annotations

import threading
from functools import partial

import pytest
from django.db import transaction

from tests.actions.small import ANN, LEASE_S, NOW, claimed, now, proposed, queued
from tests.databases import Database, in_threads
from tests.waiting import wait_for
from zkdash.actions import order
from zkdash.actions.execution import leasing
from zkdash.actions.models import Action, Order
from zkdash.actions.queue import queue
from zkdash.actions.states import State

WRITERS = 4


def test_every_change_of_an_action_or_of_a_step_raises_the_revision(db: None) -> None:
    held = claimed(needs_approval=True)
    seen = order.revision()
    assert now(held).revision == seen
    for change in (
        lambda: leasing.intend(held, 0, NOW),
        lambda: leasing.applied(held, 0, 1, (), NOW),
        lambda: leasing.progress(held, 0, 1, 2),
        lambda: leasing.verified(held, 0, NOW),
        lambda: queue.pause(held.id, ANN),
        lambda: queue.resume(held.id, ANN),
        lambda: leasing.verifying(held),
        lambda: queue.stop(held.id, ANN),
        lambda: leasing.end(held, State.STOPPED, "", NOW),
    ):
        assert change()
        assert now(held).revision == order.revision() > seen
        seen = now(held).revision


def test_who_polls_sees_the_last_change_of_each_action(database: Database) -> None:
    """A revision that is given early and committed late would be passed by."""
    at_work = threading.Barrier(WRITERS, action=(finished := threading.Event()).set)

    def write(cluster: str) -> None:
        for _ in range(6):
            action = queued(cluster)
            held = leasing.claim([cluster], "w", LEASE_S, NOW)
            assert held is not None
            assert leasing.intend(held, 0, NOW)
            assert leasing.end(held, State.FAILED, str(action.id), NOW)
        at_work.wait()

    def poll() -> dict[int, tuple[int, str, str]]:
        picture: dict[int, tuple[int, str, str]] = {}
        seen, last = 0, False
        while not last:
            last = finished.wait(0.002)
            rows = Action.objects.filter(revision__gt=seen).values_list("id", "revision", "state", "result")
            for action_id, revision, state, result in rows:
                picture[action_id] = (revision, state, result)
                seen = max(seen, revision)
        return picture

    picture, *_ = in_threads(poll, *(partial(write, f"c{number}") for number in range(WRITERS)))
    truth = Action.objects.values_list("id", "revision", "state", "result")
    assert picture == {row[0]: row[1:] for row in truth}


def test_a_revision_is_given_only_when_the_one_before_is_committed(database: Database) -> None:
    """What makes the poll above safe, without luck: the second waits for the first to commit."""
    told: list[str] = []
    begun = threading.Event()

    def first() -> None:
        with order.change() as revision:
            begun.set()
            # The second cannot get there, however long it is given.
            with pytest.raises(AssertionError):
                wait_for(lambda: told, 0.3)
            told.append(f"first {revision}")

    def second() -> None:
        assert begun.wait(60)
        with order.change() as revision:
            told.append(f"second {revision}")

    in_threads(first, second)
    assert told == ["first 1", "second 2"]


def test_a_change_inside_of_another_transaction_is_refused(database: Database) -> None:
    action = proposed()
    with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
        queue.submit(action.id, ANN)
    assert now(action).state == State.PLANNED


def test_what_is_refused_takes_no_revision(database: Database) -> None:
    action = proposed()
    with pytest.raises(queue.QueueError):
        queue.approve(action.id, ANN)
    assert order.revision() == action.revision


def test_the_first_changes_of_an_empty_database_may_come_at_the_same_time(database: Database) -> None:
    assert not Order.objects.exists()
    revisions = in_threads(*(partial(lambda name: proposed(name).revision, f"c{n}") for n in range(5)))
    assert sorted(revisions) == [1, 2, 3, 4, 5]
