"""A real `manage.py serve` for tests: on a free port, asked over HTTP, ended by SIGTERM with exit 0."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import forking
from tests.processes import inherited
from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parent.parent
START_LIMIT_S = 120.0
STOP_LIMIT_S = 60.0
ANSWER_LIMIT_S = 120.0  # longer than any limit of the server's own, which it tells: `past_s` is 30 s
DATABASE = "zkdash.sqlite3"
PAGE_EVERY_S = 0.05  # a page costs the process milliseconds

_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/")


class Answer(NamedTuple):
    """An HTTP answer, of whatever status."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


class Served:
    """A running `manage.py serve`; `address` is "http://127.0.0.1:<port>" without a slash at its end.

    It has an interpreter of its own, or is `forked` (`tests/forking.py`), which begins a second earlier.
    """

    def __init__(
        self,
        environ: dict[str, str],
        directory: Path,
        port: str = "0",
        options: Sequence[str] = (),
        *,
        forked: bool = False,
    ) -> None:
        self.out = directory / "serve.out"
        self.err = directory / "serve.err"
        argv = ["manage.py", "serve", "--host", "127.0.0.1", "--port", port, *options]
        self._process: forking.Process | subprocess.Popen[bytes]
        with self.out.open("wb") as out, self.err.open("wb") as err:
            if forked:
                self._process = forking.Process(argv, env=environ, stdout=out, stderr=err)
            else:
                self._process = subprocess.Popen(
                    [sys.executable, *argv],
                    cwd=ROOT,
                    env=environ,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                )
        self.address = ""
        self.trust: ssl.SSLContext | None = None  # of who stands before it

    def wait_until_ready(self) -> None:
        """Wait for the line that tells the address. Raises AssertionError with what was printed."""
        found = wait_for(
            lambda: _ADDRESS.search(self.out.read_text()) or self._process.poll() is not None,
            limit_s=START_LIMIT_S,
            message=self.printed,
            every_s=0.02,
        )
        assert isinstance(found, re.Match), f"serve ended with {self._process.returncode}:\n{self.printed()}"
        self.address = found[0].rstrip("/")

    def wait_until_loaded(self, cluster: str = "default") -> None:
        """Wait until a cluster's first load shows."""
        wait_for(
            lambda: self.json(f"/c/{cluster}/topics/")["as_of"] is not None,
            limit_s=START_LIMIT_S,
            message=self.printed,
            every_s=PAGE_EVERY_S,
        )

    def wait_until_all_loaded(
        self, headers: Mapping[str, str] = {}, *, limit_s: float = START_LIMIT_S
    ) -> None:
        """Wait until each cluster that these headers may see is watched."""
        wait_for(
            lambda: all(row["data"] == "live" for row in self.json("/", **headers)["rows"]),
            limit_s=limit_s,
            message=self.printed,
            every_s=PAGE_EVERY_S,
        )

    def wait_until_all_lost(self) -> None:
        """Wait until no cluster is watched any more."""
        wait_for(
            lambda: all(row["data"] != "live" for row in self.json("/")["rows"]),
            message=self.printed,
            every_s=PAGE_EVERY_S,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def get(self, path: str, **headers: str) -> Answer:
        """GET a path ("/c/main/topics/"), following redirects; a refusal is an Answer too."""
        request = urllib.request.Request(self.address + path, headers=headers)  # noqa: S310 - ours
        try:
            opened = urllib.request.urlopen(request, timeout=ANSWER_LIMIT_S, context=self.trust)  # noqa: S310
            with opened as answer:
                return Answer(answer.status, dict(answer.headers), answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, dict(error.headers), error.read())

    def json(self, path: str, **headers: str) -> Any:
        """The JSON of a page, which must be had."""
        answer = self.get(path, Accept="application/json", **headers)
        assert answer.status == 200, f"{path} answered {answer.status}: {answer.text[:500]}\n{self.printed()}"
        return json.loads(answer.body)

    def stop(self) -> None:
        """End it as an operator does (SIGTERM) and see that it says so by exit status 0."""
        self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired as error:
            self.kill()
            raise AssertionError(f"serve did not end in {STOP_LIMIT_S:g} s:\n{self.printed()}") from error
        assert status == 0, f"serve ended with {status}:\n{self.printed()}"

    def kill(self) -> None:
        """End it without a warning; one that has ended is fine."""
        self._process.kill()
        self._process.wait(STOP_LIMIT_S)

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def printed(self) -> str:
        """The end of what it printed."""
        return f"stdout:\n{self.out.read_text()[-2000:]}\nstderr:\n{self.err.read_text()[-6000:]}"


Serve = Callable[..., Served]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Serve]:
    """Starts serving processes: `served(ZKDASH_ZOOKEEPER="127.0.0.1:2181/chroot")`, see `starter`."""
    with starter(tmp_path) as start:
        yield start


@contextlib.contextmanager
def starter(below: Path) -> Iterator[Serve]:
    """Starts serving processes with what they write `below`.

    Keywords are a process's environment, `options` those of `serve`; each has a data directory of its own
    unless ZKDASH_DATA says else, and lets everybody read unless ZKDASH_ANONYMOUS_READ is "0". They are
    forked unless told otherwise, and begin with a database whose migrations are done already. Those that
    still run at the end are stopped, and must exit 0.
    """
    started: list[Served] = []

    def start(
        *, port: str = "0", options: Sequence[str] = (), forked: bool = True, **settings: str | Path
    ) -> Served:
        directory = below / f"serve-{len(started)}"
        directory.mkdir()
        given = {name: str(value) for name, value in settings.items()}
        default = {"ZKDASH_DATA": str(directory / "data"), "ZKDASH_ANONYMOUS_READ": "1"}
        if forked and not given.keys() & {"ZKDASH_DATA", "ZKDASH_DATABASE"}:
            database = directory / "data" / DATABASE
            database.parent.mkdir()
            database.touch(mode=0o600)  # as it is where a process of ours makes it
            database.write_bytes(_migrated())
        server = Served(inherited() | default | given, directory, port, options, forked=forked)
        started.append(server)
        server.wait_until_ready()
        return server

    try:
        yield start
        for server in started:
            if server.running:
                server.stop()
    finally:
        for server in started:
            server.kill()
            sys.stderr.write(server.printed())  # shown by pytest when the test failed


@functools.cache
def _migrated() -> bytes:
    """A database of SQLite as `migrate` leaves it: to migrate is half of a start's CPU."""
    with tempfile.TemporaryDirectory() as directory:
        environ = inherited() | {"ZKDASH_DATA": directory}
        done = forking.run(["manage.py", "migrate", "--no-input"], env=environ, timeout=START_LIMIT_S)
        assert done.returncode == 0, done.stdout + done.stderr
        return Path(directory, DATABASE).read_bytes()
