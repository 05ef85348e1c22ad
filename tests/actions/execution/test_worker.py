"""Workers where they run: in `serve`, one after the other, on a ZooKeeper that is away, with old markers."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connections

from tests.actions.carrying import config, ended, now, queued, told, working
from tests.conftest import Chroot
from tests.databases import Database
from tests.faults import cluster
from tests.faults.controller import ELECTION, Controller
from tests.processes import is_stopped
from tests.serving import DATABASE, Serve, served
from tests.waiting import wait_for
from tests.zk.proxy import Proxy
from tests.zk.reader.test_one_shot import config_of
from zkdash.actions.execution import markers, reaping, status_notes
from zkdash.actions.execution.worker import Worker, utc_now
from zkdash.actions.models import Action
from zkdash.actions.states import State
from zkdash.cluster.plans.intents import ElectPreferred
from zkdash.zk.writing import writer as writing

__all__ = ["served"]

pytestmark = [
    pytest.mark.zk,
    pytest.mark.parametrize("database", ["sqlite"], indirect=True),
]
INTENT = ElectPreferred(partitions=(("t0", 1),))
# A process that is stopped in the middle of a transaction of SQLite's.
STOPPED = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
os.kill(os.getpid(), signal.SIGSTOP)
"""


def test_serve_carries_out_what_is_queued_unless_told_not_to(
    chroot: Chroot, database: Database, served: Serve
) -> None:
    cluster.make(chroot.client)
    Action.objects.filter(id=queued(chroot, INTENT).id).update(cluster="default")
    with Controller(chroot.address) as controller:
        serving = served(ZKDASH_ZOOKEEPER=chroot.address, **database.environment)
        action = ended(Action.objects.get())
        serving.stop()
    assert action.state == State.DONE, told(action)
    assert controller.taken == {(ELECTION, "t0", 1): 1}
    assert action.owner.split(":")[1] == str(serving.pid)


@pytest.mark.usefixtures("database")
def test_a_zookeeper_that_is_away_is_waited_for_in_words(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    with Proxy(chroot.server.port) as proxy, Controller(chroot.address) as controller:
        worker = Worker(
            [config_of(f"127.0.0.1:{proxy.port}{chroot.path}")], owner="w", lease_s=2.0, poll_s=0.05
        )
        proxy.cut()
        action = queued(chroot, INTENT)
        worker.start()
        try:
            wait_for(lambda: "No ZooKeeper" in now(action).result, 60, lambda: told(action))
            assert now(action).state == State.QUEUED
            proxy.restore()
            assert ended(action).state == State.DONE
        finally:
            assert worker.stop(20)
    assert controller.taken == {(ELECTION, "t0", 1): 1}


def test_a_database_that_a_stopped_process_keeps_is_told_of_and_waited_for(
    chroot: Chroot, database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.make(chroot.client)
    action = queued(chroot, INTENT)
    monkeypatch.setitem(connections.settings["default"]["OPTIONS"], "timeout", 0.2)
    monkeypatch.setattr("zkdash.actions.execution.worker._FAILED_S", 0.2)
    told_once = (
        "The worker of test waits: the database fails (database is locked), "
        "so that nothing is written to ZooKeeper"
    )
    file = Path(database.environment["ZKDASH_DATA"], DATABASE)
    with Controller(chroot.address), subprocess.Popen([sys.executable, "-c", STOPPED, file]) as stopped:
        try:
            wait_for(lambda: is_stopped(stopped.pid))
            with caplog.at_level(logging.ERROR), working(chroot):
                wait_for(lambda: told_once in caplog.messages)
                assert now(action).state == State.QUEUED
                os.kill(stopped.pid, signal.SIGCONT)
                assert ended(action).state == State.DONE
        finally:
            stopped.kill()
    assert caplog.messages == [told_once]


@pytest.mark.usefixtures("database")
def test_a_worker_that_leaves_gives_its_action_to_the_next_at_once(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    with Controller(chroot.address) as controller:
        controller.rest()
        with working(chroot, owner="first"):
            action = queued(chroot, INTENT)
            wait_for(lambda: now(action).state == State.VERIFYING, 60, lambda: told(action))
        assert now(action).owner == ""
        with working(chroot, owner="second"):
            wait_for(lambda: now(action).owner == "second")
            controller.act()
            assert ended(action).state == State.DONE
    assert controller.taken == {(ELECTION, "t0", 1): 1}


@pytest.mark.usefixtures("database")
def test_markers_go_seven_days_after_their_action_ended_and_only_then(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    with Controller(chroot.address), working(chroot):
        old, young, held = (ended(queued(chroot, INTENT)) for _ in range(3))
    Action.objects.filter(id=held.id).update(state=State.UNKNOWN, ended_at=None)
    Action.objects.filter(id=young.id).update(ended_at=utc_now() + timedelta(hours=1))
    chroot.client.create(f"{writing.APPLIED}/{old.id}-0-{'0' * 12}")  # another database's action
    chroot.client.create(f"{writing.APPLIED}/notes")
    assert reaping.reap(config(chroot), utc_now() + timedelta(days=6, hours=23)) == 0
    assert reaping.reap(config(chroot), utc_now() + timedelta(days=7, minutes=1)) == 1
    left = {markers.name(young, 0), markers.name(held, 0), f"{old.id}-0-{'0' * 12}", "notes"}
    assert set(chroot.client.get_children(writing.APPLIED)) == left


@pytest.mark.usefixtures("database")
def test_a_remark_changes_the_row_only_where_it_says_something_new(chroot: Chroot) -> None:
    cluster.make(chroot.client)
    action = queued(chroot, INTENT)
    status_notes.say(action, "Waits.")
    said = now(action)
    assert said.result == "Waits."
    assert said.revision > action.revision
    status_notes.say(action, "Waits.")
    assert now(action).revision == said.revision
