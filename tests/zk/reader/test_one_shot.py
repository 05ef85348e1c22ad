"""Reading some znodes once: on a real ZooKeeper, and from servers that are none."""

from __future__ import annotations

import re
import time

import pytest
from kazoo.security import make_digest_acl

from tests.conftest import Chroot
from tests.lab import zookeeper
from tests.zk import fake, witness
from tests.zk.proxy import Proxy
from zkdash.demo.runtime import ports
from zkdash.zk.config import ClusterConfig, parse_address
from zkdash.zk.connection.identity import Identity
from zkdash.zk.reader import one_shot
from zkdash.zk.reader.one_shot import OneShotError, OneShotReader
from zkdash.zk.wire import jute
from zkdash.znode import Unreadable, Znode

pytestmark = pytest.mark.zk
on_each_release = pytest.mark.parametrize(
    "zookeeper_release", zookeeper.RELEASES, indirect=True, scope="session"
)

ROOTS = ("/brokers", "/config", "/controller")
LIMIT_S = 60.0


def config_of(address: str, **more: object) -> ClusterConfig:
    servers, chroot = parse_address(address)
    return ClusterConfig("test", servers, chroot, **{"session_timeout_s": 2.0} | more)  # type: ignore[arg-type]


@on_each_release
def test_what_is_asked_for_is_read_and_what_is_absent_is_left_out(chroot: Chroot) -> None:
    chroot.client.create("/config/topics/t", b"{}", makepath=True)
    for number in range(40):
        chroot.client.create(f"/brokers/topics/t{number}/partitions/0/state", b"x", makepath=True)
    found = one_shot.read(
        config_of(chroot.address), ("/controller", "/config/topics/t", "/a\ud800b", "//"), ("/brokers",)
    )
    below = {path for path in found if path.startswith("/brokers")}
    assert below == witness.walk(chroot.client, ["/brokers"]).keys()
    assert found.keys() - below == {"/config/topics/t"}
    read = found["/config/topics/t"]
    assert isinstance(read, Znode)
    assert (read.data, read.version) == (b"{}", 0)


@on_each_release
def test_a_whole_cluster_is_one_batch_as_of_a_transaction(chroot: Chroot) -> None:
    chroot.client.create("/brokers/ids/1", b"{}", makepath=True)
    with OneShotReader(config_of(chroot.address)) as asker:
        first = asker.load(ROOTS)
        assert first.whole
        assert not first.settling
        assert set(first.changed) == {"/brokers", "/brokers/ids", "/brokers/ids/1"}
        chroot.client.create("/controller", b"{}")
        second = asker.load(ROOTS)
        assert second.changed.keys() - first.changed.keys() == {"/controller"}
        assert second.zxid > first.zxid


@on_each_release
def test_what_lies_right_below_a_path_is_read_without_what_lies_deeper(chroot: Chroot) -> None:
    for number in range(40):
        chroot.client.create(f"/brokers/topics/t{number}/partitions/0", b"x", makepath=True)
    with OneShotReader(config_of(chroot.address)) as asker:
        found = asker.read(("/brokers",), children=("/brokers/topics", "/controller"))
    assert found.keys() == {"/brokers", *(f"/brokers/topics/t{number}" for number in range(40))}


@on_each_release
def test_secrets_are_masked_and_what_an_acl_refuses_is_unreadable(chroot: Chroot) -> None:
    chroot.client.create(
        "/config/brokers/1", b'{"version":1,"config":{"ssl.keystore.password":"hunter2"}}', makepath=True
    )
    chroot.client.create("/brokers", b"x", acl=[make_digest_acl("me", "secret", all=True)])
    config = config_of(chroot.address)
    found = one_shot.read(config, ("/brokers",), ("/config",))
    assert isinstance(found["/brokers"], Unreadable)
    hidden = found["/config/brokers/1"]
    assert isinstance(hidden, Znode)
    assert b"hunter2" not in bytes(hidden)
    entitled = config_of(chroot.address, reading=Identity("digest", "me:secret"))
    assert isinstance(one_shot.read(entitled, ("/brokers",))["/brokers"], Znode)
    chroot.client.delete("/brokers")  # which is the parent's to allow


@on_each_release
def test_a_chroot_that_is_not_there_is_told_in_a_sentence(chroot: Chroot) -> None:
    with pytest.raises(OneShotError, match=r"has no znode /.*/nowhere"):
        one_shot.read(config_of(chroot.address + "/nowhere"), ("/brokers",))


@on_each_release
def test_a_reading_goes_on_after_a_cut(chroot: Chroot) -> None:
    chroot.client.create("/brokers", b"1")
    with Proxy(chroot.server.port) as proxy:
        proxy.restore()
        with OneShotReader(config_of(f"127.0.0.1:{proxy.port}{chroot.path}")) as asker:
            before = asker.read(("/brokers",))
            proxy.cut()
            proxy.restore()
            chroot.client.set("/brokers", b"2")
            after = asker.read(("/brokers",))
    assert [one["/brokers"].data for one in (before, after)] == [b"1", b"2"]  # type: ignore[union-attr]


def refusal(config: ClusterConfig) -> str:
    """Why nothing can be read. The time is over as soon as there is a reason."""

    def clock() -> float:
        return time.monotonic() + (LIMIT_S if asker._reasons else 0.0)

    asker = OneShotReader(config, clock=clock)
    with asker, pytest.raises(OneShotError) as caught:
        asker.read(("/brokers",), limit_s=LIMIT_S)
    return str(caught.value)


def test_who_does_not_answer_is_given_up_within_the_limit_and_named() -> None:
    address = f"127.0.0.1:{ports.free()[0]}"
    began = time.monotonic()
    assert re.search(f"No ZooKeeper.*{address}", refusal(config_of(address)))
    assert time.monotonic() - began < 30  # without a limit it would ask for ever


def test_a_server_that_is_no_zookeeper_is_named() -> None:
    with fake.serving(lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as port:
        assert "does not speak ZooKeeper's protocol" in refusal(config_of(f"127.0.0.1:{port}"))


def test_a_server_that_lacks_what_its_probe_had_is_asked_once_and_read_all_the_same() -> None:
    asked: list[int] = []
    with (
        fake.serving(fake.knows_less_than_it_says(asked)) as port,
        OneShotReader(config_of(f"127.0.0.1:{port}")) as asker,
    ):
        assert asker.read(("/brokers",)) == {}
    assert asked.count(jute.MULTI_READ) == 1
