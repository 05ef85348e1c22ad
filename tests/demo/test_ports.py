import socket

import pytest

from zkdash.demo import ports


def test_free_ports_differ_and_lie_below_those_of_outgoing_connections() -> None:
    found = ports.free(9)
    assert len(set(found)) == 9
    assert all(1024 < port < 32_768 for port in found)
    assert all(ports.is_free(port) for port in found)


def test_a_port_with_a_listener_is_not_free() -> None:
    (port,) = ports.free()
    with socket.create_server(("127.0.0.1", port)):
        assert not ports.is_free(port)
    assert ports.is_free(port)


def test_without_a_free_port_the_error_tells_where_was_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "is_free", lambda _: False)
    with pytest.raises(OSError, match=r"no 3 free ports found on 127\.0\.0\.1 between 20000 and 32767"):
        ports.free(3)
