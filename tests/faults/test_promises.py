"""A3, A7, A8: a change between review and write, a stop, a database that is full."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest
from django.db import DatabaseError, connection

from tests.actions.carrying import ANN, ended, now, queued, told, working
from tests.conftest import Chroot
from tests.databases import Database
from tests.faults import cluster
from tests.faults.controller import REASSIGNMENT, Controller
from tests.faults.realm import Realm
from tests.faults.rounds import rounds
from tests.narrowing import known
from tests.processes import is_stopped
from tests.serving import DATABASE
from tests.waiting import wait_for
from zkdash.actions.execution import step_executor
from zkdash.actions.models import Action, Audit
from zkdash.actions.queue import queue
from zkdash.actions.states import State
from zkdash.cluster.plans.intents import ChangeConfig, Reassign
from zkdash.kafka.values import Move

pytestmark = pytest.mark.zk
ON_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@ON_SQLITE
@pytest.mark.parametrize("seed", rounds("concurrent", ci=3, full=1000))
@pytest.mark.usefixtures("database")
def test_a_change_by_others_is_never_overwritten(
    chroot: Chroot, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the worker compares, and after it has compared and before it writes."""
    change_by_others(chroot, seed, monkeypatch)


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.usefixtures("database")
def test_a_change_by_others_is_never_overwritten_with_postgresql(
    chroot: Chroot, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_by_others(chroot, seed, monkeypatch)


def change_by_others(chroot: Chroot, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.make(chroot.client)
    path, theirs = "/config/topics/t0", b'{"version":1,"config":{"retention.ms":"7"}}'
    at = ("taken", "compared", "intended")[seed % 3]

    def change(name: str) -> None:
        if name == at and chroot.client.get(path)[0] != theirs:
            chroot.client.set(path, theirs)

    monkeypatch.setattr(step_executor, "hit", change)
    action = queued(chroot, ChangeConfig("t0", {"retention.ms": "1"}))
    with working(chroot):
        action = ended(action)
    assert action.state == State.REFUSED
    assert f"{path} has version 1; version 0 was reviewed." in action.result
    assert chroot.client.get(path)[0] == theirs
    assert chroot.client.get_children("/config/changes") == []
    assert not Audit.objects.filter(event="wrote").exists()


@ON_SQLITE
@pytest.mark.parametrize("seed", rounds("stop", ci=2, full=200))
@pytest.mark.usefixtures("database")
def test_a_stop_counts_within_two_seconds_and_before_the_next_step(chroot: Chroot, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a replay, no secret
    cluster.make(chroot.client, partitions=30)
    moves = tuple(Move("t0", number, (3, 4)) for number in range(30))
    with Controller(chroot.address, seed, pause_s=0.05) as controller, working(chroot):
        began = time.monotonic()
        action = queued(chroot, Reassign(moves, concurrent=1))
        wait_for(lambda: now(action).step >= 1, 60, lambda: told(action))
        paces = time.monotonic() - began  # what taking it and a step cost a machine as busy as this one
        if seed % 2:  # a step waits for Kafka, which would last for ever
            controller.rest()
            wait_for(partial(_waits_for_kafka, chroot, action), 60, lambda: told(action))
        time.sleep(chance.uniform(0, 0.3))
        queue.stop(action.id, ANN)
        said = time.monotonic()
        written = now(action).steps.exclude(state="waiting").count()
        action = ended(action, 2.0 + paces)
        assert time.monotonic() - said < 2 + paces
    assert action.state == State.STOPPED
    # the one that was under way when the stop was said may have been counted by neither
    assert written <= action.steps.exclude(state="waiting").count() <= written + 1
    assert sum(count for (what, *_), count in controller.taken.items() if what == REASSIGNMENT) <= written + 1


def _waits_for_kafka(chroot: Chroot, action: Action) -> bool:
    return bool(chroot.client.exists(REASSIGNMENT)) and now(action).steps.filter(state="applied").exists()


@ON_SQLITE
@pytest.mark.parametrize("seed", rounds("full", ci=2, full=100))
def test_nothing_is_written_where_the_intent_cannot_be(chroot: Chroot, database: Database, seed: int) -> None:
    """The disk is full right before an intent, and at some moment of an action; with room again, all is done,
    and once."""
    chance = random.Random(seed)  # noqa: S311 - a replay, no secret
    with Realm(chroot, database, seed, most=20) as realm:
        realm.mixed(4)
        # a lease that is renewed now and then would sleep with the database's lock: this one is not
        starved = realm.fork(failpoint="compared:1:stop", lease_s=600.0)
        wait_for(partial(is_stopped, starved))
        resource.prlimit(starved, resource.RLIMIT_FSIZE, (0, 0))
        os.kill(starved, signal.SIGCONT)
        time.sleep(chance.uniform(0.5, 1.0))
        realm.end(starved)
        assert realm.unintended() == set()
        wal = Path(database.environment["ZKDASH_DATA"], f"{DATABASE}-wal")
        room = (wal.stat().st_size if wal.exists() else 0) + chance.randrange(4096, 300_000)
        starved = realm.fork(room=room, skew_s=1200.0)
        time.sleep(chance.uniform(0.5, 1.5))
        realm.end(starved)
        assert realm.unintended() == set()
        realm.fork(skew_s=2400.0)
        realm.wait_until_over()
        assert realm.check() == {State.DONE: 4}
        assert Action.objects.count() == 4


@pytest.mark.parametrize("seed", rounds("readonly", ci=2, full=100))
def test_nothing_is_written_where_nothing_can_be_intended(
    chroot: Chroot, database: Database, seed: int, tmp_path: Path
) -> None:
    """The database becomes read-only right before an intent, and at some moment of an action; writable again,
    all is done, and once."""
    chance = random.Random(seed)  # noqa: S311 - a replay, no secret
    writable_s, then_s = chance.uniform(0, 0.5), chance.uniform(0.2, 0.5)
    with Realm(chroot, database, seed, most=20) as realm:
        realm.mixed(6)
        over = tmp_path / "over"
        hindered = realm.fork(failpoint="compared:1:stop", lease_s=600.0, writable_until=str(over))
        wait_for(partial(is_stopped, hindered))
        over.touch()
        with read_only(database) if database.vendor == "postgresql" else contextlib.nullcontext():
            os.kill(hindered, signal.SIGCONT)
            time.sleep(then_s)
        realm.end(hindered)
        assert realm.unintended() == set()
        if database.vendor == "sqlite":
            hindered = realm.fork(writable_s=writable_s, skew_s=1200.0)
            time.sleep(writable_s + then_s)
        else:
            hindered = realm.fork(skew_s=1200.0)
            time.sleep(writable_s)
            with read_only(database):
                time.sleep(then_s)
                wait_for(_is_read_only)  # its sessions are told one after the other
                with pytest.raises(DatabaseError, match="read-only"):
                    Action.objects.update(reason="")
        realm.end(hindered)
        assert realm.unintended() == set()
        realm.fork(skew_s=2400.0)
        realm.wait_until_over()
        assert realm.check() == {State.DONE: 6}


def _is_read_only() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SHOW default_transaction_read_only")
        (value,) = known(cursor.fetchone())
    return bool(value == "on")


@contextlib.contextmanager
def read_only(database: Database) -> Iterator[None]:
    """No session of this PostgreSQL may write inside of the block, those that are open included."""
    with psycopg.connect(database.environment["ZKDASH_DATABASE"], autocommit=True) as opened:
        opened.execute("SET default_transaction_read_only = off")

        def be(value: str) -> None:
            opened.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
            opened.execute("SELECT pg_reload_conf()")

        be("on")
        try:
            yield
        finally:
            be("off")
