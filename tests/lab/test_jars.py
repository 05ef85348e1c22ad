"""Fetching jars: from a repository on this machine that can fail in every way, and from the real one."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.lab import jars, lock, maven
from tests.lab.lock import Jar
from tests.lab.maven import Coordinate, Proxy, Repository
from tests.lab.releases import RELEASES

COORDINATE = Coordinate("org.example", "thing", "1.0")
BODY = bytes(range(256)) * 2000


class Registry(ThreadingHTTPServer):
    """Serves BODY at every path; `answers` may hold other answers to the first requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[tuple[str, str | None]] = []
        self.answers: list[Callable[[BaseHTTPRequestHandler], None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/m2"

    @property
    def ranges(self) -> list[str | None]:
        return [asked for _, asked in self.requests]


class _Handler(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        self.server.requests.append((self.path, self.headers["Range"]))
        (self.server.answers.pop(0) if self.server.answers else whole)(self)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def whole(handler: BaseHTTPRequestHandler) -> None:
    """Answer as a good server does: the range that was asked for, else everything."""
    asked = re.fullmatch(r"bytes=(\d+)-", handler.headers["Range"] or "")
    body = BODY[int(asked[1]) :] if asked else BODY
    handler.send_response(206 if asked else 200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def cut_at(size: int) -> Callable[[BaseHTTPRequestHandler], None]:
    """Promise everything, send `size` bytes, hang up."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(BODY)))
        handler.end_headers()
        handler.wfile.write(BODY[:size])

    return answer


def ignoring_range(handler: BaseHTTPRequestHandler) -> None:
    del handler.headers["Range"]
    whole(handler)


def refusing(status: int) -> Callable[[BaseHTTPRequestHandler], None]:
    return lambda handler: handler.send_error(status)


@pytest.fixture
def registry() -> Iterator[Registry]:
    with Registry() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def jar(coordinate: Coordinate = COORDINATE, body: bytes = BODY) -> Jar:
    return Jar(coordinate, hashlib.sha256(body).hexdigest(), len(body))


def fetch(registry: Registry, folder: Path, *wanted: Jar) -> list[Path]:
    return jars.fetch(wanted or (jar(),), Repository(registry.url), folder=folder)


def test_a_jar_is_fetched_by_its_coordinate(registry: Registry, tmp_path: Path) -> None:
    (path,) = fetch(registry, tmp_path)
    assert path.read_bytes() == BODY
    assert path.name == "thing-1.0.jar"
    assert registry.requests == [("/m2/org/example/thing/1.0/thing-1.0.jar", None)]
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [path]


def test_what_is_cached_is_not_asked_for(registry: Registry, tmp_path: Path) -> None:
    assert fetch(registry, tmp_path) == fetch(registry, tmp_path)
    assert len(registry.requests) == 1


@pytest.mark.parametrize("damage", [b"", BODY[:-1], BODY[:-1] + b"?", BODY + b"?"])
def test_a_corrupt_file_is_fetched_again(registry: Registry, tmp_path: Path, damage: bytes) -> None:
    (path,) = fetch(registry, tmp_path)
    path.write_bytes(damage)
    assert fetch(registry, tmp_path) == [path]
    assert path.read_bytes() == BODY


def test_a_download_that_was_cut_goes_on_where_it_stopped(registry: Registry, tmp_path: Path) -> None:
    registry.answers = [cut_at(1000)]
    (path,) = fetch(registry, tmp_path)
    assert path.read_bytes() == BODY
    assert registry.ranges == [None, "bytes=1000-"]


def test_an_earlier_run_that_was_cut_is_gone_on_with(registry: Registry, tmp_path: Path) -> None:
    registry.answers = [cut_at(1000), *[refusing(503)] * (jars.ATTEMPTS - 1)]
    with pytest.raises(jars.UnavailableError, match="503"):
        fetch(registry, tmp_path)
    registry.requests.clear()
    (path,) = fetch(registry, tmp_path)
    assert path.read_bytes() == BODY
    assert registry.ranges == ["bytes=1000-"]


def test_a_server_that_knows_no_ranges_is_taken_from_the_start(registry: Registry, tmp_path: Path) -> None:
    registry.answers = [cut_at(1000), ignoring_range]
    (path,) = fetch(registry, tmp_path)
    assert path.read_bytes() == BODY


@pytest.mark.parametrize("part", [b"?" * 1000, b"?" * len(BODY), b"?" * (len(BODY) + 1)])
def test_a_rotten_part_is_thrown_away(registry: Registry, tmp_path: Path, part: bytes) -> None:
    place = tmp_path / jar().sha256 / "thing-1.0.jar.part"
    place.parent.mkdir()
    place.write_bytes(part)
    (path,) = fetch(registry, tmp_path)
    assert path.read_bytes() == BODY


def test_a_wrong_sha256_names_the_coordinate_and_leaves_nothing_to_run(
    registry: Registry, tmp_path: Path
) -> None:
    with pytest.raises(jars.UnavailableError, match=r"org\.example:thing:1\.0: .*with sha256") as error:
        fetch(registry, tmp_path, jar(body=b"?" * len(BODY)))
    assert registry.url in str(error.value)
    assert not list(tmp_path.rglob("*.jar"))
    assert len(registry.requests) == 1


def test_every_jar_that_is_missing_is_named_and_the_others_are_kept(
    registry: Registry, tmp_path: Path
) -> None:
    names = [Coordinate("org.example", f"thing{n}", "1.0") for n in range(5)]
    present = {names[3].file_name}

    def answer(handler: BaseHTTPRequestHandler) -> None:
        (whole if Path(handler.path).name in present else refusing(404))(handler)

    registry.answers = [answer] * 5
    wanted = [Jar(name, jar().sha256, len(BODY)) for name in names]
    with pytest.raises(jars.UnavailableError, match="answered 404 Not Found") as error:
        fetch(registry, tmp_path, *wanted)
    lines = str(error.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [str(name) for name in names if name != names[3]]
    assert len(list(tmp_path.rglob("*.jar"))) == 1
    assert len(registry.requests) == 5


def test_a_server_that_never_answers_is_named(registry: Registry, tmp_path: Path) -> None:
    registry.answers = [refusing(502)] * jars.ATTEMPTS
    with pytest.raises(jars.UnavailableError, match=r"org\.example:thing:1\.0: .*answered 502 Bad Gateway"):
        fetch(registry, tmp_path)


def test_a_port_where_nobody_listens_is_named(registry: Registry, tmp_path: Path) -> None:
    registry.server_close()
    with pytest.raises(jars.UnavailableError, match=r"org\.example:thing:1\.0: .*refused"):
        fetch(registry, tmp_path)


def test_two_runs_at_once_ask_once(registry: Registry, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(lambda _: fetch(registry, tmp_path), range(4)))
    assert all(path.read_bytes() == BODY for (path,) in paths)
    assert len(registry.requests) == 1


def test_a_proxy_of_the_settings_is_gone_through(registry: Registry, tmp_path: Path) -> None:
    through = Repository("http://jars.example/m2", Proxy("127.0.0.1", registry.server_port))
    (path,) = jars.fetch([jar()], through, folder=tmp_path)
    assert path.read_bytes() == BODY
    assert registry.requests == [("http://jars.example/m2/org/example/thing/1.0/thing-1.0.jar", None)]


@pytest.mark.kafka
def test_the_real_repository_has_what_the_lock_file_says(tmp_path: Path) -> None:
    smallest = min(lock.read(RELEASES["3.9.1"].lock), key=lambda one: one.size)
    (path,) = jars.fetch([smallest], maven.repository(), folder=tmp_path)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == smallest.sha256
