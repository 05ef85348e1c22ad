"""The queue of actions, asked once a second: what enters snapshots, and what it costs."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.actions import small
from tests.waiting import wait_for
from zkdash.actions.execution import leasing
from zkdash.actions.queue import queue as actions
from zkdash.actions.reading import reader
from zkdash.actions.reading.entries import KEPT, News, UnavailableError
from zkdash.actions.states import State
from zkdash.live import pollers, snapshot_registry
from zkdash.live.queue import ActionQueue
from zkdash.live.watching.watcher import Watcher
from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.session import Session
from zkdash.zk.wire.side_requests import SideRequests


@pytest.fixture
def queue(db: None) -> ActionQueue:
    return ActionQueue(reader, ["c", "d"])


def states(queue: ActionQueue, cluster: str = "c") -> list[str]:
    return [entry.state.value for entry in queue.current(cluster).entries]


def test_what_changed_enters_the_queue_of_its_cluster_and_no_other(queue: ActionQueue) -> None:
    small.queued("d")
    queue.turn()
    before = queue.current("d")
    assert (states(queue, "c"), states(queue, "d")) == ([], ["queued"])
    small.queued("c")
    queue.turn()
    assert states(queue, "c") == ["queued"]
    assert queue.current("d") is before


def test_while_nothing_changes_one_query_a_turn_is_asked_and_the_queue_stays_the_same(
    queue: ActionQueue,
) -> None:
    small.queued()
    queue.turn()
    before = queue.current("c")
    with CaptureQueriesContext(
        connection,
    ) as asked:
        queue.turn()
    assert len(asked) == 1
    assert queue.current("c") is before
    plan = " ".join(map(str, _explain(asked.captured_queries[0]["sql"])))
    assert "INDEX" in plan


def _explain(sql: str) -> list[Any]:
    return _execute(f"EXPLAIN QUERY PLAN {sql}")


def _execute(sql: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def test_steps_at_work_are_told_with_how_far_their_goal_is(queue: ActionQueue) -> None:
    action = small.claimed(steps=2)
    assert leasing.intend(action, 0, small.NOW)
    assert leasing.applied(action, 0, 77, small.plan().steps[0].writes, small.NOW)
    assert leasing.progress(action, 0, 3, 8)
    queue.turn()
    (entry,) = queue.current("c").in_flight
    assert (entry.step, entry.steps, entry.done, entry.total) == (0, 2, 3, 8)
    assert leasing.verified(action, 0, small.NOW + timedelta(seconds=2))
    queue.turn()
    (entry,) = queue.current("c").in_flight
    assert (entry.step, entry.doing) == (1, "Create 1")


def test_old_ends_are_forgotten_and_what_is_in_flight_never(queue: ActionQueue) -> None:
    waiting = small.queued()
    queue.turn()
    for _ in range(KEPT + 3):
        actions.stop(small.proposed().id, small.ANN)
    queue.turn()
    found = queue.current("c")
    assert len(found.entries) == KEPT + 1
    assert found.entries[-1].id == waiting.id
    assert found.more
    fresh = ActionQueue(reader, ["c"])
    fresh.turn()
    assert fresh.current("c").entries == found.entries


def test_an_action_that_is_looked_at_is_read_again_when_it_changes(queue: ActionQueue) -> None:
    action = small.queued()
    queue.turn()
    assert queue.detail("c", action.id) is None
    queue.want("c", action.id)
    queue.turn()
    first = queue.detail("c", action.id)
    assert first is not None
    assert [line.event for line in first.audit] == ["submitted", "proposed"]
    with CaptureQueriesContext(connection) as asked:
        queue.turn()
    assert len(asked) == 1
    actions.stop(action.id, small.BEN)
    queue.turn()
    second = queue.detail("c", action.id)
    assert second is not None
    assert second.entry.state is State.STOPPED
    assert queue.current("c").looked_at == {action.id: second.entry.revision}


def test_what_nobody_looks_at_any_more_is_let_go(db: None) -> None:
    action, now = small.queued(), [0.0]
    queue = ActionQueue(reader, ["c"], clock=lambda: now[0])
    queue.want("c", action.id)
    queue.turn()
    assert queue.detail("c", action.id) is not None
    now[0] = float("inf")
    queue.turn()
    assert queue.detail("c", action.id) is None


def test_an_older_reading_does_not_replace_a_newer_one(queue: ActionQueue) -> None:
    action = small.queued()
    old = reader.detail("c", action.id)
    actions.pause(action.id, small.ANN)
    new = reader.detail("c", action.id)
    assert old is not None
    assert new is not None
    queue.hold(new)
    queue.hold(old)
    assert queue.detail("c", action.id) is new


class Failing:
    """A database that fails as long as it is told to."""

    broken = True

    def begin(self, clusters: Any) -> Any:
        return self._ask(reader.begin, clusters)

    def changed(self, since: int) -> Any:
        return self._ask(reader.changed, since)

    def detail(self, *given: Any) -> Any:
        return self._ask(reader.detail, *given)

    def _ask(self, ask: Any, *given: Any) -> Any:
        if self.broken:
            raise UnavailableError("It is away.")
        return ask(*given)


def test_a_database_that_is_away_is_said_and_what_was_known_stays(db: None) -> None:
    source = Failing()
    queue = ActionQueue(source, ["c"])
    queue.turn()
    assert (queue.current("c").trouble, queue.current("c").read) == ("It is away.", False)
    source.broken = False
    small.queued()
    queue.turn()
    assert (queue.current("c").trouble, states(queue)) == ("", ["queued"])
    source.broken = True
    queue.turn()
    assert (queue.current("c").trouble, states(queue)) == ("It is away.", ["queued"])
    source.broken = False
    queue.turn()
    assert queue.current("c").trouble == ""


def test_a_real_database_without_its_tables_is_trouble_and_no_crash(db: None) -> None:
    _execute("ALTER TABLE actions_action RENAME TO elsewhere")
    queue = ActionQueue(reader, ["c"])
    queue.turn()
    assert "database fails" in queue.current("c").trouble
    _execute("ALTER TABLE elsewhere RENAME TO actions_action")
    queue.turn()
    assert queue.current("c").trouble == ""


def test_a_database_that_neither_answers_nor_refuses_is_said_to_be_away(db: None) -> None:
    now = [0.0]
    queue = ActionQueue(reader, ["c"], clock=lambda: now[0])
    queue.turn()
    now[0] = 9.0
    queue.judge()
    assert queue.current("c").trouble == ""
    now[0] = 11.0
    queue.judge()
    assert "has not answered for over 10 s" in queue.current("c").trouble
    queue.turn()
    assert queue.current("c").trouble == ""


class Counting:
    """Says when it was asked."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.times = 0

    def begin(self, _clusters: Any) -> Any:
        return self.changed(0)

    def changed(self, _since: int) -> Any:
        self.times += 1
        self.asked.release()
        return News(0)

    def detail(self, *_: Any) -> Any:
        return None


def test_a_poke_is_answered_at_once_and_a_stop_ends_the_thread() -> None:
    source = Counting()
    queue = ActionQueue(source, ["c"])
    queue._every_s = 3600.0  # so that nothing but a poke is a reason to ask
    queue.start()
    assert source.asked.acquire(timeout=60)
    for _ in range(3):
        queue.poke()
        assert source.asked.acquire(timeout=60)
    queue.stop()
    assert not queue._thread.is_alive()
    assert not queue.current("c").read


def test_the_watchers_tick_takes_the_queue_in_and_tells_pages_of_actions(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zkdash.live.watching.watcher.mirror.Mirror", _NoMirror)
    told: list[Any] = []
    queue = ActionQueue(reader, ["c"])
    watcher = Watcher(
        ClusterConfig("c", (("zk", 2181),)),
        notify=lambda _name, _revision, touched: told.append(touched),
        polled=pollers.NONE._replace(queue=queue),
    )
    queue.turn()
    watcher.tick(1.0)
    watcher.tick(2.0)
    assert [touched.areas for touched in told] == [{"actions"}]
    small.queued()
    queue.turn()
    watcher.tick(3.0)
    snapshot = snapshot_registry.current("c")
    assert snapshot is not None
    assert [entry.state for entry in snapshot.queue.entries] == [State.QUEUED]
    assert len(told) == 2
    snapshot_registry.clear()


class _NoMirror:
    proved_at = None
    session = Session()

    def __init__(self, *_: Any, **__: Any) -> None:
        self.aside = SideRequests(lambda _entry: None)


def test_a_loop_that_reads_lets_no_change_be_missed(db: None) -> None:
    """Revisions are given in the order in which they are committed, so the highest seen is behind all."""
    queue = ActionQueue(reader, ["c"])
    made = []
    for _ in range(20):
        made.append(small.queued().id)
        queue.turn()
        actions.pause(made[0], small.ANN)
    queue.turn()
    wait_for(lambda: len(queue.current("c").entries) == 20)
    assert queue.current("c").entries[-1].pause_wanted
