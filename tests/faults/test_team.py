"""D1: a team's processes end and begin one by one behind its proxy, and nobody who uses them is harmed."""

from __future__ import annotations

import contextlib
import signal
import statistics
from collections import Counter
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq
import pytest
from django.contrib.auth.models import User

from tests import full
from tests.conftest import Chroot
from tests.databases import Database
from tests.faults.realm import CLUSTER, Realm
from tests.faults.rounds import rounds
from tests.faults.team import Member, Team
from tests.faults.team_load import READERS, Client, Load, Pages
from tests.journeys.pace import LOADS
from tests.signing import PASSWORD
from tests.waiting import wait_for
from zkdash.access.models import Grant
from zkdash.access.roles import Role
from zkdash.actions.states import State
from zkdash.history.store.delta import Table

pytestmark = pytest.mark.zk

REQUESTS_A_SECOND: Final = 50
SOCKETS: Final = full.pick(20, 200)
# How often each process is told to end and started again; then one of each role is killed.
TURNS: Final = full.pick(1, 5)
RECONNECTED_S: Final = 3.0
PROCESSES: Final = 6
# Actions that are queued when processes are killed.
AT_WORK: Final = 4
_MOST_ACTIONS: Final = full.pick(200, 2_000)
_LIMIT_S: Final = 180.0


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
@pytest.mark.parametrize("seed", rounds("team", ci=1, full=4))
def test_a_team_is_rolled_while_it_is_used(
    chroot: Chroot, database: Database, seed: int, tmp_path: Path
) -> None:
    realm = Realm(chroot, database, seed, most=_MOST_ACTIONS)
    user = User.objects.create_user("olga", password=PASSWORD)
    Grant.objects.create(user=user, role=Role.OPERATOR.value, clusters="*")
    with (
        realm.controller,
        Team(tmp_path / "team", realm.config_file, database.environment["ZKDASH_DATABASE"]) as team,
    ):
        assert len(team.members) == PROCESSES
        with contextlib.closing(Client(team)) as person:
            person.sign_in("olga")
        # The realm elects from the first partition on.
        partitions = range(_MOST_ACTIONS - 1, AT_WORK, -1)
        load = Load(team, person.cookies, rate=REQUESTS_A_SECOND, partitions=partitions)
        with Pages(team, person.cookies, SOCKETS) as pages:
            wait_for(lambda: pages.opened == SOCKETS, _LIMIT_S)
            with load.running():
                for _ in range(TURNS):
                    for member in team.members:
                        _begun_anew(member, signal.SIGTERM)
                load.rest()
                realm.elections(AT_WORK)
                for member in (team.serving[0], team.executing[0], wait_for(team.recorder, _LIMIT_S)):
                    _begun_anew(member, signal.SIGKILL)
            realm.wait_until_over(_LIMIT_S)
    told = (
        f"{len(load.took_s)} answers in {statistics.median(load.took_s):.3f} s, "
        f"{len(load.submitted)} actions, {load.not_taken} forms not taken, broken off: {load.broken_off}, "
        f"sockets closed by {pages.codes}, without one for {max(pages.gaps, default=0):.2f} s at most"
    )
    assert load.lost == [], "\n".join([told, *load.lost])
    assert len(load.broken_off) <= READERS, told
    assert len(load.took_s) > 10 * PROCESSES * TURNS, told
    assert len(pages.gaps) >= SOCKETS * TURNS, told
    # On a machine that is slow now, as long as some pages: each way back is one, by TLS, and a socket.
    slow_s = statistics.quantiles(load.took_s, n=20)[-1]
    assert max(pages.gaps) < max(RECONNECTED_S, 2 * LOADS * slow_s), told
    assert pages.codes.keys() <= {1006, 1012}, told
    assert realm.check() == {State.DONE: len(load.submitted) + AT_WORK}, told
    assert load.submitted, told
    assert _recorded_twice(team.history) == []


def _begun_anew(member: Member, number: int) -> None:
    member.end(number)
    member.start()
    member.wait()


def _recorded_twice(history: Path) -> list[tuple[object, ...]]:
    """Changes that two recorders wrote; some were recorded."""
    table = Table(history / CLUSTER / "changes")
    rows = [row for path in table.paths() for row in pq.read_table(path, partitioning=None).to_pylist()]
    changes = Counter((row["path"], row["type"], row["zxid"]) for row in rows if row["zxid"] is not None)
    assert changes
    return [change for change, count in changes.items() if count > 1]
