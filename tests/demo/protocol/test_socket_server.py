"""The sockets of simulated brokers."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import pytest

from tests.waiting import wait_for
from zkdash.demo.protocol.requests import RefusedRequestError
from zkdash.demo.protocol.socket_server import ServerThread, SocketServer
from zkdash.demo.runtime import ports

LIMIT_S = 10.0


def shouted(request: bytes) -> bytes:
    if request == b"go away":
        raise RefusedRequestError("told so")
    return request.upper()


@pytest.fixture
def loop() -> Iterator[ServerThread]:
    made = ServerThread()
    made.start()
    yield made
    made.stop()


@pytest.fixture
def listener(loop: ServerThread) -> Iterator[SocketServer]:
    made = SocketServer(loop, shouted)
    yield made
    made.close()


def connected(address: tuple[str, int]) -> socket.socket:
    return socket.create_connection(address, LIMIT_S)


def framed(*requests: bytes) -> bytes:
    return b"".join(struct.pack("!i", len(one)) + one for one in requests)


def received(connection: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length and (more := connection.recv(length - len(data))):
        data += more
    return data


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_requests_are_answered_in_order_however_they_arrive(listener: SocketServer) -> None:
    with connected(listener.open()) as connection:
        data = framed(b"a", b"", b"bcd")
        for at in range(len(data)):
            connection.sendall(data[at : at + 1])
        connection.sendall(framed(b"e", b"f"))
        answers = framed(b"A", b"", b"BCD", b"E", b"F")
        assert received(connection, len(answers)) == answers


def test_a_refused_request_closes_its_connection_after_the_answers_before_it_and_no_other(
    listener: SocketServer,
) -> None:
    address = listener.open()
    with connected(address) as bad, connected(address) as good:
        bad.sendall(framed(b"a", b"go away", b"b"))
        assert received(bad, 5) == framed(b"A")
        assert is_closed(bad)
        good.sendall(framed(b"c"))
        assert received(good, 5) == framed(b"C")


@pytest.mark.parametrize("length", [-1, (1 << 20) + 1, 0x47455420])
def test_a_length_that_no_request_has_closes_the_connection(listener: SocketServer, length: int) -> None:
    with connected(listener.open()) as connection:
        connection.sendall(struct.pack("!i", length))
        assert is_closed(connection)


def test_a_closed_listener_drops_its_connections_and_refuses_new_ones_until_it_opens_again(
    listener: SocketServer,
) -> None:
    address = listener.open()
    assert listener.open() == address
    with connected(address) as connection:
        connection.sendall(framed(b"a"))
        received(connection, 5)
        listener.close()
        listener.close()
        assert is_closed(connection)
    with pytest.raises(ConnectionRefusedError):
        connected(address)
    assert listener.open() == address
    connected(address).close()


def test_a_port_that_somebody_took_meanwhile_is_given_up(listener: SocketServer) -> None:
    address = listener.open()
    listener.close()
    with socket.create_server(address):
        other = listener.open()
        assert other != address
        connected(other).close()


def test_who_does_not_read_is_not_read_from(loop: ServerThread) -> None:
    listener = SocketServer(loop, lambda _: bytes(1 << 20))
    with connected(listener.open()) as connection:
        connection.settimeout(0.5)
        flood = framed(*[bytes(1 << 10)] * 64)

        def is_stuck() -> bool:
            try:
                connection.sendall(flood)
            except TimeoutError:
                return True
            return False

        wait_for(is_stuck, 30)
    listener.close()


def test_a_loop_that_does_not_run_says_so_and_stops_in_peace() -> None:
    loop = ServerThread()
    loop.stop()
    with pytest.raises(RuntimeError, match="does not run"):
        SocketServer(loop, shouted).open()
    assert ports.free()
