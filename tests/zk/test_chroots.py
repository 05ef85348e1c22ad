"""At every chroot the mirror sees its own znodes, none of a sibling's; a wrong chroot is no empty cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kazoo.client import KazooClient

from tests.lab import zookeeper
from tests.waiting import wait_for
from tests.zk import witness
from zkdash.demo.zookeeper.server import Server
from zkdash.zk.connection.session import Phase

pytestmark = [
    pytest.mark.zk,
    pytest.mark.usefixtures("brisk"),
    pytest.mark.parametrize("zookeeper_release", zookeeper.RELEASES, indirect=True, scope="session"),
]

ROOTS = ("/brokers", "/controller", "/")


@pytest.fixture(scope="module")
def server(zookeeper_release: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    classpath = zookeeper.classpath(zookeeper_release)
    with Server(tmp_path_factory.mktemp("chroots"), tick_time_ms=200, classpath=classpath) as running:
        yield running


@pytest.fixture
def root(server: Server) -> Iterator[KazooClient]:
    client = KazooClient(hosts=server.address)
    client.start(timeout=60.0)
    yield client
    for name in client.get_children("/"):
        if name != "zookeeper":
            client.delete(f"/{name}", recursive=True)
    client.stop()
    client.close()


@pytest.mark.parametrize("chroot", ["", "/a", "/a/b"])
@pytest.mark.parametrize("roots", [("/brokers", "/controller"), ("/",)])
def test_it_mirrors_its_own_chroot_and_no_sibling(
    server: Server, root: KazooClient, chroot: str, roots: tuple[str, ...]
) -> None:
    for place in ("", "/a", "/ab", "/a/b", "/a/bc"):
        root.create(f"{place}/brokers/topics/before", place.encode(), makepath=True)
    with witness.mirroring(server.address + chroot, roots) as (mirror, seen):
        witness.wait_live(mirror)
        for place in ("", "/a", "/ab", "/a/b", "/a/bc"):
            root.create(f"{place}/brokers/topics/after", place.encode())
            root.create(f"{place}/controller", place.encode())
            root.set(f"{place}/brokers/topics/before", place.encode() + b"!")
        root.delete(f"{chroot}/brokers/topics/before")
        witness.wait_proved(mirror, delay_s=0.0)
        client = KazooClient(hosts=server.address + chroot)
        client.start(timeout=60.0)
        expected = witness.walk(client, roots)
        client.stop()
        client.close()
        ours = {path: value for path, value in seen.seen().items() if not path.startswith("/zookeeper")}
        expected = {path: value for path, value in expected.items() if not path.startswith("/zookeeper")}
    assert ours == expected
    assert ours["/brokers/topics/after"][0] == chroot.encode()
    assert "/brokers/topics/before" not in ours


def test_a_wrong_chroot_is_told_and_found_once_it_appears(server: Server, root: KazooClient) -> None:
    with witness.mirroring(server.address + "/late/kafka", ("/brokers",)) as (mirror, seen):
        session = witness.wait_phase(mirror, Phase.REFUSED)
        assert "has no znode /late/kafka" in session.sentence
        assert server.address in session.sentence
        assert not seen.batches
        root.create("/late/kafka/brokers", b"now", makepath=True)
        witness.wait_live(mirror)
        assert mirror.session.sentence == ""
        assert seen.seen()["/brokers"][0] == b"now"


def test_an_empty_cluster_is_live_and_empty(server: Server, root: KazooClient) -> None:
    root.create("/empty")
    with witness.mirroring(server.address + "/empty", ("/brokers", "/consumers")) as (mirror, seen):
        witness.wait_live(mirror)
        assert [(dict(b.changed), b.whole, b.settling) for b in seen.batches] == [({}, True, False)]


def test_a_chroot_that_goes_is_told_and_found_again(server: Server, root: KazooClient) -> None:
    root.create("/gone/brokers/topics", makepath=True)
    with witness.mirroring(server.address + "/gone", ("/brokers",)) as (mirror, seen):
        witness.wait_live(mirror)
        root.delete("/gone", recursive=True)
        witness.wait_phase(mirror, Phase.REFUSED)
        wait_for(lambda: not seen.seen())
        root.create("/gone/brokers/topics", makepath=True)
        witness.wait_live(mirror)
        witness.wait_sees(seen, lambda state: state.keys() == {"/brokers", "/brokers/topics"})
