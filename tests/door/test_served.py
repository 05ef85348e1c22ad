"""The bounds of a served process, held against whoever exceeds them over real sockets."""

from __future__ import annotations

import contextlib
import json
import re
import resource
import select
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.door import callers
from tests.door.callers import Caller, calling, refused
from tests.journeys.pace import LOADS
from tests.serving import Serve, Served, served, starter
from tests.waiting import wait_for

__all__ = ["served"]

MIB = 2**20
FEED = "/c/main/feed/"
SOCKET = "/live/c/main/topics/"
FORM = "/c/main/actions/new/create-topic/"
ONE, TWO, THREE = "127.0.0.1", "127.0.0.2", "127.0.0.3"
# So much lies in the buffers of both kernels before anybody reads.
BUFFERED = 24 * MIB
# There is no ZooKeeper: what comes in is bounded all the same.
CLUSTER = '[clusters.main]\nzookeeper = "127.0.0.1:1"\n'
LOW = """[limits]
connections = 100
connections_per_address = 40
sockets = 12
sockets_per_address = 8
sockets_per_person = 5
requests = 4
requests_per_address = 2
feeds = 12
feeds_per_address = 8
feeds_per_person = 5
large_bodies = 4
large_bodies_per_address = 2
head_s = 1
body_s = 1
unread_s = 1
"""


def configured(directory: Path, text: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / "zkdash.toml"
    file.write_text(CLUSTER + text)
    return file


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One with limits that are soon reached."""
    below = tmp_path_factory.mktemp("low")
    with starter(below) as start:
        yield start(ZKDASH_CONFIG=configured(below, LOW))


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One with the limits that nobody changed, where few files may be open until it asks for more."""
    below = tmp_path_factory.mktemp("usual")
    (below / "tmp").mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    try:
        with starter(below) as start:
            started = start(ZKDASH_CONFIG=configured(below, ""), TMPDIR=below / "tmp")
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            yield started
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# Bodies


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/"),
        ("POST", "/no/such/address"),
        ("GET", "/c/main/topics/"),
        ("PUT", FORM),
        ("GET", FORM),
        ("POST", "/sign-in/"),
        ("POST", "/admin/login/"),
        ("POST", FORM),
    ],
)
@pytest.mark.parametrize("is_told", [True, False])
def test_a_body_that_is_too_long_is_refused_and_not_kept(
    usual: Served, method: str, path: str, is_told: bool
) -> None:
    most = 6 * MIB if (method, path) == ("POST", FORM) else 65536
    before = callers.read(usual.pid), callers.written(usual.pid)
    with contextlib.closing(Caller(usual)) as caller:
        caller.ask(path, method, f"Content-Length: {600 * MIB}" if is_told else "Transfer-Encoding: chunked")
        chunk = bytes(MIB) if is_told else b"100000\r\n%b\r\n" % bytes(MIB)
        sent = next((number for number in range(600) if not caller.send(chunk)), 600)
        assert sent * MIB < BUFFERED
        assert caller.status() in {413, 0}  # 0: it still sent as the connection ended
    took = callers.read(usual.pid) - before[0], callers.written(usual.pid) - before[1]
    assert took[0] < (2 * MIB if is_told else most + 3 * MIB)
    assert took[1] < (MIB if is_told or most == 65536 else most + MIB)


def test_who_waits_for_the_answer_hears_why(usual: Served) -> None:
    with contextlib.closing(Caller(usual)) as caller:
        caller.ask("/", "POST", "Content-Length: 1", "Accept: application/json")
        text = caller.text()
        assert text.startswith("HTTP/1.1 413 ")
        assert json.loads(text.partition("\r\n\r\n")[2]) == {
            "error": "This address takes no body; nothing of it was read."
        }
    with contextlib.closing(Caller(usual)) as caller:
        caller.ask("/sign-in/", "POST", "Content-Length: 65537", "Expect: 100-continue")
        assert caller.text().endswith("This is longer than the 65,536 bytes that this address takes.\n")


def test_what_an_address_takes_it_gets(usual: Served) -> None:
    for size, path, status in ((6 * MIB, FORM, 403), (65536, "/sign-in/", 403), (0, "/", 403)):
        with contextlib.closing(Caller(usual)) as caller:
            caller.ask(path, "POST", f"Content-Length: {size}")
            caller.send(bytes(size))
            assert caller.status() == status, path  # it has no token of ours


def test_only_so_many_large_bodies_come_at_once(site: Served) -> None:
    with calling(site, 2) as first, calling(site, 1) as more, calling(site, 1, TWO) as other:
        for caller in (*first, *more, *other):
            caller.ask(FORM, "POST", "Content-Length: 65537", "Expect: 100-continue")
        assert {caller.status() for caller in first} | {other[0].status()} == {100}
        assert more[0].status() == 429
    wait_for(lambda: _large(site) == 100)


def _large(site: Served) -> int:
    with contextlib.closing(Caller(site)) as caller:
        caller.ask(FORM, "POST", "Content-Length: 65537", "Expect: 100-continue")
        return caller.status()


# Time


def test_who_says_nothing_is_sent_away(site: Served) -> None:
    before = refused(site).get("head_s", 0)
    with calling(site, 3) as silent:
        assert [caller.text() for caller in silent] == ["", "", ""]
    assert refused(site)["head_s"] >= before + 3


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"x" * 500,
        b"\r\n" * 250,
        b"GET /" + b"x" * 500,
    ],
)
def test_a_head_that_drips_is_ended(site: Served, head: bytes) -> None:
    with contextlib.closing(Caller(site)) as caller:
        assert caller.drip(head) < len(head)
        assert caller.status() == 408


def test_so_does_the_head_of_a_later_request(site: Served) -> None:
    with contextlib.closing(Caller(site)) as caller:
        caller.ask()
        assert caller.whole() == 200
        assert caller.drip(b"GET / HTTP/1.1\r\nX-Slow: " + b"x" * 500) < 500
        assert caller.status() == 408


@pytest.mark.parametrize("head", ["Content-Length: 10000", "Transfer-Encoding: chunked"])
def test_a_body_that_drips_is_ended(site: Served, head: str) -> None:
    with contextlib.closing(Caller(site)) as caller:
        caller.ask("/sign-in/", "POST", head)
        assert caller.drip(b"1\r\nx\r\n" * 100) < 500
        assert caller.status() == 408
        assert "did not come within 1 s" in caller.text()


@pytest.mark.parametrize(
    "data",
    [
        b"GET /" + b"x" * 300_000,
        b"GET / HTTP/1.1\r\nX: " + b"x" * 300_000,
        b"GET / HTTP/1.1\r\n" + b"X" * 300_000,
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 101 + b"\r\n",
        b"GET /" + b"x" * 65_536 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1_000,
        b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        + b"X: y\r\n" * 101,
        b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: "
        + b"y" * 600_000,
    ],
    ids=["address", "value", "name", "many", "whole address", "ahead", "after", "long after"],
)
def test_a_head_that_is_too_long_is_ended(site: Served, data: bytes) -> None:
    before = refused(site).get("head_bytes", 0)
    with contextlib.closing(Caller(site)) as caller:
        caller.send(data)
        caller.text()
    assert refused(site)["head_bytes"] == before + 1


def test_who_takes_no_answer_is_given_up(site: Served) -> None:
    before = refused(site).get("unread_s", 0)
    with contextlib.closing(Caller(site, small=True)) as caller:
        for _ in range(8):  # 280 KB each
            caller.ask("/static/admin/js/vendor/jquery/jquery.js")
        wait_for(lambda: refused(site).get("unread_s", 0) > before, limit_s=callers.LIMIT_S)
        assert caller.status() == 200


# Connections


def _answered_s(site: Served, source: str) -> float:
    """The seconds that an answer to this address takes, by a connection of its own."""
    began = time.monotonic()
    with contextlib.closing(Caller(site, source)) as caller:
        caller.ask("/c/main/")
        assert caller.status() == 200
    return time.monotonic() - began


def test_silent_connections_keep_nobody_out(usual: Served) -> None:
    calm_s = _answered_s(usual, TWO)
    with calling(usual, 1_100):
        for source in (TWO, ONE):
            assert _answered_s(usual, source) < 5 + LOADS * calm_s
        assert callers.files(usual.pid) > 1_100


def test_an_address_that_has_its_share_gives_up_what_waits_longest(site: Served) -> None:
    before = refused(site).get("gave_way", 0)
    with calling(site, 70, TWO) as silent:
        # all end within a second, but of the first forty this one long before the one that came last
        wait_for(lambda: silent[39].is_closed() or silent[0].is_closed())
        assert silent[0].is_closed()
        wait_for(lambda: sum(caller.is_closed() for caller in silent[:30]) == 30)
        with calling(site, 1) as others, calling(site, 1, TWO) as own:
            for caller in (*others, *own):
                caller.ask()
                assert caller.status() == 200
    assert refused(site)["gave_way"] >= before + 30


def test_an_address_whose_share_is_busy_harms_only_itself(site: Served) -> None:
    with calling(site, 40, TWO) as busy:
        for caller in busy:  # each body is waited for
            caller.ask("/sign-in/", "POST", "Content-Length: 9", "Expect: 100-continue")
        assert {caller.status() for caller in busy} == {100}
        with contextlib.closing(Caller(site, TWO)) as late, contextlib.closing(Caller(site)) as other:
            assert late.status() == 429
            other.ask()
            assert other.status() == 200
    assert refused(site)["connections_per_address"] >= 1


# Feeds and sockets


def burst(site: Served, path: str, number: int, *sources: str) -> Iterator[list[Caller]]:
    """So many at the same moment of each address."""
    with contextlib.ExitStack() as stack:
        found = [one for source in sources for one in stack.enter_context(calling(site, number, source))]
        for one in found:
            one.open(path) if path == SOCKET else one.ask(path)
        yield found


KINDS = [(FEED, "feeds", 200), (SOCKET, "sockets", 101)]


@pytest.mark.parametrize(("path", "kind", "good"), KINDS)
def test_a_burst_passes_no_limit_and_all_places_come_back(
    site: Served, path: str, kind: str, good: int
) -> None:
    wait_for(lambda: counted(site, kind) == 0)
    with contextlib.contextmanager(burst)(site, path, 30, ONE) as callers_:
        assert sorted(one.status() for one in callers_) == sorted([good] * 8 + [429] * 22)
        assert counted(site, kind) == 8
        # the others have theirs, up to the limit of all
        with contextlib.contextmanager(burst)(site, path, 20, TWO) as others:
            assert sorted(one.status() for one in others) == sorted([good] * 4 + [503] * 16)
            for one in others:
                one.reset()
        for one in callers_[:15]:
            one.reset()
    wait_for(lambda: counted(site, kind) == 0)
    with contextlib.contextmanager(burst)(site, path, 8, THREE) as again:
        assert {one.status() for one in again} == {good}
    wait_for(lambda: counted(site, kind) == 0)
    assert refused(site)[kind] >= 16
    assert refused(site)[f"{kind}_per_address"] >= 22


def counted(site: Served, kind: str) -> int:
    return callers.counted(site, f"zkdash_{kind}")


def test_who_is_gone_before_the_answer_keeps_no_place(site: Served) -> None:
    for path, kind, _ in KINDS:
        for _ in range(3):
            with contextlib.contextmanager(burst)(site, path, 8, ONE) as gone:
                for one in gone:
                    one.reset()
        wait_for(partial(_fits, site, path), limit_s=callers.LIMIT_S)
        wait_for(partial(_is_empty, site, kind))


def _is_empty(site: Served, kind: str) -> bool:
    return counted(site, kind) == 0


def _fits(site: Served, path: str) -> bool:
    """Whether an address has all of its places."""
    with contextlib.contextmanager(burst)(site, path, 8, ONE) as found:
        return {one.status() for one in found} <= {200, 101}


def test_only_so_many_requests_have_a_thread(site: Served) -> None:
    tasks = Path(f"/proc/{site.pid}/task")
    before = most = len(list(tasks.iterdir()))
    with calling(site, 38) as asked:
        for one in asked:
            one.ask("/c/main/", "GET", "Connection: close")
        while asked:
            most = max(most, len(list(tasks.iterdir())))
            for ready in select.select([one.socket for one in asked], [], [], 0)[0]:
                done = next(caller for caller in asked if caller.socket is ready)
                assert done.status() == 200
                asked.remove(done)
    # Two have their turn and two may end, each with a thread and one that waits for its end.
    assert most - before < 12


# People


def signed_in(site: Served) -> str:
    """The cookie of the administrator that the one-time link makes."""
    link = wait_for(lambda: re.search(r"http://\S+(/welcome/\S+)", site.out.read_text()))
    with contextlib.closing(Caller(site)) as caller:
        caller.ask(link[1], "GET", "Connection: close")
        text = caller.text()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', text)
    cookie = re.search(r"csrftoken=(\w+)", text)
    assert token
    assert cookie
    fields = {"username": "root", "password1": "correct horse battery"}
    body = urllib.parse.urlencode(
        {**fields, "password2": fields["password1"], "csrfmiddlewaretoken": token[1]}
    )
    with contextlib.closing(Caller(site)) as caller:
        caller.ask(
            link[1],
            "POST",
            "Connection: close",
            f"Cookie: csrftoken={cookie[1]}",
            "Content-Type: application/x-www-form-urlencoded",
            f"Content-Length: {len(body)}",
        )
        caller.send(body.encode())
        session = re.search(r"sessionid=(\w+)", caller.text())
    assert session
    return f"Cookie: sessionid={session[1]}"


def test_a_person_is_one_from_wherever(site: Served) -> None:
    cookie = signed_in(site)
    sources = (ONE, TWO, THREE)
    with contextlib.ExitStack() as stack:
        feeds = [stack.enter_context(calling(site, 3, source)) for source in sources]
        for one in (caller for found in feeds for caller in found):
            one.ask(FEED, "GET", cookie)
        statuses = [one.status() for found in feeds for one in found]
        assert sorted(statuses) == [200] * 5 + [429] * 4
    with contextlib.ExitStack() as stack:
        sockets = [one for source in sources for one in stack.enter_context(calling(site, 3, source))]
        for one in sockets:
            one.open(SOCKET, cookie)
        assert {one.status() for one in sockets} == {101}  # whose it is is known only then
        wait_for(lambda: sum(_ended(one) for one in sockets) == 4)
        assert counted(site, "sockets") == 5
    assert refused(site)["sockets_per_person"] >= 4


def _ended(socket: Caller) -> bool:
    """Whether a WebSocket was told to come later: a frame of its end, with 1013."""
    socket.socket.settimeout(0.001)
    with contextlib.suppress(TimeoutError):
        socket._more()
    return b"\x88\x02\x03\xf5" in socket._read


# Proxies


def test_behind_a_proxy_the_forwarded_address_counts(served: Serve, tmp_path: Path) -> None:
    behind = served(ZKDASH_CONFIG=configured(tmp_path, LOW), ZKDASH_PROXIES=ONE)
    with calling(behind, 30, TWO) as beside:
        for number, one in enumerate(beside):  # whom nobody vouches for: all are of the one address
            one.ask(FEED, "GET", f"X-Forwarded-For: 10.2.2.{number}")
        assert sorted(one.status() for one in beside) == sorted([200] * 8 + [429] * 22)
    wait_for(lambda: counted(behind, "feeds") == 0)
    with calling(behind, 60) as through:
        for one in through[:30]:
            one.ask(FEED, "GET", "X-Forwarded-For: 10.1.1.1")
        assert sorted(one.status() for one in through[:30]) == sorted([200] * 8 + [429] * 22)
        for one in through[30:34]:
            one.ask(FEED, "GET", "X-Forwarded-For: 10.1.1.2")
        assert {one.status() for one in through[30:34]} == {200}
        through[34].ask()
        assert through[34].status() == 200
    assert refused(behind)["feeds_per_address"] == 44
    assert "gave_way" not in refused(behind)


# Telling


def test_what_is_refused_is_told_in_a_line_and_not_in_one_each(site: Served) -> None:
    for _ in range(30):
        with contextlib.closing(Caller(site)) as caller:
            caller.ask("/", "POST", "Content-Length: 1")
            assert caller.status() == 413
        with contextlib.closing(Caller(site)) as caller:
            caller.send(b"\x16\x03\x01 no HTTP\r\n\r\n")
            assert caller.status() == 400
    assert refused(site)["body_bytes"] >= 30
    assert refused(site)["malformed"] >= 30
    told = site.err.read_text()
    assert told.count("ran into the limit body_bytes") == 1
    assert told.count("ran into the limit malformed") == 1
    assert "Traceback" not in told
    assert "Invalid HTTP request" not in told


def test_nothing_of_all_this_lies_in_temporary_files(usual: Served) -> None:
    assert tempfile.gettempdir()
    assert list((usual.err.parent.parent / "tmp").iterdir()) == []
