"""A server that speaks S3's API, with a bucket: moto's, in a process of its own."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.waiting import wait_for
from zkdash.demo.runtime import ports
from zkdash.history.places import location
from zkdash.history.places.location import Remote

BUCKET = "history"
START_LIMIT_S = 60.0
_LOOPBACK = "127.0.0.1"
_ROOT = Path(__file__).resolve().parents[2]
_names = itertools.count(1)


class Bucket(NamedTuple):
    """A bucket; `environment` is what a process needs to use it."""

    environment: dict[str, str]
    beside: Path
    server: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"s3://{BUCKET}"

    def fresh(self) -> Remote:
        """A place of one's own in it, as settings make one of an address."""
        environment = {**self.environment, location.VARIABLE: f"{self.url}/t{next(_names)}"}
        made = location.read(environment, self.beside)
        assert isinstance(made, Remote)
        return made

    @contextlib.contextmanager
    def hung(self) -> Iterator[None]:
        """Meanwhile the server takes connections and answers nothing."""
        self.server.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.server.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def bucket(directory: Path, *, latency_s: float = 0.0) -> Iterator[Bucket]:
    """A server with an empty bucket; what it says, and what is local of it, lies below a directory.

    Each answer begins `latency_s` later than it could.
    """
    (port,) = ports.free()
    command = ["moto.server", "-H", _LOOPBACK, "-p", str(port)]
    if latency_s:
        command = ["tests.lab.slow_s3", str(port), str(latency_s)]
    log = directory / "moto.log"
    with log.open("wb") as file:
        server = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=_ROOT,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
    try:
        wait_for(lambda: _listens(port) or server.poll() is not None, START_LIMIT_S)
        assert server.poll() is None, log.read_text()
        endpoint = f"http://{_LOOPBACK}:{port}"
        connection = http.client.HTTPConnection(_LOOPBACK, port, timeout=START_LIMIT_S)
        connection.request("PUT", f"/{BUCKET}")
        assert connection.getresponse().status == http.HTTPStatus.OK
        connection.close()
        environment = {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "canary-of-s3",
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ALLOW_HTTP": "true",
        }
        yield Bucket(environment, directory, server)
    finally:
        server.kill()
        server.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((_LOOPBACK, port)) == 0
