"""Asking one server: real ones, those that are secured or old, and those that would keep us busy for ever."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.lab import zookeeper as releases
from tests.waiting import wait_for
from tests.zk import fake
from tests.zk.secured import Locked
from zkdash.demo.runtime import ports
from zkdash.demo.zookeeper.server import Server
from zkdash.formats.ensemble.values import Reach
from zkdash.tls import Tls
from zkdash.zk.ensemble import four_letter_words

LIMIT_S = 0.5
# A server's first TLS handshake loads much: on a busy machine that takes seconds.
HANDSHAKE_LIMIT_S = 30.0
REFUSES = b"srvr is not executed because it is not in the whitelist.\n"
NOT_SERVING = b"This ZooKeeper instance is not currently serving requests\n"


def ask(port: int, limit_s: float = HANDSHAKE_LIMIT_S) -> four_letter_words.ServerAnswer:
    return four_letter_words.ask("127.0.0.1", port, None, limit_s)


def says(answer: bytes) -> fake.Answer:
    """A server that answers every word alike, and closes, as ZooKeeper does."""

    def one(connection: socket.socket) -> None:
        connection.recv(4)
        connection.sendall(answer)

    return one


@pytest.mark.zk
def test_a_server_alone_tells_all_of_itself(zookeeper: Server) -> None:
    server, peer = four_letter_words.ask("127.0.0.1", zookeeper.port, None)
    assert (server.reach, server.told.mode, server.is_read_only) == (Reach.SERVING, "standalone", False)
    assert server.address == zookeeper.address
    assert peer == ("127.0.0.1", zookeeper.port)
    assert server.told.version is not None
    assert server.told.version.startswith("3.9.")
    told = server.told
    assert None not in (told.latency_avg, told.connections, told.outstanding, told.zxid, told.znodes)
    assert None not in (told.watches, told.data_size, told.descriptors, told.max_descriptors)


@pytest.mark.zk
@pytest.mark.parametrize("zookeeper_release", releases.OLD, indirect=True, scope="session")
def test_an_old_server_tells_as_much(zookeeper: Server, zookeeper_release: str) -> None:
    server, _ = four_letter_words.ask("127.0.0.1", zookeeper.port, None)
    assert (server.reach, server.told.mode, server.refused) == (Reach.SERVING, "standalone", ())
    assert server.told.version == zookeeper_release
    assert None not in (server.told.znodes, server.told.latency_avg, server.told.descriptors)


@pytest.mark.zk
@pytest.mark.parametrize("release", releases.RELEASES)
def test_a_whitelist_leaves_what_srvr_tells(own_server: Callable[..., Server], release: str) -> None:
    """Since 3.4.10 no whitelist keeps srvr from telling."""
    quiet = own_server(classpath=releases.classpath(release), config={"4lw.commands.whitelist": "ruok"})
    server, _ = four_letter_words.ask("127.0.0.1", quiet.port, None)
    assert (server.reach, server.told.mode) == (Reach.SERVING, "standalone")
    assert server.refused == ("mntr", "isro")
    assert (server.told.watches, server.is_read_only) == (None, None)


@pytest.mark.zk
def test_a_server_with_tls_is_asked_over_tls(locked: Locked) -> None:
    server, _ = ask_locked(locked, locked.tls)
    assert (server.reach, server.told.mode) == (Reach.SERVING, "standalone")
    plain, _ = ask_locked(locked, None)
    assert plain.reach is Reach.DOWN
    stranger, _ = ask_locked(locked, Tls())
    assert stranger.reach is Reach.DOWN
    assert "certificate" in stranger.reason


def ask_locked(locked: Locked, over: Tls | None) -> four_letter_words.ServerAnswer:
    return four_letter_words.ask("127.0.0.1", locked.port, over, HANDSHAKE_LIMIT_S)


def test_nobody_there_is_down_and_says_why() -> None:
    (port,) = ports.free()
    server, _ = ask(port)
    assert server.reach is Reach.DOWN
    assert server.reason == f"127.0.0.1:{port} can't be reached (Connection refused)"


def test_a_name_without_an_address_is_down_and_says_why() -> None:
    for name in ("nowhere.invalid", "x" * 64 + ".invalid"):
        server, peer = four_letter_words.ask(name, 2181, None, LIMIT_S)
        assert (server.reach, peer) == (Reach.DOWN, None)
        assert server.reason == f"the name of {name}:2181 can't be resolved"


@pytest.mark.parametrize(
    ("answer", "reach"),
    [
        (says(REFUSES), Reach.NOT_ALLOWED),
        (says(NOT_SERVING), Reach.NOT_SERVING),
        (says(b"HTTP/1.1 400 Bad Request\r\n\r\n"), Reach.STRANGE),
        (says(b"\0" * 100), Reach.STRANGE),
        (fake.closes, Reach.DOWN),
        (says(b""), Reach.DOWN),
    ],
)
def test_what_is_not_allowed_not_serving_strange_and_down_are_told_apart(
    answer: fake.Answer, reach: Reach
) -> None:
    with fake.serving(answer) as port:
        assert ask(port).server.reach is reach


def test_where_every_word_is_refused_each_is_named() -> None:
    with fake.serving(says(REFUSES)) as port:
        assert ask(port).server.refused == ("srvr", "mntr", "isro")


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    """What never ends would last for ever: this leaves a busy machine room."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < seconds


def drips(connection: socket.socket) -> None:
    """A byte now and then, each in time, for far longer than all words may take."""
    word = threading.Event()
    for _ in range(200):
        word.wait(LIMIT_S / 5)
        connection.sendall(b"z")


def floods(connection: socket.socket) -> None:
    connection.recv(4)
    while True:
        connection.sendall(b"zk_version\t3.9.9\n" * 4096)


def test_a_server_that_is_silent_or_drips_holds_up_nobody_for_long() -> None:
    for answer in (fake.is_silent, drips):
        with fake.serving(answer) as port, _within(3 * LIMIT_S + 60):
            server, _ = ask(port, LIMIT_S)
            assert server.reach is Reach.DOWN
            assert server.reason == f"127.0.0.1:{port} does not answer"


def test_a_server_that_never_ends_is_cut_off() -> None:
    with fake.serving(floods) as port, _within(60):
        server, _ = ask(port)
        assert server.told.version == "3.9.9"


def test_of_an_answer_no_more_than_64_kib_are_taken() -> None:
    held: list[int] = []

    def counts(connection: socket.socket) -> None:
        connection.recv(4)
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            answer = (
                b"zk_znode_count\t1\n" * (four_letter_words.MAX_ANSWER // 17)
                + b"\nzk_watch_count\t7\n" * 1000
            )
            connection.sendall(answer)
        held.append(1)

    with fake.serving(counts) as port:
        server, _ = ask(port)
        wait_for(lambda: held)
    assert (server.told.znodes, server.told.watches) == (1, None)


def test_nothing_but_three_words_is_ever_sent() -> None:
    heard: list[bytes] = []

    def listens(connection: socket.socket) -> None:
        heard.append(connection.recv(64))
        connection.sendall(REFUSES)

    with fake.serving(listens) as port:
        ask(port)
    assert heard == [b"srvr", b"mntr", b"isro"]
