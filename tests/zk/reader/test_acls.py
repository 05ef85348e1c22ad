"""ACLs as they are read on the mirror's session, against a real ZooKeeper."""

from __future__ import annotations

import contextlib
import queue
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kazoo.security import ACL, Id, make_digest_acl

from tests.conftest import Chroot
from tests.waiting import wait_for
from tests.zk import witness
from tests.zk.proxy import Proxy
from zkdash.zk.config import ClusterConfig, parse_address
from zkdash.zk.ensemble.poller import Poller
from zkdash.zk.mirror.mirror import Mirror
from zkdash.zk.reader import acls
from zkdash.zk.wire import jute, stream
from zkdash.zk.wire.side_requests import Question, SideRequests
from zkdash.znode import Acl, Unreadable

ROOTS = ("/brokers",)
WORLD = Acl(31, "world", "anyone")
STAT = bytes(struct.calcsize("!qqqqiiiqiiq"))


@contextlib.contextmanager
def live(address: str, session_timeout_s: float = 2.0) -> Iterator[tuple[Mirror, ClusterConfig]]:
    with witness.mirroring(address, ROOTS, session_timeout_s=session_timeout_s) as (mirror, _):
        witness.wait_live(mirror)
        yield mirror, ClusterConfig("c", *parse_address(address))


@pytest.mark.zk
def test_acls_are_told_by_path_without_the_hash_of_a_digest(chroot: Chroot) -> None:
    chroot.client.create("/brokers")
    chroot.client.create(
        "/brokers/ids", acl=[ACL(1, Id("world", "anyone")), make_digest_acl("kafka", "s3cret", all=True)]
    )
    chroot.client.create("/config", acl=[ACL(31, Id("ip", "127.0.0.1"))])
    with live(chroot.address) as (mirror, config):
        found = acls.read(mirror.aside, config.chroot, ("/brokers", "/brokers/ids", "/config", "/absent"))
    assert found == {
        "/brokers": (WORLD,),
        "/brokers/ids": (Acl(1, "world", "anyone"), Acl(31, "digest", "kafka")),
        "/config": (Acl(31, "ip", "127.0.0.1"),),
    }


@pytest.mark.zk
def test_an_acl_that_may_not_be_seen_is_unreadable_with_the_way_out(chroot: Chroot) -> None:
    chroot.client.create("/brokers")
    chroot.client.create("/config", acl=[make_digest_acl("kafka", "s3cret", all=True)])
    with live(chroot.address) as (mirror, config):
        found = acls.read(mirror.aside, config.chroot, ("/brokers", "/config"))
    chroot.client.delete("/config")  # which the fixture may not list
    assert found is not None
    assert found["/brokers"] == (WORLD,)
    refused = found["/config"]
    assert isinstance(refused, Unreadable)
    assert "ACL of /config" in refused.reason
    assert "auth_scheme" in refused.reason


@pytest.mark.zk
def test_acls_are_read_every_minute_and_after_a_silence_sooner(chroot: Chroot) -> None:
    chroot.client.create("/brokers")
    now = 0.0
    with live(chroot.address) as (mirror, config):
        poller = Poller(config, mirror.aside, secured=("/brokers", "/config"), clock=lambda: now)
        poller.turn()
        assert poller.acls == {"/brokers": (WORLD,)}
        chroot.client.create("/config")
        known = poller.acls
        now = 59.0
        poller.turn()
        assert poller.acls is known
        now = 60.0
        poller.turn()
        assert poller.acls == {"/brokers": (WORLD,), "/config": (WORLD,)}
        known = poller.acls
    now = 120.0
    poller.turn()
    assert poller.acls is known, "what was read last stays while ZooKeeper is away"
    with live(chroot.address) as (mirror, config):
        poller._aside = mirror.aside
        chroot.client.delete("/config")
        now = 122.0
        poller.turn()
        assert poller.acls == {"/brokers": (WORLD,)}


@pytest.mark.zk
def test_what_is_asked_beside_the_mirror_leaves_the_mirror_as_it_was(chroot: Chroot) -> None:
    chroot.client.create("/brokers")
    with witness.mirroring(chroot.address, ROOTS) as (mirror, seen):
        witness.wait_live(mirror)
        before = mirror.aside.carried
        for number in range(20):
            chroot.client.create(f"/brokers/{number}")
            assert acls.read(mirror.aside, chroot.path, ("/brokers",)) == {"/brokers": (WORLD,)}
        witness.wait_sees(seen, lambda state: "/brokers/19" in state)
        carried = mirror.aside.carried
        assert seen.seen() == witness.walk(chroot.client, ROOTS)
        assert seen.faults == []
    assert carried.requests - before.requests >= 21
    assert carried.events - before.events >= 20
    assert carried.received > before.received + 20 * len("/brokers/1")


@pytest.mark.zk
def test_who_waits_is_told_at_once_when_the_connection_ends(chroot: Chroot) -> None:
    chroot.client.create("/brokers")
    with (
        Proxy(chroot.server.port) as proxy,
        live(f"127.0.0.1:{proxy.port}{chroot.path}", session_timeout_s=20.0) as (mirror, _),
    ):
        proxy.freeze(requests=False)
        question = Question(jute.GET_ACL, jute.get_acl(f"{chroot.path}/brokers".encode()))
        with ThreadPoolExecutor(1) as threads:
            asking = threads.submit(mirror.aside.ask, [question], limit_s=60)
            asked = struct.pack("!i", question.opcode) + question.body
            wait_for(lambda: any(asked in sent for sent in proxy.sent))
            proxy.cut()
            assert asking.result(timeout=60) is None
        assert acls.read(mirror.aside, chroot.path, ("/brokers",)) is None
        proxy.restore()
        wait_for(lambda: acls.read(mirror.aside, chroot.path, ("/brokers",)) == {"/brokers": (WORLD,)})


def test_nothing_that_writes_can_be_asked() -> None:
    aside = SideRequests(lambda _entry: None)
    aside.through(lambda *_: None)
    aside.put((1, [stream.Connected(1, "zk:2181", ("127.0.0.1", 2181), 1, 10.0, "zk")]))
    with pytest.raises(ValueError, match="only what reads"):
        aside.ask([Question(2, b"")])


def test_an_answer_that_comes_too_late_is_nobodys() -> None:
    handed: list[Any] = []
    sent: list[Any] = []
    aside = SideRequests(handed.append)
    aside.through(lambda _opcode, _body, token: sent.append(token))
    aside.put((1, [stream.Connected(1, "zk:2181", ("127.0.0.1", 2181), 1, 10.0, "zk")]))
    question = Question(jute.GET_ACL, b"")
    assert aside.ask([question], limit_s=0.01) is None
    late, own = stream.Reply(1, sent[0], 1, 0, b"late"), stream.Reply(1, object(), 1, 0, b"own")
    aside.through(
        lambda _opcode, _body, token: aside.put((1, [late, own, stream.Reply(1, token, 1, 0, b"due")]))
    )
    answers = aside.ask([question])
    assert answers is not None
    assert [answer.body for answer in answers] == [b"due"]
    assert [items for _, items in handed[1:]] == [[own]]


def test_many_may_ask_at_once_and_each_gets_its_own_answers() -> None:
    asked: queue.SimpleQueue[Any] = queue.SimpleQueue()
    aside = SideRequests(lambda _entry: None)
    aside.through(lambda _opcode, body, token: asked.put((body, token)))
    aside.put((1, [stream.Connected(1, "zk:2181", ("127.0.0.1", 2181), 1, 10.0, "zk")]))

    def ask(name: bytes) -> list[bytes] | None:
        answers = aside.ask([Question(jute.EXISTS, name + b"0"), Question(jute.EXISTS, name + b"1")])
        return None if answers is None else [answer.body for answer in answers]

    with ThreadPoolExecutor(4) as threads:
        asking = [threads.submit(ask, name) for name in (b"a", b"b", b"c", b"d")]
        for body, token in reversed([asked.get(timeout=60) for _ in range(8)]):
            aside.put((1, [stream.Reply(1, token, 1, 0, body)]))
        assert [one.result() for one in asking] == [
            [b"a0", b"a1"],
            [b"b0", b"b1"],
            [b"c0", b"c1"],
            [b"d0", b"d1"],
        ]


def test_the_end_of_a_connection_that_was_given_up_is_no_end_of_the_next() -> None:
    aside = SideRequests(lambda _entry: None)
    aside.through(lambda _opcode, _body, token: aside.put((2, [stream.Reply(1, token, 1, 0, b"")])))
    for number in (1, 2):
        aside.put((number, [stream.Connected(1, "zk:2181", ("127.0.0.1", 2181), 1, 10.0, "zk")]))
    aside.put((1, [stream.Ended()]))
    assert aside.ask([Question(jute.GET_ACL, b"")]) is not None
    aside.put((2, [stream.Ended()]))
    assert aside.ask([Question(jute.GET_ACL, b"")]) is None


@given(st.binary(max_size=200))
def test_no_answer_to_get_acl_does_more_than_be_refused(body: bytes) -> None:
    for answer in (body, struct.pack("!i", 1) + body + STAT, struct.pack("!i", 2**31 - 1) + body):
        with contextlib.suppress(jute.MalformedError):
            assert all(isinstance(one, Acl) for one in jute.read_acl(answer))


def test_a_client_without_a_digest_keeps_its_colons() -> None:
    def text(value: str) -> bytes:
        return struct.pack("!i", len(value)) + value.encode()

    body = struct.pack("!ii", 3, 31) + text("x509") + text("CN=a:b") + struct.pack("!i", 31) + text("digest")
    body += text("kafka:aGFzaA==") + struct.pack("!i", 1) + text("sasl") + struct.pack("!i", -1) + STAT
    assert jute.read_acl(body) == (
        Acl(31, "x509", "CN=a:b"),
        Acl(31, "digest", "kafka"),
        Acl(1, "sasl", ""),
    )
