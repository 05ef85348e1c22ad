"""A1, A2, A4, L1: workers that are killed, stopped and wrong about the time do everything once."""

from __future__ import annotations

import os
import random
import signal
import time

import pytest

from tests import full
from tests.conftest import Chroot
from tests.databases import Database
from tests.faults.controller import ELECTION
from tests.faults.realm import ANN, LEASE_S, Realm
from tests.faults.rounds import rounds
from tests.processes import is_stopped
from tests.waiting import wait_for
from zkdash.actions.execution.failpoints import NAMES
from zkdash.actions.models import Action
from zkdash.actions.queue import queue
from zkdash.actions.states import State

pytestmark = pytest.mark.zk
# In a round; of the thousand in full there are twenty rounds.
KILLS, STOPS = full.pick((15, 4), (50, 10))
ON_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

# Those that a worker comes by at an election; the others have tests of their own.
ON_THE_WAY = tuple(name for name in NAMES if name not in {"planned", "looked", "reaped"})


@ON_SQLITE
@pytest.mark.parametrize("seed", rounds("kills", ci=1, full=20))
def test_kills_at_random_points(chroot: Chroot, database: Database, seed: int) -> None:
    kill_at_random_points(chroot, database, seed)


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_kills_at_random_points_with_postgresql(chroot: Chroot, database: Database) -> None:
    kill_at_random_points(chroot, database, seed=1)


def kill_at_random_points(chroot: Chroot, database: Database, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a replay, no secret
    with Realm(chroot, database, seed, most=8 * (KILLS + 1)) as realm:
        for _ in range(3):
            realm.fork()
        killed = 0
        while killed < KILLS:
            if Action.objects.filter(state=State.QUEUED).count() < 4:
                realm.mixed(8)
            pid = wait_for(realm.holder, 60, realm.told)
            time.sleep(chance.uniform(0, 0.06))
            realm.end(pid)
            killed += 1
            # those whose clock is slow take over from nobody, and would be the only ones left in the end
            right = sum(skew >= 0 for skew in realm.skews.values())
            realm.fork(skew_s=chance.choice((0, 1.5, 0.3, -3600) if right > 1 else (0, 1.5)))
        realm.wait_until_over()
        assert realm.check().keys() == {State.DONE}


@ON_SQLITE
@pytest.mark.parametrize("seed", rounds("failpoints", ci=1, full=50))
def test_each_failpoint(chroot: Chroot, database: Database, seed: int) -> None:
    with Realm(chroot, database, seed, most=2 * len(NAMES)) as realm:
        for name in ON_THE_WAY:
            realm.elections(1)
            realm.wait_until_dead(realm.fork(failpoint=name))
            _finish(realm)
        realm.unplanned()
        realm.wait_until_dead(realm.fork(failpoint="planned"))
        _finish(realm)
        for at in ("intended", "committed"):
            realm.elections(1)
            realm.wait_until_dead(realm.fork(failpoint=at))
            realm.wait_until_dead(realm.fork(failpoint="looked"))
            _finish(realm)
        assert realm.check() == {State.DONE: len(ON_THE_WAY) + 3}


@ON_SQLITE
@pytest.mark.parametrize("seed", rounds("stops", ci=1, full=20))
def test_workers_that_sleep_longer_than_their_lease(chroot: Chroot, database: Database, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a replay, no secret
    with Realm(chroot, database, seed, most=4 * (STOPS + 1)) as realm:
        for _ in range(2):
            realm.fork()
        for _ in range(STOPS):
            if Action.objects.filter(state=State.QUEUED).count() < 2:
                realm.mixed(4)
            pid = wait_for(realm.holder, 60, realm.told)
            time.sleep(chance.uniform(0, 0.04))
            os.kill(pid, signal.SIGSTOP)
            time.sleep(LEASE_S + chance.uniform(0, 0.4))
            os.kill(pid, signal.SIGCONT)
        realm.wait_until_over()
        assert realm.check().keys() == {State.DONE}


@ON_SQLITE
@pytest.mark.parametrize("at", ["intended", "committed"])
def test_a_worker_that_sleeps_at_its_write_wakes_to_a_fence(
    chroot: Chroot, database: Database, at: str
) -> None:
    with Realm(chroot, database, 0, most=10) as realm:
        realm.elections(1)
        sleeper = realm.fork(failpoint=f"{at}:1:stop", lease_s=600.0)
        wait_for(lambda: is_stopped(sleeper))
        # a lease that is renewed now and then would sleep with the database's lock: this one is not
        _finish(realm, skew_s=1200.0)
        os.kill(sleeper, signal.SIGCONT)
        realm.elections(1)
        realm.wait_until_over()
        assert realm.check() == {State.DONE: 2}


@ON_SQLITE
def test_a_worker_without_markers_is_seen_to_do_things_twice(chroot: Chroot, database: Database) -> None:
    """The harness is one that finds what it looks for."""
    with Realm(chroot, database, 0, most=10, markers=False) as realm:
        realm.elections(1)
        realm.wait_until_dead(realm.fork(failpoint="committed", blind=True))
        wait_for(lambda: realm.controller.taken[ELECTION, "e", 0] == 1)
        _finish(realm, blind=True)
        assert realm.doubles() == {(ELECTION, "e", 0): 2}
        with pytest.raises(AssertionError):
            realm.check()


@ON_SQLITE
def test_without_markers_a_write_without_an_answer_waits_for_a_person(
    chroot: Chroot, database: Database
) -> None:
    with Realm(chroot, database, 0, most=10, markers=False) as realm:
        realm.elections(1)
        realm.wait_until_dead(realm.fork(failpoint="committed"))
        _finish(realm)
        action = Action.objects.get()
        assert action.state == State.UNKNOWN
        assert "because markers = false" in action.result
        wait_for(lambda: realm.controller.taken)
        assert realm.controller.taken == {(ELECTION, "e", 0): 1}


@ON_SQLITE
def test_a_real_process_is_killed_and_another_goes_on_and_ends_by_sigterm(
    chroot: Chroot, database: Database
) -> None:
    with Realm(chroot, database, 0, most=10) as realm:
        realm.controller.rest()
        realm.elections(2)
        first = realm.execute("--lease", "1")
        wait_for(lambda: Action.objects.filter(state=State.VERIFYING).exists(), 60, realm.told)
        first.kill()
        with first:
            assert first.wait(60) == -signal.SIGKILL
        second = realm.execute("--lease", "1")
        realm.controller.act()
        realm.wait_until_over()
        second.terminate()
        with second:
            assert second.wait(30) == 0
        assert realm.check() == {State.DONE: 2}


@ON_SQLITE
def test_what_was_found_not_to_be_written_never_is(chroot: Chroot, database: Database) -> None:
    """A worker sleeps before its write; another finds none, and stops as it is told: that must stay true."""
    with Realm(chroot, database, 0, most=10) as realm:
        [stopped] = realm.elections(1)
        sleeper = realm.fork(failpoint="intended:1:stop", lease_s=600.0)
        wait_for(lambda: is_stopped(sleeper))
        queue.stop(stopped.id, ANN)
        _finish(realm, skew_s=1200.0)
        os.kill(sleeper, signal.SIGCONT)
        realm.elections(1)  # which nobody else is there for, so that the write was tried before
        realm.wait_until_over()
        assert realm.check() == {State.STOPPED: 1, State.DONE: 1}
        assert realm.controller.taken == {(ELECTION, "e", 1): 1}


def _finish(realm: Realm, **asked: float) -> None:
    """Let a worker that does not die do what is left."""
    pid = realm.fork(**asked)
    realm.wait_until_over()
    realm.end(pid)
