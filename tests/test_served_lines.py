"""What strangers make a served process write: a line each at most, and never a traceback."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import pytest

from tests.door.callers import Caller
from tests.serving import Served, starter
from zkdash import logs

LIVE = "/live/c/default/topics/"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with starter(tmp_path_factory.mktemp("lines")) as start:
        yield start(ZKDASH_ZOOKEEPER="127.0.0.1:1")


@contextlib.contextmanager
def lines(site: Served) -> Iterator[list[str]]:
    """The lines that are written meanwhile."""
    site.get("/healthz")
    before = len(site.err.read_text())
    found: list[str] = []
    yield found
    site.get("/healthz")  # whatever went before has been written by now
    found += site.err.read_text()[before:].splitlines()
    assert not [line for line in found if "Traceback" in line or line.startswith(" ")], found


def asked(site: Served, *head: str) -> int:
    """The status of what a whole head of ours is answered with."""
    with contextlib.closing(Caller(site)) as caller:
        caller.send("".join(f"{line}\r\n" for line in (*head, "Connection: close", "")).encode("latin-1"))
        return caller.status()


@pytest.mark.parametrize(
    "host", ["evil.example.org", "127.0.0.1:99999", "[::1", "a b", "", "x" * 60_000, "\xff", "a\x1b[2J"]
)
@pytest.mark.parametrize("path", ["/", "/static/style/base.css", "/c/default/feed/"])
def test_a_wrong_host_is_one_line(site: Served, host: str, path: str) -> None:
    with lines(site) as found:
        assert asked(site, f"GET {path} HTTP/1.1", f"Host: {host}") in {200, 302, 400}
    assert len(found) <= 1
    assert all(len(line) < logs.MOST_CHARACTERS + 500 for line in found)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/live",
        "/live/nothing/",
        "/live/c/default/",
        "/live/c/default/no-such-page/",
        "/live/c/nothing/",
        "/live/c/default/topics/%00/",
        "/live/c/default/actions/99999999999999999999999/",
        "/live/embed/",
        "/live/embed/none/",
        "/live/embed/a/b/",
        "/live/" + "a/" * 3_000,
        "/live/\xff",
        "//live/",
        "/live/c/default/topics/?" + "&" * 10_000,
    ],
)
def test_a_socket_that_there_is_not_is_no_failure(site: Served, path: str) -> None:
    with lines(site) as found, contextlib.closing(Caller(site)) as caller:
        caller.open(path)
        assert caller.status() in {0, 400, 403, 414, 101}
    assert len(found) <= 1


@pytest.mark.parametrize(
    "head",
    [
        ("Upgrade: websocket", "Connection: Upgrade"),
        ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 7", "Sec-WebSocket-Key: x"),
        ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: \xff"),
        ("Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABk"),
        ("Upgrade: \xff\xfe", "Connection: Upgrade"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_upgrade_that_is_none_is_no_failure(site: Served, head: tuple[str, ...], method: str) -> None:
    with lines(site) as found:
        asked(site, f"{method} {LIVE} HTTP/1.1", f"Host: {site.address[7:]}", *head)
    assert len(found) <= 1


@pytest.mark.parametrize(
    "wanted",
    [
        "{process}.%s.{view}" % ("9" * 5_000),
        "{process}.%s.{view}" % ("9" * 18),
        "{process}.-1.{view}",
        "{process}.%D9%A1.{view}",
        "{process}.%C2%B2.{view}",
        "{process}..{view}",
        "..",
        "%00",
        "%ff",
        "." * 10_000,
        "",
    ],
)
def test_a_hostile_from_is_no_failure_and_gets_the_page(site: Served, wanted: str) -> None:
    told = re.search(r"from=([\w-]+)\.(\d+)\.(\w+)", site.get("/c/default/topics/").text)
    assert told
    token = wanted.format(process=told[1], view=told[3])
    with lines(site) as found, contextlib.closing(Caller(site)) as caller:
        caller.open(f"{LIVE}?from={token}")
        assert caller.status() == (101 if len(token) < 8_000 else 400)
        while len(token) < 8_000 and b'{"from"' not in caller._read:  # a frame
            assert caller._more()
    assert len(found) <= (len(token) >= 8_000)


@pytest.mark.parametrize("query", [f"from={'9' * 9_000}&to={'9' * 9_000}", "from=%ff&to=%00", "last=%00"])
def test_nor_is_a_hostile_span_of_time(site: Served, query: str) -> None:
    for page in ("trends", "timeline"):
        with lines(site) as found:
            assert site.get(f"/c/default/{page}/?{query}").status == 200
        assert found == []


def test_a_form_of_too_many_fields_is_one_line(site: Served) -> None:
    body = "a=&" * 6_000
    with lines(site) as found, contextlib.closing(Caller(site)) as caller:
        caller.ask(
            "/sign-in/",
            "POST",
            "Content-Type: application/x-www-form-urlencoded",
            "Authorization: Bearer nothing",  # which needs no token of a form
            f"Content-Length: {len(body)}",
        )
        caller.send(body.encode())
        assert caller.status() == 400
    assert 1 <= len(found) <= 2
