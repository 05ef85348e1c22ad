"""The one writer on a real ZooKeeper: what it writes, what it refuses, what it knows of a lost answer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError
from kazoo.security import CREATOR_ALL_ACL, READ_ACL_UNSAFE, make_digest_acl

from tests.conftest import Chroot
from tests.waiting import wait_for
from tests.zk import everything
from tests.zk.proxy import Proxy
from tests.zk.reader.test_one_shot import config_of
from zkdash.zk.connection.identity import Identity
from zkdash.zk.writing import writer as writing
from zkdash.zk.writing.outcomes import Committed, Fault, Fenced, Op, Refused, Unknown, UnreachedError
from zkdash.zk.writing.writer import Writer
from zkdash.znode import Operation

pytestmark = pytest.mark.zk

MARKER = f"{writing.APPLIED}/1-0"
TRIGGER = Op(Operation.CREATE, "/admin/trigger", b"{}")
COUNTED = Op(Operation.SET, "/admin", b"asked")  # of any version: each one more counts


@contextlib.contextmanager
def taking(address: str, **more: Any) -> Iterator[Writer]:
    with Writer(config_of(address, **more), holder=b"test", connect_limit_s=60) as writer:
        writer.take()
        yield writer


@contextlib.contextmanager
def entitled(address: str) -> Iterator[KazooClient]:
    client = KazooClient(hosts=address, auth_data=[("digest", "me:secret")])
    client.start()
    try:
        yield client
    finally:
        client.stop()
        client.close()


def test_one_multi_writes_all_of_it_with_its_marker_and_tells_the_transaction(chroot: Chroot) -> None:
    client = chroot.client
    for path in ("/a/set", "/a/gone", "/a/checked"):
        client.create(path, b"before", makepath=True)
    ops = [
        Op(Operation.CHECK, "/a/checked", version=0),
        Op(Operation.SET, "/a/set", b"after", 0),
        Op(Operation.DELETE, "/a/gone", version=0),
        Op(Operation.CREATE, "/a/made", None),
        Op(Operation.CREATE, "/a/told_", b"t", sequential=True),
    ]
    with taking(chroot.address) as writer:
        outcome = writer.commit(ops, MARKER)
        again = writer.commit([Op(Operation.SET, "/a/set", b"later", 1)], f"{writing.APPLIED}/1-1")
    data, stat = client.get("/a/set")
    assert (data, stat.version) == (b"later", 2)
    assert outcome == Committed(client.exists(MARKER).czxid)
    assert outcome == Committed(client.exists("/a/made").czxid)
    assert again == Committed(stat.mzxid)
    checked, made, was_set, told = sorted(client.get_children("/a"))
    assert (checked, made, was_set, told[:5]) == ("checked", "made", "set", "told_")
    assert told[5:].isdigit()
    assert client.get("/a/made")[0] == b""


@pytest.mark.parametrize(
    ("op", "fault", "told"),
    [
        (Op(Operation.CREATE, "/a", b""), Fault.EXISTS, "/a is there already."),
        (
            Op(Operation.CREATE, "/b/c", b""),
            Fault.ABSENT,
            "/b/c cannot be created: there is no znode above it.",
        ),
        (Op(Operation.SET, "/a", b"", 7), Fault.VERSION, "/a was changed by somebody else meanwhile."),
        (Op(Operation.SET, "/b", b"", 0), Fault.ABSENT, "/b is no longer there."),
        (Op(Operation.DELETE, "/a", version=7), Fault.VERSION, "/a was changed by somebody else meanwhile."),
        (Op(Operation.DELETE, "/a", version=0), Fault.NOT_EMPTY, "/a has got children."),
        (Op(Operation.CHECK, "/a", version=7), Fault.VERSION, "/a was changed by somebody else meanwhile."),
        (
            Op(Operation.SET, "/a", version=7, edit=lambda _: b""),
            Fault.VERSION,
            "/a was changed by somebody else meanwhile.",
        ),
        (Op(Operation.SET, "/b", version=0, edit=lambda _: b""), Fault.ABSENT, "/b is no longer there."),
    ],
)
def test_what_is_refused_names_the_operation_and_leaves_everything(
    op: Op, fault: Fault, told: str, chroot: Chroot
) -> None:
    chroot.client.create("/a/child", makepath=True)
    chroot.client.create("/first", b"")
    with taking(chroot.address) as writer:
        before = everything.below(chroot.client)
        outcome = writer.commit([Op(Operation.SET, "/first", b"x", 0), op], MARKER)
        assert outcome == Refused(1, fault, told)
        assert everything.below(chroot.client) == before
        # and the writer goes on
        assert isinstance(writer.commit([Op(Operation.SET, "/first", b"x", 0)], MARKER), Committed)


def test_an_edit_is_made_of_the_full_bytes_which_nobody_else_gets(chroot: Chroot) -> None:
    chroot.client.create("/config", b"hunter2")
    with taking(chroot.address) as writer:
        outcome = writer.commit(
            [Op(Operation.SET, "/config", version=0, edit=lambda now: (now or b"") + b"!")], MARKER
        )
    assert isinstance(outcome, Committed)
    assert chroot.client.get("/config")[0] == b"hunter2!"


def test_what_cannot_be_edited_is_refused_with_its_reason(chroot: Chroot) -> None:
    def fail(_now: bytes | None) -> bytes:
        raise ValueError("it is not JSON")

    chroot.client.create("/config", b"x")
    with taking(chroot.address) as writer:
        outcome = writer.commit([Op(Operation.SET, "/config", version=0, edit=fail)], MARKER)
    assert outcome == Refused(0, Fault.OTHER, "/config cannot be edited: it is not JSON.")


def test_a_writer_whose_fence_was_taken_writes_nothing_more(chroot: Chroot) -> None:
    chroot.client.create("/admin")
    with taking(chroot.address) as sleeper:
        with taking(chroot.address) as other:
            assert sleeper.commit([TRIGGER], MARKER) == Fenced()
            assert chroot.client.exists(TRIGGER.path) is None
            assert isinstance(other.commit([TRIGGER], MARKER), Committed)
        with pytest.raises(UnreachedError, match="fence"):
            sleeper.commit([TRIGGER], MARKER)


def test_a_step_whose_marker_is_there_is_never_written_again(chroot: Chroot) -> None:
    chroot.client.create("/admin")
    with taking(chroot.address) as writer:
        first = writer.commit([TRIGGER], MARKER)
        chroot.client.delete(TRIGGER.path)  # as a controller does
        assert writer.commit([TRIGGER], MARKER) == first
        assert chroot.client.exists(TRIGGER.path) is None


def test_a_lost_answer_is_unknown_and_its_marker_tells_that_it_was_applied(chroot: Chroot) -> None:
    chroot.client.create("/admin")
    with (
        Proxy(chroot.server.port) as proxy,
        taking(f"127.0.0.1:{proxy.port}{chroot.path}", session_timeout_s=1.0) as writer,
    ):
        proxy.freeze(requests=False)
        assert isinstance(writer.commit([COUNTED], MARKER), Unknown)
        found = writer.look(MARKER)
        assert found == chroot.client.exists(MARKER).czxid
        assert writer.commit([COUNTED], MARKER) == Committed(found)
        assert chroot.client.exists("/admin").version == 1


def test_a_write_that_was_held_up_on_its_way_fails_once_somebody_has_looked(chroot: Chroot) -> None:
    """Its session may still live when it arrives after all: the fence keeps it out."""
    chroot.client.create("/admin")
    with (
        Proxy(chroot.server.port) as proxy,
        taking(chroot.address) as other,
        taking(f"127.0.0.1:{proxy.port}{chroot.path}", session_timeout_s=4.0) as late,
    ):
        proxy.freeze()
        assert isinstance(late.commit([COUNTED], MARKER), Unknown)
        assert other.look(MARKER) is None
        assert MARKER.encode() not in proxy.sent[0]
        proxy.restore()
        wait_for(lambda: MARKER.encode() in proxy.sent[0])
        chroot.client.sync("/")
        assert isinstance(other.commit([Op(Operation.CREATE, "/admin/x")], MARKER), Committed)
        assert chroot.client.exists("/admin").version == 0


def test_who_cannot_be_reached_is_told_and_nothing_was_sent(chroot: Chroot) -> None:
    with Proxy(chroot.server.port) as proxy:
        address = f"127.0.0.1:{proxy.port}{chroot.path}"
        proxy.cut()
        with (
            Writer(config_of(address), connect_limit_s=0.3) as writer,
            pytest.raises(UnreachedError) as caught,
        ):
            writer.take()
    assert f"No ZooKeeper at {address} takes a write" in str(caught.value)
    with Writer(config_of(chroot.address + "/nowhere"), connect_limit_s=60) as writer:  # noqa: SIM117
        with pytest.raises(UnreachedError, match="has no znode"):
            writer.take()


def test_our_own_znodes_are_for_this_identity_alone_to_write_and_for_all_to_read(chroot: Chroot) -> None:
    with taking(chroot.address, reading=Identity("digest", "me:secret")) as writer:
        chroot.client.create("/admin")
        assert isinstance(writer.commit([TRIGGER], MARKER), Committed)
        for path in (writing.HOME, writing.APPLIED, writing.FENCE, MARKER):
            acls, _ = chroot.client.get_acls(path)
            assert {(acl.perms, acl.id.scheme) for acl in acls} == {(31, "digest"), (1, "world")}
            with pytest.raises(NoAuthError):
                chroot.client.set(path, b"x")
        with pytest.raises(NoAuthError):
            chroot.client.delete(MARKER)
        writer.reap([MARKER, f"{writing.APPLIED}/9-9"])
        assert chroot.client.get_children(writing.APPLIED) == []
    with entitled(chroot.address) as client:
        client.delete(writing.HOME, recursive=True)


def test_without_an_identity_our_own_znodes_are_open(chroot: Chroot) -> None:
    with taking(chroot.address):
        acls, _ = chroot.client.get_acls(writing.FENCE)
    assert [(acl.perms, acl.id.scheme) for acl in acls] == [(31, "world")]


def test_what_is_created_has_the_acl_of_its_directory_so_that_brokers_go_on_with_it(chroot: Chroot) -> None:
    brokers = [make_digest_acl("kafka", "k", all=True), *READ_ACL_UNSAFE]
    ours = make_digest_acl("me", "secret", create=True, delete=True, admin=True)
    chroot.client.create("/topics", b"", acl=[*brokers, ours])
    with taking(chroot.address, reading=Identity("digest", "me:secret")) as writer:
        ops = [Op(Operation.CREATE, "/topics/t", b"{}"), Op(Operation.CREATE, "/topics/t/partitions")]
        assert isinstance(writer.commit(ops, MARKER), Committed)
    with entitled(chroot.address) as client:
        for path in ("/topics/t", "/topics/t/partitions"):
            assert client.get_acls(path)[0] == [*brokers, ours]
        client.delete("/topics", recursive=True)
        client.delete(writing.HOME, recursive=True)


def test_an_acl_that_is_not_told_whole_is_not_copied(chroot: Chroot) -> None:
    acl = [make_digest_acl("kafka", "k", all=True), *READ_ACL_UNSAFE]
    acl.append(make_digest_acl("me", "secret", create=True))  # but not ADMIN
    chroot.client.create("/topics", b"", acl=acl)
    with taking(chroot.address, reading=Identity("digest", "me:secret")) as writer:
        outcome = writer.commit([Op(Operation.CREATE, "/topics/t", b"{}")], MARKER)
    assert isinstance(outcome, Refused)
    assert (outcome.at, outcome.fault) == (0, Fault.NO_AUTH)
    assert outcome.sentence.startswith("/topics/t is not created: the ACL of /topics")
    chroot.client.delete("/topics")
    with entitled(chroot.address) as client:
        client.delete(writing.HOME, recursive=True)


def test_where_no_marks_are_allowed_there_is_neither_fence_nor_marker(chroot: Chroot) -> None:
    chroot.client.create("/admin")
    with taking(chroot.address, markers=False) as writer:
        assert writer.commit([TRIGGER], None) == Committed(None)
        assert isinstance(writer.commit([Op(Operation.SET, "/admin", b"x", 0)], None), Committed)
    assert sorted(chroot.client.get_children("/")) == ["admin"]


def test_a_chroot_that_refuses_our_home_is_told(chroot: Chroot) -> None:
    chroot.client.create("/k", b"", acl=READ_ACL_UNSAFE)
    with Writer(config_of(chroot.address + "/k"), connect_limit_s=60) as writer:  # noqa: SIM117
        with pytest.raises(UnreachedError, match="markers = false"):
            writer.take()


def test_the_acl_of_a_creator_is_kazoos_word_for_whoever_signed_in() -> None:
    assert [(acl.perms, acl.id.scheme) for acl in CREATOR_ALL_ACL] == [(31, "auth")]
