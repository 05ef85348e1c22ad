import os
import random
import socket
import subprocess
import sys
from collections import deque

import pytest

from tests.narrowing import known
from zkdash.demo.runtime import ports


def test_free_ports_differ_and_lie_below_those_of_outgoing_connections() -> None:
    found = ports.free(9)
    assert len(set(found)) == 9
    assert all(1024 < port < 32_768 for port in found)
    assert all(ports.is_free(port) for port in found)
    assert set(ports.free(9, among=range(10_000, 12_000))) <= set(range(10_000, 12_000))


def test_ports_of_processes_that_seeded_alike_differ() -> None:
    found = []
    for _ in range(2):
        random.seed(1)
        found.append(ports.free(50))
    assert set(found[0]).isdisjoint(found[1])


def test_a_port_with_a_listener_is_not_free() -> None:
    (port,) = ports.free()
    with socket.create_server(("127.0.0.1", port)):
        assert not ports.is_free(port)
    assert ports.is_free(port)


def test_without_a_free_port_the_error_tells_where_was_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "is_free", lambda _: False)
    with pytest.raises(OSError, match=r"no 3 free ports found on 127\.0\.0\.1 between 20000 and 32767"):
        ports.free(3)


def test_a_port_that_was_told_is_told_to_nobody_else_while_its_process_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ports, "_claims", deque())
    (port,) = ports.free()
    os.close(ports._claims.pop())
    alone = range(port, port + 1)
    program = f"""
from zkdash.demo.runtime import ports
print(ports.free(among=range({port}, {port + 1})), flush=True)
input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert known(other.stdout).readline() == f"({port},)\n"
        assert ports.is_free(port)
        with pytest.raises(OSError, match="no 1 free ports"):
            ports.free(among=alone)
        other.communicate("\n")
    assert ports.free(among=alone) == (port,)
    with pytest.raises(OSError, match="no 1 free ports"):
        ports.free(among=alone)
    os.close(ports._claims.pop())
