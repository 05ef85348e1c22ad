"""A real ZooKeeper with TLS, certificates and SASL: reading, writing, and each way in which it goes wrong."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from kazoo import security
from kazoo.protocol.states import KeeperState

from tests.conftest import Chroot
from tests.waiting import wait_for
from tests.zk import fake, secured, witness
from tests.zk.certificates import Authority, Pem
from tests.zk.ensemble.test_four_letter_words import HANDSHAKE_LIMIT_S
from tests.zk.proxy import Proxy
from tests.zk.reader.test_one_shot import refusal
from zkdash.configuration.clusters import DIGEST_MD5
from zkdash.configuration.secrets import Source
from zkdash.tls import Tls
from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.identity import Identity, Sealed
from zkdash.zk.connection.session import Phase
from zkdash.zk.mirror.mirror import Mirror
from zkdash.zk.reader import one_shot
from zkdash.zk.wire import dialling
from zkdash.zk.writing.outcomes import Committed, Fault, Op, Refused, UnreachedError
from zkdash.zk.writing.writer import Writer
from zkdash.znode import Operation, Unreadable, Znode

pytestmark = pytest.mark.zk

ROOTS = ("/brokers",)
LARGE = 1_000_000
TWO_GIB = fake.announces_two_gib_after_the_handshake


class Watched(NamedTuple):
    mirror: Mirror
    seen: witness.Witness


@contextlib.contextmanager
def mirroring(config: ClusterConfig) -> Iterator[Watched]:
    seen = witness.Witness()
    mirror = Mirror(config, roots=ROOTS, sink=seen, jitter=witness.no_jitter)
    mirror.start()
    try:
        yield Watched(mirror, seen)
    finally:
        mirror.stop()


def identities(locked: secured.Locked) -> dict[str, Identity]:
    """Everybody who may come."""
    mine = locked.authority.issue("me", password="k-ey-canary")
    shown = Tls(str(locked.authority.ca), str(mine.cert), str(mine.key), "k-ey-canary")
    return {
        "nobody": Identity(tls=locked.tls),
        "digest": Identity("digest", "me:secret", tls=locked.tls),
        "sasl": sasl(secured.READER, locked.tls),
        "sasl without TLS": sasl(secured.READER, None),
        "x509": Identity("x509", tls=shown),
    }


def sasl(credential: str, tls: Tls | None) -> Identity:
    return Identity("sasl", credential, DIGEST_MD5, tls)


@pytest.mark.parametrize("who", ["nobody", "digest", "sasl", "sasl without TLS", "x509"])
def test_a_mirror_lives_and_a_writer_writes(locked: secured.Locked, who: str) -> None:
    identity = identities(locked)[who]
    with locked.chroot() as (path, client):
        client.create("/brokers/topics", b"x" * LARGE, makepath=True)
        config = locked.config(identity, (locked.address if identity.tls else locked.server.address) + path)
        with mirroring(config) as (mirror, seen):
            witness.wait_live(mirror)
            assert mirror.session.zookeeper_version == "3.9.5"
            with Writer(config) as writer:
                writer.take()
                op = Op(Operation.CREATE, "/brokers/topics/t", b"y" * LARGE)
                assert isinstance(writer.commit([op], "/zkdash/applied/1-0"), Committed)
            witness.wait_sees(seen, lambda state: "/brokers/topics/t" in state)
        assert {one: len(data or b"") for one, (data, _) in seen.seen().items()} == {
            "/brokers": 0,
            "/brokers/topics": LARGE,
            "/brokers/topics/t": LARGE,
        }
        ours, _ = client.get_acls("/zkdash/applied")
        assert (
            owner(ours[0])
            == {
                "nobody": ("world", "anyone"),
                "digest": ("digest", "me:x"),  # ZooKeeper shows no more
                "sasl": ("sasl", "reader"),
                "sasl without TLS": ("sasl", "reader"),
                "x509": ("x509", "CN=me"),
            }[who]
        )


def owner(acl: security.ACL) -> tuple[str, str]:
    return acl.id.scheme, acl.id.id


def test_many_znodes_and_many_tls_records_are_read_whole(locked: secured.Locked) -> None:
    with locked.chroot() as (path, client):
        client.create("/brokers")
        made = [client.create_async(f"/brokers/{n}", bytes(40_000)) for n in range(200)]
        for one in made:
            one.get(timeout=60)
        config = locked.config(Identity(tls=locked.tls), locked.address + path)
        with mirroring(config) as (mirror, seen):
            witness.wait_live(mirror)
            assert witness.difference(seen.seen(), witness.walk(client, ROOTS)).is_none
        # within the time of a load: what has to come are 8 MB
        assert len(one_shot.load(config, ROOTS).changed) == 201


def test_zookeeper_itself_refuses_a_write_with_the_reading_identity(
    locked: secured.Locked, tmp_path: Path
) -> None:
    acl = secured.reader_reads_writer_writes()
    secret = tmp_path / "writer"
    secret.write_text(secured.WRITER + "\n")
    secret.chmod(0o600)
    sealed = Sealed(
        "test", "write_", "sasl", Source("test", "write_auth_file", str(secret)), DIGEST_MD5, locked.tls
    )
    with locked.chroot() as (path, client):
        client.create("/brokers", b"1")
        client.create("/brokers/ids", b"")
        client.set_acls("/brokers", acl)
        reading = locked.config(sasl(secured.READER, locked.tls), locked.address + path)
        both = ClusterConfig("test", reading.servers, path, reading.reading, 2.0, sealed=sealed)
        stranger = locked.config(Identity(tls=locked.tls), locked.address + path)
        assert isinstance(one_shot.read(both, ROOTS)["/brokers"], Znode)
        assert isinstance(one_shot.read(stranger, ROOTS)["/brokers"], Unreadable)
        with Writer(both) as writer:
            writer.take()
            done = writer.commit([Op(Operation.SET, "/brokers", b"2", version=0)], "/zkdash/applied/1-0")
            assert isinstance(done, Committed)
        with Writer(
            ClusterConfig("test", reading.servers, path, reading.reading, 2.0, markers=False)
        ) as writer:
            writer.take()
            for op in (
                Op(Operation.SET, "/brokers", b"3", version=1),
                Op(Operation.CREATE, "/brokers/topics", b""),
                Op(Operation.DELETE, "/brokers/ids", version=0),
            ):
                refused = writer.commit([op], None)
                assert isinstance(refused, Refused), op
                assert refused.fault is Fault.NO_AUTH
        value = one_shot.read(both, ROOTS)["/brokers"]
        assert isinstance(value, Znode)
        assert (value.data, value.version) == (b"2", 1)


def test_a_wrong_password_is_told_and_not_tried_without_end(locked: secured.Locked) -> None:
    wrong = sasl("reader:wr0ng-canary", locked.tls)
    with Proxy(locked.port) as proxy:
        began = time.monotonic()
        with mirroring(locked.config(wrong, f"127.0.0.1:{proxy.port}")) as (mirror, _):
            wait_for(lambda: len(proxy.sent) >= 3, 60, lambda: mirror.session)
            # at once, after 1 s, and after 2 s more
            assert time.monotonic() - began > 2.5
            session = mirror.session
        assert session.phase is Phase.REFUSED
        assert f"127.0.0.1:{proxy.port} refused the authentication with DIGEST-MD5" in session.sentence
        assert "canary" not in session.sentence
    assert re.search(r"refused the authentication with DIGEST-MD5", refusal(locked.config(wrong)))
    began = time.monotonic()
    with Writer(locked.config(wrong), connect_limit_s=120.0) as writer:
        with pytest.raises(UnreachedError, match="refused the auth"):
            writer.take()
        # a refusal is for good, so there is nothing to wait for
        assert time.monotonic() - began < 60


def test_a_refusal_is_known_after_kazoo_has_forgotten_it(locked: secured.Locked) -> None:
    wrong = sasl("reader:wr0ng-canary", locked.tls)
    client = dialling.Client(locked.config(wrong), wrong)
    client.start_async()
    wait_for(client._connection.connection_stopped.is_set)
    wait_for(lambda: client.client_state == KeeperState.CLOSED)
    client.close()
    assert client.judged.is_set()
    assert client.refused


def test_a_server_without_sasl_is_told(chroot: Chroot) -> None:
    config = ClusterConfig("test", (("127.0.0.1", chroot.server.port),), chroot.path, sasl("a:b", None), 2.0)
    with mirroring(config) as (mirror, _):
        wait_for(lambda: mirror.session.sentence)
        assert mirror.session.phase is Phase.REFUSED
        assert "refused the authentication with DIGEST-MD5" in mirror.session.sentence


def test_a_server_that_wants_a_certificate_refuses_who_has_none(tmp_path: Path) -> None:
    with secured.locked(tmp_path, client_auth="need") as locked:
        mine = locked.authority.issue("me")
        shown = Tls(str(locked.authority.ca), str(mine.cert), str(mine.key))
        with one_shot.OneShotReader(locked.config(Identity("x509", tls=shown))) as asker:
            assert asker.read(("/zookeeper",), limit_s=HANDSHAKE_LIMIT_S)
        other = Authority(tmp_path / "other", "other").issue("me")
        for wrong in (locked.tls, Tls(str(locked.authority.ca), str(other.cert), str(other.key))):
            assert re.search(
                r"tls_cert and tls_key where the server demands them",
                refusal(locked.config(Identity(tls=wrong))),
            )


def test_an_authority_that_is_not_ours_is_not_believed(
    locked: secured.Locked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = Identity(tls=Tls(str(Authority(tmp_path, "other").ca)))
    told = rf"the certificate of {locked.address} is not accepted \(.*\)\. Check tls_ca"
    assert re.search(told, refusal(locked.config(stranger)))
    with mirroring(locked.config(stranger)) as (mirror, _):
        wait_for(lambda: "is not accepted" in mirror.session.sentence)
        assert mirror.session.phase is Phase.CONNECTING
    failed, connect = threading.Event(), dialling.Threads.create_connection

    def notes(threads: dialling.Threads, *arguments: Any, **named: Any) -> Any:
        try:
            return connect(threads, *arguments, **named)
        except OSError:
            failed.set()
            raise

    monkeypatch.setattr(dialling.Threads, "create_connection", notes)
    with (
        Writer(locked.config(stranger), leaving=failed, connect_limit_s=HANDSHAKE_LIMIT_S) as writer,
        pytest.raises(UnreachedError, match=r"takes a write: the certificate of a server is not accepted"),
    ):
        writer.take()
    assert re.search(
        r"is not accepted", refusal(locked.config(Identity(tls=Tls())))
    )  # the system's authorities


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"), "authority")


def over_tls(pem: Pem, plain: fake.Answer = fake.is_silent) -> fake.Answer:
    """The same server, with TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem.both)

    def answer(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as encrypted:
            plain(encrypted)

    return answer


def told(answer: fake.Answer, tls: Tls) -> str:
    """What is told of a server."""
    with fake.serving(answer) as port:
        return refusal(ClusterConfig("test", (("127.0.0.1", port),), "", Identity(tls=tls), 2.0))


def test_an_expired_certificate_is_told(authority: Authority) -> None:
    pem = authority.issue("expired", is_expired=True)
    assert "is not accepted (certificate has expired)" in told(over_tls(pem), Tls(str(authority.ca)))


def test_a_certificate_of_another_host_is_told_unless_names_do_not_matter(authority: Authority) -> None:
    answer = over_tls(authority.issue("elsewhere", host="127.0.0.9"), TWO_GIB)
    assert "certificate is not valid for '127.0.0.1')" in told(answer, Tls(str(authority.ca)))
    lenient = Tls(str(authority.ca), verify_hostname=False)
    assert "announced an answer of 2147483647 bytes" in told(answer, lenient)


def test_a_certificate_is_held_against_the_name_in_the_address(authority: Authority) -> None:
    answer = over_tls(authority.issue("named", host="localhost"), TWO_GIB)
    tls = Tls(str(authority.ca))
    assert "certificate is not valid for '127.0.0.1')" in told(answer, tls)
    with fake.serving(answer) as port:
        config = ClusterConfig("test", (("localhost", port),), "", Identity(tls=tls), 2.0)
        with mirroring(config) as (mirror, seen):
            wait_for(
                lambda: any("2147483647 bytes" in session.sentence for session in seen.sessions),
                15.0,
                lambda: mirror.session,
            )


def test_a_port_that_speaks_no_tls_is_told(chroot: Chroot, authority: Authority) -> None:
    tls = Tls(str(authority.ca))
    config = ClusterConfig("test", (("127.0.0.1", chroot.server.port),), "", Identity(tls=tls), 2.0)
    assert re.search(r"ends the TLS handshake|closes the connection", refusal(config))


def test_a_port_that_speaks_tls_alone_is_told(locked: secured.Locked) -> None:
    assert re.search(r"closes the connection.*set tls = true", refusal(locked.config(Identity())))


def test_a_file_that_went_away_is_named_and_its_return_is_taken(
    locked: secured.Locked, tmp_path: Path
) -> None:
    copy = tmp_path / "ca.pem"
    config = locked.config(Identity(tls=Tls(str(copy))))
    with mirroring(config) as (mirror, _):
        wait_for(lambda: f"tls_ca = '{copy}' can't be used" in mirror.session.sentence)
        copy.write_bytes(locked.authority.ca.read_bytes())
        witness.wait_live(mirror)


def test_a_writer_takes_no_frame_of_two_gib(authority: Authority) -> None:
    answer = over_tls(authority.issue("server"), TWO_GIB)
    with fake.serving(answer) as port:
        identity = Identity(tls=Tls(str(authority.ca)))
        config = ClusterConfig("test", (("127.0.0.1", port),), "", identity, 2.0)
        with Writer(config, connect_limit_s=2.0) as writer, pytest.raises(UnreachedError):
            writer.take()
