"""What cannot work is told in a sentence, is tried again, and harms nothing."""

from __future__ import annotations

import resource
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from kazoo.client import KazooClient

from tests.conftest import Chroot
from tests.waiting import wait_for
from tests.zk import fake, witness
from tests.zk.proxy import Proxy
from zkdash.demo.runtime import ports
from zkdash.demo.zookeeper.server import Server
from zkdash.zk.config import ClusterConfig, parse_address
from zkdash.zk.connection.session import Phase
from zkdash.zk.mirror.mirror import Mirror
from zkdash.zk.wire import jute

pytestmark = [pytest.mark.zk, pytest.mark.usefixtures("brisk")]

ROOTS = ("/brokers",)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (fake.says(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "does not speak ZooKeeper's protocol"),
        (fake.says(struct.pack("!i", 2**31 - 1)), "does not speak ZooKeeper's protocol"),
        (fake.says(struct.pack("!i", -5)), "does not speak ZooKeeper's protocol"),
        (fake.says(struct.pack("!i", 3) + b"abc"), "does not speak ZooKeeper's protocol"),
        (fake.closes, "closes the connection"),
        (fake.is_silent, "does not answer"),
        (fake.announces_two_gib_after_the_handshake, "2147483647 bytes"),
    ],
    ids=["http", "2 GiB", "negative", "short", "closes", "silent", "2 GiB later"],
)
def test_a_server_that_is_no_zookeeper_is_told_and_costs_no_memory(answer: fake.Answer, told: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with (
        fake.serving(answer) as port,
        witness.mirroring(f"127.0.0.1:{port}", ROOTS) as (mirror, _),
    ):
        wait_for(lambda: told in mirror.session.sentence, 60, lambda: mirror.session)
        assert f"127.0.0.1:{port}" in mirror.session.sentence
        assert mirror.session.phase in {Phase.CONNECTING, Phase.SUSPENDED, Phase.LOST}
        assert mirror.proved_at is None
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 100 * 1024


def test_an_address_where_nothing_listens_is_told_and_later_it_comes(
    own_server: Callable[..., Server],
) -> None:
    (port,) = ports.free()
    with witness.mirroring(f"127.0.0.1:{port}", ROOTS) as (mirror, _):
        session = wait_for(lambda: mirror.session if mirror.session.sentence else None)
        assert session.phase is Phase.CONNECTING
        assert f"127.0.0.1:{port} can't be reached (Connection refused)" in session.sentence
        own_server(port=port)
        witness.wait_live(mirror)
        assert mirror.session.sentence == ""


def test_a_name_that_does_not_resolve_is_told_beside_a_server_that_refuses() -> None:
    (port,) = ports.free()
    address = f"no-such-host.invalid:2181,127.0.0.1:{port}"
    with witness.mirroring(address, ROOTS) as (mirror, _):
        wait_for(
            lambda: (
                "the name of no-such-host.invalid:2181 can't be resolved" in mirror.session.sentence
                and f"127.0.0.1:{port} can't be reached" in mirror.session.sentence
            ),
            60.0,
            lambda: mirror.session,
        )


def test_a_server_that_names_one_unresolvable_neighbour_is_mirrored(chroot: Chroot) -> None:
    address = chroot.address.replace("127.0.0.1", "no-such-host.invalid:2181,127.0.0.1", 1)
    with witness.mirroring(address, ROOTS) as (mirror, _):
        witness.wait_live(mirror)


def test_a_server_that_lacks_what_its_probe_had_is_asked_once_and_mirrored_all_the_same() -> None:
    """Behind one address there may be several servers, of which the probe met another."""
    asked: list[int] = []
    with (
        fake.serving(fake.knows_less_than_it_says(asked)) as port,
        witness.mirroring(f"127.0.0.1:{port}", ROOTS) as (mirror, seen),
    ):
        witness.wait_live(mirror)
        assert asked.count(jute.ADD_WATCH) == 1
        assert jute.MULTI_READ not in asked
        assert not seen.seen()


def test_an_authentication_that_fails_is_told_and_tried_again(chroot: Chroot) -> None:
    address = chroot.address
    with witness.mirroring(address, ROOTS, auth=("nosuchscheme", "me:secret")) as (mirror, _):
        session = witness.wait_phase(mirror, Phase.REFUSED)
        assert "'nosuchscheme'" in session.sentence
        assert "secret" not in session.sentence
        first = mirror._link._number
        wait_for(lambda: mirror._link._number > first)


def test_a_load_waits_for_the_jitter_only_after_a_lost_session(own_server: Callable[..., Server]) -> None:
    server = own_server()
    asked: list[tuple[float, float]] = []

    def jitter(low: float, high: float) -> float:
        asked.append((low, high))
        return 0.1

    servers, _ = parse_address(server.address)
    config = ClusterConfig("test", servers, session_timeout_s=1.0)
    seen = witness.Witness()
    mirror = Mirror(config, roots=ROOTS, sink=seen, jitter=jitter)
    mirror.start()
    try:
        witness.wait_live(mirror)
        assert not asked
        server.kill()
        witness.wait_phase(mirror, Phase.LOST)
        assert (0.0, 2.0) in asked
        server.start()
        witness.wait_live(mirror)
    finally:
        mirror.stop()


def test_a_zookeeper_that_was_wiped_is_taken_as_it_is(
    own_server: Callable[..., Server], tmp_path: Path
) -> None:
    """A server refuses whoever saw a later transaction; that must not last for ever."""
    old = own_server(tmp_path / "old")
    with Proxy(old.port) as first:
        port = first.port
        with witness.mirroring(f"127.0.0.1:{port}", ROOTS, session_timeout_s=1.0) as (mirror, seen):
            client = open_client(old.address)
            client.ensure_path("/brokers/topics/gone")
            for number in range(50):
                client.set("/brokers/topics/gone", b"%d" % number)
            close_client(client)
            witness.wait_proved(mirror)
            first.cut()
            old.stop()
            new = own_server(tmp_path / "new")
            client = open_client(new.address)
            client.ensure_path("/brokers/topics/new")
            second = Proxy(new.port, port=port)
            with second:
                wait_for(lambda: mirror.session.phase is Phase.LIVE, 60, lambda: mirror.session)
                witness.wait_proved(mirror)
                assert seen.get("/brokers/topics/gone") is None
                assert witness.difference(seen.seen(), witness.walk(client, ROOTS)).is_none
            close_client(client)


def test_a_server_that_is_behind_is_not_taken(own_server: Callable[..., Server], tmp_path: Path) -> None:
    """While the others are away it is the only one that there is, and knows only what was before."""
    long = {"maxSessionTimeout": "120000"}  # in which no other server is taken, whatever it knows
    ahead = own_server(tmp_path / "ahead", config=long)
    client = open_client(ahead.address)
    client.create("/brokers", b"before")
    close_client(client)
    ahead.stop()
    shutil.copytree(tmp_path / "ahead", tmp_path / "behind")
    ahead.start()
    behind = own_server(tmp_path / "behind", config=long)
    with Proxy(ahead.port) as first, Proxy(behind.port) as second:
        second.cut()
        address = f"127.0.0.1:{first.port},127.0.0.1:{second.port}"
        with witness.mirroring(address, ROOTS, session_timeout_s=120.0) as (mirror, seen):
            client = open_client(ahead.address)
            client.set("/brokers", b"after")
            witness.wait_proved(mirror)
            first.cut()
            second.restore()
            wait_for(lambda: len(second.sent) > 2 or seen.faults, 60.0, lambda: mirror.session)
            assert not seen.faults
            first.restore()
            client.set("/brokers", b"last")
            witness.wait_proved(mirror)
            assert not seen.faults
            assert witness.difference(seen.seen(), witness.walk(client, ROOTS)).is_none
            close_client(client)


def open_client(address: str) -> KazooClient:
    client = KazooClient(hosts=address)
    client.start(timeout=60.0)
    return client


def close_client(client: KazooClient) -> None:
    client.stop()
    client.close()
