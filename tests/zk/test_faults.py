"""After each fault the mirror equals ZooKeeper: some times each, under a writer that deletes and re-creates.

In every run 3 times on the ZooKeeper that the product brings, once on the releases before 3.6, in full
(`FULL=1`) 10 times on each. tickTime is 200 ms and the session 2 s. The seed of the writer is printed
with a failure.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from kazoo.client import KazooClient

from tests import full
from tests.conftest import TICK_MS
from tests.lab import zookeeper
from tests.lab.ensemble import Ensemble
from tests.waiting import wait_for
from tests.zk import secured, witness
from tests.zk.proxy import Proxy
from tests.zk.witness import Difference
from tests.zk.writer import ROOTS, TWINS, Writer
from zkdash.configuration.clusters import DIGEST_MD5
from zkdash.demo.zookeeper.server import Server
from zkdash.zk.config import ClusterConfig, parse_address
from zkdash.zk.connection.identity import Identity
from zkdash.zk.connection.session import Phase
from zkdash.zk.mirror.mirror import Mirror

pytestmark = [pytest.mark.zk, pytest.mark.usefixtures("brisk")]
on_each_release = pytest.mark.parametrize(
    "zookeeper_release", zookeeper.RELEASES, indirect=True, scope="session"
)

TIMES = full.pick(3, 10)
OLD_TIMES = full.pick(1, 10)
SECURED_TIMES = full.pick(1, 3)
SESSION_S = 2.0
# What a machine that is busy with other things adds to noticing that nothing comes.
GRACE_S = full.pick(10.0, 3.0)
MIN_WRITES_PER_S = 50


class ForgetfulMirror(Mirror):
    """The planted bug: after a reconnect it watches again, and reads nothing."""

    def _catch_up(self, **how: bool) -> None:
        if self._image.loads:
            self.report(phase=Phase.LIVE, sentence="")
        else:
            super()._catch_up(**how)


@pytest.fixture
def times(zookeeper_release: str) -> int:
    """How often a fault is tried."""
    return TIMES if zookeeper_release == zookeeper.BUNDLED else OLD_TIMES


@pytest.fixture(scope="module")
def server(zookeeper_release: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that tests may kill and start again, each with a chroot of its own."""
    classpath = zookeeper.classpath(zookeeper_release)
    with Server(tmp_path_factory.mktemp("faults"), tick_time_ms=TICK_MS, classpath=classpath) as running:
        yield running


@pytest.fixture
def place(server: Server) -> str:
    """The path of a fresh chroot."""
    with secured.hands(server.address) as client:
        return str(client.create("/t", sequence=True))


class Bench(NamedTuple):
    """A mirror under watch, and the writer beside it."""

    mirror: Mirror
    witness: witness.Witness
    writer: Writer
    seed: int

    def check(self) -> Difference:
        """Stop the writer, wait for the proof, and compare; then go on."""
        self.writer.pause()
        witness.wait_proved(self.mirror)
        found = witness.difference(self.witness.seen(), witness.walk(self.writer.client, ROOTS))
        self.writer.resume()
        return found

    def expect_equal(self) -> None:
        found = self.check()
        assert found.is_none, (self.seed, found)
        assert not self.witness.faults, (self.seed, self.witness.faults)

    def broke_off(self, since: int) -> Callable[[], bool]:
        """Whether the mirror told that it is not live, after its first so many sessions."""
        return lambda: any(
            session.phase in {Phase.SUSPENDED, Phase.LOST} for session in self.witness.sessions[since:]
        )

    def has_session_after(self, before: int | None) -> Callable[[], bool]:
        return lambda: self.mirror.session.session_id not in {None, before}

    def wait_down(self) -> None:
        """Wait until the mirror says, with a sentence, that it is not live."""
        session = witness.wait_phase(self.mirror, Phase.SUSPENDED, Phase.LOST)
        assert session.sentence


@contextlib.contextmanager
def bench(
    writer_address: str,
    mirror_address: str,
    kind: type[Mirror] = Mirror,
    identity: Identity = Identity(),  # noqa: B008 - frozen
) -> Iterator[Bench]:
    seed = secrets.randbits(32)
    servers, chroot = parse_address(mirror_address)
    config = ClusterConfig("test", servers, chroot, identity, SESSION_S)
    seen = witness.Witness(TWINS)
    with Writer(writer_address, seed) as writer:
        mirror = kind(config, roots=ROOTS, sink=seen, jitter=witness.no_jitter)
        mirror.start()
        try:
            witness.wait_live(mirror)
            yield Bench(mirror, seen, writer, seed)
        finally:
            mirror.stop()


@contextlib.contextmanager
def behind_a_proxy(server: Server, place: str, kind: type[Mirror] = Mirror) -> Iterator[tuple[Proxy, Bench]]:
    """A mirror whose way to the server can be cut and frozen; the writer's cannot."""
    with (
        Proxy(server.port) as proxy,
        bench(server.address + place, f"127.0.0.1:{proxy.port}{place}", kind) as stand,
    ):
        yield proxy, stand


def freeze(proxy: Proxy, stand: Bench) -> None:
    """Freeze the connections, and see that it is noticed within the session."""
    began, sessions = time.monotonic(), len(stand.witness.sessions)
    proxy.freeze()
    wait_for(lambda: any(s.phase in {Phase.SUSPENDED, Phase.LOST} for s in stand.witness.sessions[sessions:]))
    assert time.monotonic() - began < SESSION_S + GRACE_S


def writes_for(writer: Writer, seconds: float) -> None:
    """Let the fault last, and the writer write meanwhile at the rate that the promise names."""
    began, before = time.monotonic(), writer.writes
    wanted = before + int(seconds * MIN_WRITES_PER_S)
    wait_for(lambda: time.monotonic() >= began + seconds and writer.writes >= wanted, seconds + 60.0)


@on_each_release
def test_a_cut_of_two_seconds_leaves_no_difference(server: Server, place: str, times: int) -> None:
    with behind_a_proxy(server, place) as (proxy, stand):
        for _ in range(times):
            proxy.cut()
            stand.wait_down()
            writes_for(stand.writer, 2.0)
            proxy.restore()
            stand.expect_equal()


@on_each_release
def test_a_mirror_without_the_catch_up_is_caught_by_the_same_cut(server: Server, place: str) -> None:
    with behind_a_proxy(server, place, ForgetfulMirror) as (proxy, stand):
        proxy.cut()
        stand.wait_down()
        writes_for(stand.writer, 2.0)
        proxy.restore()
        assert not stand.check().is_none


@on_each_release
def test_a_frozen_connection_is_noticed_within_the_session_and_leaves_no_difference(
    server: Server, place: str, times: int
) -> None:
    with behind_a_proxy(server, place) as (proxy, stand):
        for _ in range(times):
            freeze(proxy, stand)
            stand.expect_equal()


def test_cuts_and_frozen_connections_under_tls_and_sasl_leave_no_difference(locked: secured.Locked) -> None:
    identity = Identity("sasl", secured.READER, DIGEST_MD5, locked.tls)
    with locked.chroot() as (chroot, _), Proxy(locked.port) as proxy:
        written, mirrored = locked.server.address + chroot, f"127.0.0.1:{proxy.port}{chroot}"
        with bench(written, mirrored, identity=identity) as stand:
            for _ in range(SECURED_TIMES):
                proxy.cut()
                stand.wait_down()
                writes_for(stand.writer, 1.0)
                proxy.restore()
                stand.expect_equal()
                freeze(proxy, stand)
                stand.expect_equal()


@on_each_release
def test_an_expired_session_leaves_no_difference(server: Server, place: str, times: int) -> None:
    with behind_a_proxy(server, place) as (proxy, stand):
        for _ in range(times):
            before = stand.mirror.session.session_id
            with cut(proxy, stand) as client_id:
                expire(client_id, server.address)
            wait_for(stand.has_session_after(before))
            stand.expect_equal()
        assert any(session.phase is Phase.LOST for session in stand.witness.sessions)


@on_each_release
def test_a_single_server_killed_and_started_again_leaves_no_difference(
    server: Server, place: str, times: int
) -> None:
    with bench(server.address + place, server.address + place) as stand:
        for _ in range(times):
            server.kill()
            stand.wait_down()
            server.start()
            wait_for(lambda: stand.writer.client.connected)
            writes_for(stand.writer, 0.2)
            stand.expect_equal()


@on_each_release
def test_one_of_three_servers_killed_leaves_no_difference(ensemble: Ensemble, times: int) -> None:
    with bench(ensemble.address, ensemble.address) as stand:
        for turn in range(times):
            killed = server_of(ensemble, stand.mirror) if turn % 2 else ensemble.leader()
            killed.kill()
            writes_for(stand.writer, 0.5)
            stand.expect_equal()
            killed.start()
            stand.expect_equal()


def server_of(ensemble: Ensemble, mirror: Mirror) -> Server:
    """The server that the mirror is connected to."""
    return next(s for s in ensemble.servers if s.address == mirror.session.server)


@contextlib.contextmanager
def cut(proxy: Proxy, stand: Bench) -> Iterator[tuple[int, bytes]]:
    """The session's id and password; meanwhile the mirror cannot take it up again."""
    contact = stand.mirror._link._contact
    assert contact is not None
    client_id = contact._client.client_id
    proxy.cut()
    stand.wait_down()
    yield client_id
    proxy.restore()


def expire(client_id: tuple[int, bytes], address: str) -> None:
    """End a session from elsewhere, as ZooKeeper's own tests do."""
    twin = KazooClient(hosts=address, client_id=client_id, timeout=SESSION_S)
    twin.start(timeout=60.0)
    twin.stop()
    twin.close()
