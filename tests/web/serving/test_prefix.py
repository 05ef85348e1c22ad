"""zkdash below a prefix of somebody's host: every address that its pages name is there, and answers."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
import websockets.sync.client
from websockets.typing import Origin

from tests.conftest import Chroot
from tests.serving import Served, starter
from zkdash.configuration.errors import ConfigError
from zkdash.door import prefix
from zkdash.web import pages

PREFIX = "/ops/zkdash"
LIMIT_S = 60.0
_ADDRESS = re.compile(r"\s(?:href|src|action|ws-connect|hx-get|hx-post|data-address)=\"([^\"#][^\"]*)\"")


@pytest.fixture(scope="module")
def site(shared_chroot: Chroot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    znodes = {
        "/brokers/topics/orders": b'{"version":1,"partitions":{"0":[1]}}',
        "/brokers/topics/orders/partitions/0/state": b'{"version":1,"leader":1,"isr":[1],"leader_epoch":0}',
        "/consumers/g/ids": b"",
    }
    for path, data in znodes.items():
        shared_chroot.client.create(path, data, makepath=True)
    with starter(tmp_path_factory.mktemp("prefix")) as start:
        # Of an interpreter of its own: addresses are made when modules are imported.
        server = start(
            ZKDASH_ZOOKEEPER=shared_chroot.address,
            ZKDASH_PREFIX=f"{PREFIX}/",
            options=["--no-record"],
            forked=False,
        )
        server.wait_until_loaded()
        yield server


def named(markup: str, at: str) -> set[str]:
    """The addresses that a page at `at` names, without their fragments."""
    return {urldefrag(urljoin(at, html.unescape(each)))[0] for each in _ADDRESS.findall(markup)}


@pytest.mark.zk
def test_whatever_a_page_names_is_below_the_prefix_and_answers(site: Served) -> None:
    home = f"{PREFIX}/c/default/"
    shown = [f"{home}{page.route}" for page in pages.PAGES if "<" not in page.route]
    asked: set[str] = {PREFIX + "/sign-in/", f"{home}topics/orders/", f"{home}groups/g/", f"{home}nothing/"}
    for address in (*shown, *sorted(asked)):
        answer = site.get(address)
        assert answer.status == (404 if address.endswith("nothing/") else 200), address
        found = {each for each in named(answer.text, address) if not urlsplit(each).scheme}
        assert found, address
        for each in found:
            assert each.startswith(f"{PREFIX}/"), (address, each)
        asked |= {each.partition("?")[0] for each in found if f"{PREFIX}/live/" not in each}
    statuses = {each: site.get(each).status for each in asked}
    assert {each: status for each, status in statuses.items() if status not in {200, 405}} == {
        f"{home}nothing/": 404
    }


@pytest.mark.zk
def test_sockets_sign_in_and_links_for_programs_know_the_prefix(site: Served) -> None:
    page = site.get(f"{PREFIX}/c/default/topics/")
    (socket,) = re.findall(r'ws-connect="([^"]+)"', page.text)
    url = site.address.replace("http:", "ws:") + html.unescape(socket)
    with websockets.sync.client.connect(url, origin=Origin(site.address), open_timeout=LIMIT_S) as opened:
        assert json.loads(str(opened.recv(LIMIT_S)).partition("\n")[0])
    asked = f"{PREFIX}/c/default/actions/new/"
    assert f'name="next" value="{asked}"' in site.get(asked).text
    cookie = site.get(f"{PREFIX}/sign-in/").headers["set-cookie"]
    assert f"Path={PREFIX}/" in cookie
    assert site.json(f"{PREFIX}/api/openapi.json")["servers"] == [{"url": f"{PREFIX}/"}]


@pytest.mark.zk
def test_a_proxy_may_take_the_prefix_off(site: Served) -> None:
    assert site.get("/healthz").status == 200
    stripped, whole = (named(site.get(f"{at}/c/default/topics/").text, "/") for at in ("", PREFIX))
    # the revision that a socket begins from may be another one by then
    assert {each.partition("?from=")[0] for each in stripped} == {
        each.partition("?from=")[0] for each in whole
    }


@pytest.mark.parametrize(
    "text", ["zkdash", "/a//b", "/a?b", "/..", "/a/../b", "http://host/", "/" + "a" * 300]
)
def test_what_is_no_prefix_is_told(text: str) -> None:
    with pytest.raises(ConfigError, match=r"ZKDASH_PREFIX is .*: it is a path such as /zkdash"):
        prefix.read(text)


def test_a_prefix_is_a_path_without_its_last_slash() -> None:
    assert [prefix.read(text) for text in ("", "/", " /zkdash/ ", "/a/b-c.d")] == [
        "",
        "",
        "/zkdash",
        "/a/b-c.d",
    ]
    scope = {"type": "http", "path": "/zkdashes/c/"}
    assert prefix.without("/zkdash", scope) is scope


def test_people_reach_it_at_the_first_origin_below_the_prefix() -> None:
    origins = ["https://kafka.example.org", "https://old.example.org"]
    assert prefix.address(origins, "/zkdash") == "https://kafka.example.org/zkdash"
    assert prefix.address([], "/zkdash") == ""
