"""`manage.py serve` as an operator meets it: what it refuses in words, what it survives, how it ends."""

from __future__ import annotations

import http.cookiejar
import re
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import forking
from tests.conftest import Chroot
from tests.processes import inherited
from tests.serving import Serve, Served, served, starter
from tests.waiting import wait_for
from zkdash.demo.runtime import ports
from zkdash.demo.zookeeper.server import Server

__all__ = ["served"]

pytestmark = pytest.mark.zk

LIMIT_S = 60.0


def refused(*arguments: str, data: Path, **environ: str) -> str:
    """Run `serve` where it must not start; return what it said, which must be words and no traceback."""
    done = forking.run(
        ["manage.py", "serve", "--port", "0", *arguments],
        env=inherited() | {"ZKDASH_DATA": str(data)} | environ,
        timeout=60,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


def command(name: str, *arguments: str, data: Path, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command on a data directory, typing that."""
    return forking.run(
        ["manage.py", name, *arguments],
        env=inherited() | {"ZKDASH_DATA": str(data)},
        typed=typed,
        timeout=60,
    )


def made_admin(name: str, data: Path) -> str:
    done = command("createadmin", name, "--password-stdin", data=data, typed="correct horse battery\n")
    assert done.returncode == 0, done.stderr
    return done.stdout


class Browser:
    """A browser without scripts: keeps cookies, follows redirects, sends forms with their token."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.cookies = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def get(self, path: str) -> tuple[int, str]:
        return self._ask(path, None)

    def post(self, path: str, **fields: str) -> tuple[int, str]:
        """Send the form of a page; that of signing out is on every page."""
        page = self.get("/c/default/" if path == "/sign-out/" else path)[1]
        return self._send(page, path, fields)

    def post_from(self, page: str, path: str, **fields: str) -> tuple[int, str]:
        """Send a form of one page to another address, as a button does."""
        return self._send(self.get(page)[1], path, fields)

    def _send(self, page: str, path: str, fields: dict[str, str]) -> tuple[int, str]:
        [token, *_] = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        return self._ask(path, urllib.parse.urlencode(fields | {"csrfmiddlewaretoken": token}).encode())

    def _ask(self, path: str, data: bytes | None) -> tuple[int, str]:
        try:
            with self._opener.open(self._address + path, data, timeout=LIMIT_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def sentence(site: Served, cluster: str) -> str:
    """What the page of a cluster says, as text."""
    return site.get(f"/c/{cluster}/").text


def wait_for_words(site: Served, words: str, cluster: str) -> None:
    wait_for(
        lambda: words in sentence(site, cluster),
        limit_s=LIMIT_S,
        message=lambda: f"no {words!r} in:\n{sentence(site, cluster)}",
    )


def test_without_a_cluster_it_says_how_to_name_one(tmp_path: Path) -> None:
    assert "ZKDASH_ZOOKEEPER=host:2181/chroot" in refused(data=tmp_path)


def test_it_stays_on_this_machine_until_there_is_an_administrator(tmp_path: Path) -> None:
    """No server may be reached from elsewhere here, so the address is one that no machine has."""
    environ = {"ZKDASH_ZOOKEEPER": "127.0.0.1:1", "ZKDASH_ANONYMOUS_READ": "1"}
    said = refused("--host", "192.0.2.1", data=tmp_path, **environ)
    assert "there is no administrator yet" in said
    assert "manage.py createadmin" in said
    assert "is an administrator" in made_admin("alice", data=tmp_path)
    assert "Cannot listen on 192.0.2.1" in refused("--host", "192.0.2.1", data=tmp_path, **environ)


def test_a_database_that_cannot_be_had_is_told(tmp_path: Path) -> None:
    environ = {"ZKDASH_ZOOKEEPER": "127.0.0.1:1", "ZKDASH_SECRET_KEY": "a key"}
    said = refused(data=tmp_path, ZKDASH_DATABASE="postgresql://zkdash@127.0.0.1:1/zkdash", **environ)
    assert "The database zkdash at 127.0.0.1 cannot be used" in said
    file = tmp_path / "file"
    file.touch()
    said = refused(data=file / "below", **environ)
    assert f"{file}/below cannot hold zkdash's files: Not a directory. Set ZKDASH_DATA to a " in said


def test_the_first_start_prints_a_link_that_makes_an_administrator_once_and_makes_a_secret_key(
    served: Serve, chroot: Chroot, tmp_path: Path
) -> None:
    """The key is made once, and only its owner reads it."""
    settings = {"ZKDASH_ZOOKEEPER": chroot.address, "ZKDASH_DATA": tmp_path / "kept"}
    site = served(**settings, ZKDASH_ANONYMOUS_READ="0", forked=False)
    wait_for(lambda: "/welcome/" in site.out.read_text(), limit_s=LIMIT_S, message=site.printed)
    path = site.out.read_text().split(site.address)[2].strip()
    browser = Browser(site.address)
    assert "<h1>Sign in</h1>" in browser.get("/c/default/")[1]
    form = {"username": "root", "password1": "correct horse battery", "password2": "correct horse battery"}
    assert browser.post(path, **form)[0] == 200
    assert "Sign out" in browser.get("/c/default/")[1]
    assert browser.post("/sign-out/")[0] == 200
    status, said = Browser(site.address).get(path)
    assert (status, "This link has been used" in said) == (410, True)
    assert (
        browser.post("/sign-in/", username="root", password=form["password1"], next="/c/default/")[0] == 200
    )
    assert "Sign out" in browser.get("/c/default/")[1]
    site.stop()
    file = tmp_path / "kept" / "secret_key"
    key = file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(key) >= 50
    assert "/welcome/" not in served(**settings).out.read_text()
    assert file.read_text() == key


@pytest.mark.parametrize(
    ("arguments", "password", "words"),
    [
        ((), "", "Name the administrator"),
        (("a b",), "", "Enter a valid username."),
        (("alice",), "", "There is no terminal"),
        (("alice", "--password-stdin"), "short\n", "This password is too short."),
        (("alice", "--password-stdin"), "\n", "This password is too short."),
    ],
)
def test_an_administrator_that_cannot_be_made_is_told(
    tmp_path: Path, arguments: tuple[str, ...], password: str, words: str
) -> None:
    done = command("createadmin", *arguments, data=tmp_path, typed=password)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_link_may_be_asked_for_while_zkdash_runs(served: Serve, chroot: Chroot, tmp_path: Path) -> None:
    data = tmp_path / "kept"
    made_admin("alice", data=data)
    site = served(ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_DATA=data)
    path = command("createadmin", "alice", "--link", data=data).stdout.split()[0]
    browser = Browser(site.address)
    assert "Sign in as alice" in browser.get(path)[1]
    assert browser.post(path)[0] == 200
    assert "<bdi>alice</bdi>" in browser.get("/c/default/")[1]


def test_a_port_that_is_taken_is_told(tmp_path: Path, silent_port: int) -> None:
    said = refused("--port", str(silent_port), data=tmp_path, ZKDASH_ZOOKEEPER="127.0.0.1:1")
    assert f"127.0.0.1:{silent_port}" in said


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"ZKDASH_ZOOKEEPER": "host:99999"}, "99999"),
        ({"ZKDASH_ZOOKEEPER": "host:2181/a//b"}, "/a//b"),
        ({"ZKDASH_CONFIG": "/no/such/zkdash.toml"}, "/no/such/zkdash.toml"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_named(
    tmp_path: Path, environ: dict[str, str], words: str
) -> None:
    assert words in refused(data=tmp_path, **environ)


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("[clusters.a\n", "zkdash.toml"),
        ("[clusters.a]\nzookeepr = 'h:1'\n", "zookeepr"),
        ("[clusters.a]\n", "zookeeper"),
        ("[clusters.A]\nzookeeper = 'h:1'\n[clusters.a]\nzookeeper = 'h:1'\n", "also as 'A'"),
        ("[clusters.a]\nzookeeper = 'h:1'\nsession_timeout_s = 'long'\n", "session_timeout_s"),
        ("[clusters.a]\nzookeeper = 'h:1'\nauth_scheme = 'digest'\nauth_env = 'NO_SUCH'\n", "NO_SUCH"),
    ],
)
def test_a_wrong_file_is_told_by_file_key_and_value(tmp_path: Path, toml: str, words: str) -> None:
    path = tmp_path / "zkdash.toml"
    path.write_text(toml)
    said = refused(data=tmp_path, ZKDASH_CONFIG=str(path))
    assert words in said
    assert str(path) in said


# One process, of several clusters: `good` has a topic, nothing is at the others yet or ever.


class Site(NamedTuple):
    """A serving process, and what its clusters are."""

    served: Served
    chroot: Chroot
    later: int  # the port of the cluster "later"


@pytest.fixture(scope="module")
def site(shared_chroot: Chroot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """It is ended by SIGTERM though some of its clusters cannot be reached."""
    shared_chroot.client.create(
        "/good/brokers/topics/orders", b'{"version":1,"partitions":{}}', makepath=True
    )
    below = tmp_path_factory.mktemp("site")
    config = below / "zkdash.toml"
    [later] = ports.free(1)
    with socket.create_server(("127.0.0.1", 0)) as silent, starter(below) as start:
        addresses = {
            "good": f"{shared_chroot.address}/good",
            "silent": f"127.0.0.1:{silent.getsockname()[1]}",
            "nowhere": "no-such-host.invalid:2181",
            "wrong": f"{shared_chroot.address}/nope",
            "appears": f"{shared_chroot.address}/kafka",
            "later": f"127.0.0.1:{later}",
        }
        config.write_text(
            "".join(f'[clusters.{name}]\nzookeeper = "{at}"\n' for name, at in addresses.items())
        )
        yield Site(start(ZKDASH_CONFIG=config), shared_chroot, later)


def test_one_bad_cluster_harms_no_other(site: Site) -> None:
    site.served.wait_until_loaded("good")
    assert [row["name"] for row in site.served.json("/c/good/topics/")["rows"]] == ["orders"]
    wait_for_words(site.served, "can&#x27;t be resolved", "nowhere")
    wait_for_words(site.served, f"has no znode {site.chroot.path}/nope", "wrong")
    for cluster in ("silent", "nowhere", "wrong"):
        assert site.served.get(f"/c/{cluster}/").status == 200
        assert site.served.get(f"/c/{cluster}/topics/").status == 200
    shown = {row["cluster"] for row in site.served.json("/")["rows"]}
    assert shown == {"good", "silent", "nowhere", "wrong", "appears", "later"}


def test_a_zookeeper_that_comes_later_is_taken_up(site: Site, own_server: Callable[..., Server]) -> None:
    wait_for_words(site.served, f"127.0.0.1:{site.later} can&#x27;t be reached", "later")
    own_server(port=site.later)
    site.served.wait_until_loaded("later")


def test_a_wrong_chroot_is_no_empty_cluster_and_is_taken_up_when_it_appears(site: Site) -> None:
    wait_for_words(site.served, f"has no znode {site.chroot.path}/kafka", "appears")
    site.chroot.client.create("/kafka")
    site.served.wait_until_loaded("appears")
    assert site.served.json("/c/appears/topics/")["rows"] == []


def test_what_cannot_be_had_is_a_page_with_a_sentence(site: Site) -> None:
    site.served.wait_until_loaded("good")  # before that, nobody knows that a topic is absent
    for path in ("/c/other/", "/c/good/no-such-page/", "/c/good/topics/absent/"):
        answer = site.served.get(path)
        assert answer.status == 404
        assert "<h1" in answer.text
    assert site.served.get("/", Host="evil.example").status == 400
