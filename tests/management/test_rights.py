"""Rights on a real serving process: what a viewer cannot do, and how fast rights that were lost are gone."""

from __future__ import annotations

import contextlib
import json
import re
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from tests import forking
from tests.conftest import Chroot
from tests.journeys.pace import LOADS
from tests.processes import inherited
from tests.serving import ROOT, Serve, Served, served
from tests.waiting import wait_for
from zkdash.demo.zookeeper.server import Server

__all__ = ["served"]

pytestmark = pytest.mark.zk

LIMIT_S = 60.0
LOST_WITHIN_S = 5.0
NOT_ALLOWED, OTHER_RIGHTS = 4403, 1012
MATRIX = tomllib.loads((ROOT / "tests" / "web" / "matrix.toml").read_text())

_SIGN_IN = """
import json
from django.contrib.auth import *
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from zkdash.access.models import Grant
keys = {}
for name, role in people.items():
    user, is_new = User.objects.get_or_create(username=name)
    if is_new and role:
        Grant.objects.create(user=user, role=role)
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    keys[name] = session.session_key
print(json.dumps(keys))
"""
_LOSE = """
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone
from zkdash.access.models import Grant
User.objects.filter(username="deleted").delete()
User.objects.filter(username="deactivated").update(is_active=False)
Grant.objects.filter(user__username="no longer granted").delete()
Grant.objects.filter(user__username="granted more").update(role="operator")
other = User.objects.get(username="other password")
other.set_password("correct horse battery")
other.save()
Session.objects.filter(pk=keys["expired"]).update(expire_date=timezone.now())
Session.objects.filter(pk=keys["signed out elsewhere"]).delete()
"""
_PROPOSE = """
from tests.actions import small
assert small.proposed("default").id == 1
"""


def in_database(data: Path, script: str, **values: object) -> str:
    """Run a script on a serving process's database, with these values as its variables."""
    given = "".join(f"{name} = {value!r}\n" for name, value in values.items())
    done = forking.run(
        ["manage.py", "shell", "--no-imports", "-c", given + script],
        env=inherited() | {"ZKDASH_DATA": str(data)},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def signed_in(data: Path, people: dict[str, str]) -> dict[str, str]:
    """The cookie of each, by name; the values are their roles on every cluster."""
    keys: dict[str, str] = json.loads(in_database(data, _SIGN_IN, people=people))
    return keys


Open = Callable[[Served, str, str], ClientConnection]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens the socket of a page with a session's key, as a browser does."""
    with contextlib.ExitStack() as stack:

        def begin(site: Served, path: str, key: str) -> ClientConnection:
            address = f"{site.address.replace('http', 'ws', 1)}/live{path}"
            headers = {"Cookie": f"sessionid={key}"}
            made = connect(address, origin=Origin(site.address), additional_headers=headers, proxy=None)
            return stack.enter_context(made)

        yield begin


def closed_after(socket: ClientConnection, since: float) -> tuple[int, float]:
    """The close code of a socket, and how many seconds after a moment it came.

    Raises TimeoutError for one that stays, though it is told something every two seconds.
    """
    try:
        while True:
            socket.recv(timeout=max(0.0, since + LIMIT_S - time.monotonic()))
    except ConnectionClosed:
        return socket.protocol.close_code or 0, time.monotonic() - since


def test_open_sockets_lose_their_rights_within_five_seconds(
    served: Serve, chroot: Chroot, opened: Open, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    site = served(ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_DATA=data, ZKDASH_ANONYMOUS_READ="0")
    people = {
        "deleted": "viewer",
        "deactivated": "viewer",
        "no longer granted": "viewer",
        "granted more": "viewer",
        "other password": "viewer",
        "expired": "viewer",
        "signed out elsewhere": "viewer",
        "as before": "viewer",
    }
    keys = signed_in(data, people)
    sockets = {name: opened(site, "/c/default/topics/", key) for name, key in keys.items()}
    for socket in sockets.values():
        assert socket.recv(timeout=60)
    in_database(data, _LOSE, keys=keys)
    since = time.monotonic()
    stays = sockets.pop("as before")
    found = {name: closed_after(socket, since) for name, socket in sockets.items()}
    codes = {name: code for name, (code, _) in found.items()}
    asked = time.monotonic()
    assert site.get("/c/default/topics/?format=json", Cookie=f"sessionid={keys['as before']}").status == 200
    slow_s = LOADS * (time.monotonic() - asked)  # more than nothing on a machine that is slow now
    assert codes == dict.fromkeys(sockets, NOT_ALLOWED) | {"granted more": OTHER_RIGHTS}
    assert max(seconds for _, seconds in found.values()) < LOST_WITHIN_S + slow_s
    assert stays.recv(timeout=60)
    stays.close()
    # And who comes back is refused, by the socket as by the page.
    again = opened(site, "/c/default/topics/", keys["deleted"])
    assert closed_after(again, time.monotonic())[0] == NOT_ALLOWED
    assert site.get("/c/default/topics/?format=json", Cookie=f"sessionid={keys['deleted']}").status == 401
    # Whoever never had any is closed out for good too.
    for path in ("/", "/c/default/", "/c/nope/"):
        assert closed_after(opened(site, path, "a" * 32), time.monotonic())[0] == NOT_ALLOWED


def test_who_may_only_look_moves_no_zxid_whatever_they_try(
    served: Serve, own_server: Callable[..., Server], tmp_path: Path
) -> None:
    server, data = own_server(), tmp_path / "data"
    client = KazooClient(hosts=server.address)
    client.start(timeout=60.0)
    client.create("/brokers/topics/orders", b'{"version":1,"partitions":{"0":[1]}}', makepath=True)
    site = served(ZKDASH_ZOOKEEPER=server.address, ZKDASH_DATA=data)
    site.wait_until_loaded()
    keys = signed_in(data, {"vera": "viewer", "olga": "operator"})
    in_database(data, _PROPOSE)
    token = "a" * 32
    routes = [one for one, profile in MATRIX["routes"].items() if profile in _WRITES]
    assert len(routes) >= 8
    zxid = _zxid(client)
    for cookie in (f"csrftoken={token}", f"csrftoken={token}; sessionid={keys['vera']}"):
        for route in routes:
            for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
                path = re.sub(r"<\w+:(\w+)>", lambda found: _VALUES[found[1]], f"/{route}")
                status = _ask(site, method, path, {"Cookie": cookie, "X-CSRFToken": token})
                wrote_nothing = status in {302, 401, 403, 404, 405, 413} or method in {"GET", "HEAD"}
                assert wrote_nothing, f"{method} {path}: {status}"
    assert _zxid(client) == zxid
    # Who may act moves it by the same request.
    cookie = f"csrftoken={token}; sessionid={keys['olga']}"
    headers = {"Cookie": cookie, "X-CSRFToken": token}
    assert _ask(site, "POST", "/c/default/actions/1/submit/", headers) == 303
    wait_for(lambda: _zxid(client) > zxid, limit_s=LIMIT_S, message=site.printed)
    client.stop()
    client.close()


@pytest.mark.parametrize(("proxies", "last"), [("", 429), ("127.0.0.1", 200)])
def test_what_a_header_says_of_an_address_counts_only_where_a_proxy_is_trusted(
    served: Serve, chroot: Chroot, proxies: str, last: int
) -> None:
    site = served(ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_PROXIES=proxies)
    token = "a" * 32
    found = [
        _ask(
            site,
            "POST",
            "/sign-in/",
            {"Cookie": f"csrftoken={token}", "X-CSRFToken": token, "X-Forwarded-For": f"10.0.0.{number}"},
            b"username=alice&password=wrong",
        )
        for number in range(6)
    ]
    assert found == [200] * 5 + [last]


_WRITES = {"operate", "choose", "act", "approve", "do"}
_VALUES = {"cluster": "default", "number": "1", "kind": "delete-topic", "check": "under-replicated"}


def _zxid(client: Any) -> int:
    """The last transaction that the server has applied, as its answer to a read tells."""
    client.exists("/")
    return int(client.last_zxid)


class _Stay(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _ask(
    site: Served,
    method: str,
    path: str,
    headers: dict[str, str],
    form: bytes = b"do=propose&topic=orders&confirm=orders",
) -> int:
    data = form if method in {"POST", "PUT", "PATCH"} else None
    request = urllib.request.Request(site.address + path, data, headers, method=method)  # noqa: S310 - ours
    try:
        with urllib.request.build_opener(_Stay).open(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
