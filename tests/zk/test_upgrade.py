"""An ensemble is upgraded server by server, and a mirror's session moves between its old and its new ones.

In every run from 3.4, in full (`FULL=1`) from 3.5 too.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import full
from tests.lab import zookeeper
from tests.lab.ensemble import Ensemble
from tests.waiting import wait_for
from tests.zk import test_faults
from tests.zk.proxy import Proxy
from tests.zk.wire import test_contact
from zkdash.demo.zookeeper.server import Server
from zkdash.zk.connection.session import Phase
from zkdash.zk.mirror.mirror import Mirror

pytestmark = [pytest.mark.zk, pytest.mark.usefixtures("brisk")]


class Way:
    """The way to each server of an ensemble: `sent_to_old` is what it was sent while it was an old one."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.proxy = Proxy(server.port)
        self.sent_to_old: list[bytearray] = []

    def __enter__(self) -> Way:
        return self

    def __exit__(self, *_: object) -> None:
        self.proxy.cut()

    def upgrade(self) -> None:
        self.server.stop()
        self.sent_to_old = list(self.proxy.sent)
        self.server.classpath = ()
        self.server.start()


class Stop(NamedTuple):
    """Where the session is: its id, and the version of its server ("3.9")."""

    session: int | None
    version: str

    @classmethod
    def of(cls, mirror: Mirror) -> Stop:
        version = mirror.session.zookeeper_version or ""
        return cls(mirror.session.session_id, version.rpartition(".")[0])


def move(stand: test_faults.Bench, ways: Iterable[Way], *, to: Iterable[Way]) -> None:
    """Have the session go on at one of some servers, by cutting the way to all others."""
    wanted = {f"127.0.0.1:{way.proxy.port}" for way in to}
    cut = [way for way in ways if f"127.0.0.1:{way.proxy.port}" not in wanted]
    for way in cut:
        way.proxy.cut()
    wait_for(
        lambda: stand.mirror.session.server in wanted and stand.mirror.session.phase is Phase.LIVE,
        60.0,
        lambda: stand.mirror.session,
    )
    for way in cut:
        way.proxy.restore()


@pytest.mark.parametrize("old", zookeeper.OLD if full.is_full() else zookeeper.OLD[:1])
def test_an_ensemble_that_is_upgraded_server_by_server_stays_mirrored(old: str, tmp_path: Path) -> None:
    with (
        Ensemble(
            tmp_path,
            tick_time_ms=200,
            classpath=zookeeper.classpath(old),
            # 3.4 may have written transactions before its first snapshot
            java_options=("-Dzookeeper.snapshot.trust.empty=true",),
        ) as ensemble,
        contextlib.ExitStack() as stack,
    ):
        ways = [stack.enter_context(Way(server)) for server in ensemble.servers]
        leader = ensemble.leader()
        address = ",".join(f"127.0.0.1:{one.proxy.port}" for one in ways)
        with test_faults.bench(ensemble.address, address) as stand:
            stops: list[Stop] = [Stop.of(stand.mirror)]
            new: list[Way] = []
            for one in sorted(ways, key=lambda one: one.server is leader):
                one.upgrade()
                new.append(one)
                for some in (new, [other for other in ways if other not in new]):
                    if some:
                        move(stand, ways, to=some)
                        stops.append(Stop.of(stand.mirror))
                        stand.expect_equal()
        before = old.rpartition(".")[0]
        assert [stop.version for stop in stops] == [before, "3.9", before, "3.9", before, "3.9"]
        assert any(one.session == other.session for one, other in itertools.pairwise(stops))
        # every upgrade and every move may end a connection, and one on the way to somewhere else
        sessions = [one for way in ways for one in way.proxy.sent if test_contact.opcodes(bytes(one))]
        assert len(sessions) <= 2 * (len(ways) + len(stops))
        sent = [test_contact.opcodes(bytes(one)) for way in ways for one in way.sent_to_old]
        assert sum(map(len, sent)) > 100
        assert not test_contact.MODERN & {opcode for opcodes in sent for opcode in opcodes}
