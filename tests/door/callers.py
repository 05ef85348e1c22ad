"""Whoever comes to a served process by a plain socket: from any address of its machine, and slowly."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
from collections.abc import Iterator
from urllib.parse import urlsplit

from tests.serving import Served

LIMIT_S = 60.0
_UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


class Caller:
    """One connection from an address."""

    def __init__(self, site: Served, source: str = "127.0.0.1", *, small: bool = False) -> None:
        url = urlsplit(site.address)
        self._host = url.netloc
        self.socket = socket.socket()
        if small:  # what is not read does not lie in the kernel
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(LIMIT_S)
        self.socket.bind((source, 0))
        self.socket.connect((url.hostname, url.port))
        self._read = b""

    def send(self, data: bytes) -> bool:
        """False where the other side has closed."""
        try:
            self.socket.sendall(data)
        except OSError:
            return False
        return True

    def ask(self, path: str = "/healthz", method: str = "GET", *lines: str) -> None:
        """Send the head of a request."""
        head = "".join(f"{line}\r\n" for line in (f"Host: {self._host}", *lines))
        self.send(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1"))

    def open(self, path: str, *lines: str) -> None:
        """Ask for a WebSocket."""
        self.ask(path, "GET", f"Origin: http://{self._host}", *_UPGRADE.split("\r\n")[:-1], *lines)

    def status(self) -> int:
        """The status of the answer; 0 where there is none, but the end of the connection."""
        while b"\r\n\r\n" not in self._read:
            if not self._more():
                return 0
        return int(self._read.split(b" ", 2)[1])

    def whole(self) -> int:
        """The status of an answer that is read whole, so that the next one is the next that comes."""
        found = self.status()
        head, _, body = self._read.partition(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        while len(body) < int(length.split(b":")[1]) and self._more():
            body = self._read.partition(b"\r\n\r\n")[2]
        self._read = b""
        return found

    def text(self) -> str:
        """All that is answered until the connection ends."""
        while self._more():
            pass
        return self._read.decode()

    def drip(self, data: bytes, every_s: float = 0.02) -> int:
        """Send byte by byte until there is an answer or an end; how many bytes were sent."""
        for number in range(len(data)):
            if select.select([self.socket], [], [], every_s)[0] or not self.send(data[number : number + 1]):
                return number
        return len(data)

    def is_closed(self) -> bool:
        """Whether the other side has ended the connection without an answer."""
        if not select.select([self.socket], [], [], 0)[0]:
            return False
        return not self._more()

    def reset(self) -> None:
        """End it as a client does that dies."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def close(self) -> None:
        self.socket.close()

    def _more(self) -> bool:
        try:
            found = self.socket.recv(65536)
        except ConnectionError:
            return False
        self._read += found
        return bool(found)


@contextlib.contextmanager
def calling(site: Served, number: int, source: str = "127.0.0.1") -> Iterator[list[Caller]]:
    """So many connections, closed at the end."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(contextlib.closing(Caller(site, source))) for _ in range(number)]


def refused(site: Served) -> dict[str, int]:
    """What the process tells of refusals, by limit."""
    lines = site.get("/metrics").text.splitlines()
    told = [line for line in lines if line.startswith("zkdash_refused_total{")]
    return {line.split('"')[1]: int(float(line.rsplit(" ", 1)[1])) for line in told}


def counted(site: Served, metric: str) -> int:
    """One number of /metrics."""
    [line] = [one for one in site.get("/metrics").text.splitlines() if one.startswith(f"{metric} ")]
    return int(float(line.rsplit(" ", 1)[1]))


def written(pid: int) -> int:
    """Bytes that a process has written so far, into files, pipes and sockets."""
    return _io(pid, "wchar")


def read(pid: int) -> int:
    """Bytes that a process has read so far."""
    return _io(pid, "rchar")


def _io(pid: int, name: str) -> int:
    with open(f"/proc/{pid}/io") as file:  # noqa: PTH123 - no file of ours
        [line] = [line for line in file if line.startswith(f"{name}:")]
    return int(line.split()[1])


def files(pid: int) -> int:
    """How many files and sockets a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 - no directory of ours
