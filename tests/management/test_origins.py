"""Who may open a socket, on a real server: pages of zkdash, and of the origins that were configured."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import websockets.sync.client
from websockets.exceptions import InvalidStatus

from tests.serving import Served, starter
from zkdash.web import pages

OURS = "https://kafka.example.org"
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """No ZooKeeper is there, and none is needed."""
    with starter(tmp_path_factory.mktemp("origins")) as start:
        yield start(ZKDASH_ZOOKEEPER="127.0.0.1:1", ZKDASH_ORIGINS=OURS)


def handshake(site: Served, path: str, origin: str | None) -> int:
    """The status of a handshake: 101 where the socket was opened."""
    url = f"{site.address.replace('http:', 'ws:')}/live{path}"
    try:
        with websockets.sync.client.connect(url, origin=origin, open_timeout=LIMIT_S):  # type: ignore[arg-type]
            return 101
    except InvalidStatus as error:
        return error.response.status_code


def _sockets() -> Iterator[str]:
    yield "/"
    for page in pages.PAGES:
        yield "/c/default/" + "/".join("1" if "<" in part else part for part in page.route.split("/"))


def _foreign(port: str) -> tuple[str | None, ...]:
    return (
        None,
        "null",
        "",
        "https://evil.example",
        f"https://127.0.0.1:{port}",  # another scheme
        "http://127.0.0.1:1",  # another port
        "http://127.0.0.1",
        f"http://127.0.0.1.evil.example:{port}",
        f"http://127.0.0.1:{port}.evil.example",
        f"http://evil.example/?http://127.0.0.1:{port}",
        "http://kafka.example.org",
        "https://kafka.example.org.evil.example",
        "https://sub.kafka.example.org",
        "https://kafka.example.org:8443",
        "file://",
        "*",
    )


@pytest.mark.parametrize("number", range(len(_foreign("0"))))
def test_a_socket_of_another_page_is_refused_before_it_opens(site: Served, number: int) -> None:
    origin = _foreign(site.address.rpartition(":")[2])[number]
    assert handshake(site, "/c/default/topics/", origin) == 403, origin


@pytest.mark.parametrize("path", list(_sockets()))
def test_every_socket_asks_where_it_comes_from(site: Served, path: str) -> None:
    assert handshake(site, path, "https://evil.example") == 403
    assert handshake(site, path, "null") == 403


def test_sockets_of_our_own_pages_open(site: Served) -> None:
    assert handshake(site, "/c/default/topics/", site.address) == 101
    assert handshake(site, "/c/default/topics/", OURS) == 101
