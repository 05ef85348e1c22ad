"""Who may do what, at every address there is, by every method: as matrix.toml says it."""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.routing import URLRouter
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.http import HttpResponse
from django.test import Client
from django.urls import URLResolver, get_resolver
from pytest_django.fixtures import Settings

from tests.actions import small
from tests.web import states
from zkdash.access.models import Grant
from zkdash.access.roles import Role
from zkdash.actions import planning
from zkdash.actions.models import Action, Audit
from zkdash.cluster.plans.values import Plan
from zkdash.live import engine
from zkdash.web import renderer, urls
from zkdash.web.warden import NOT_ALLOWED
from zkdash.zk.asking import AskingError
from zkdash.zk.config import ClusterConfig

MATRIX = tomllib.loads(Path(__file__).with_name("matrix.toml").read_text())
METHODS = ("GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "POST")
BACKEND = "django.contrib.auth.backends.ModelBackend"
ELSEWHERE = "elsewhere"


def _routes(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for one in resolver.url_patterns:
        pattern = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from _routes(one, pattern)
        else:
            # The admin has two regular expressions: their groups are written like other parameters.
            yield re.sub(r"\(\?P<(\w+)>[^)]*\)", r"<\1>", pattern).replace("^", "").replace("$", "")


ROUTES = tuple(_routes(get_resolver()))
SOCKETS = tuple(str(one.pattern) for one in urls.websocket_urlpatterns)


class World(NamedTuple):
    """One cluster with everything that an address may name, and another."""

    action: Action
    user: User

    def address(self, pattern: str) -> str:
        values = {
            "cluster": "demo",
            "broker": "1",
            "name": "billing" if "/groups/" in pattern else "orders",
            "number": str(self.action.pk),
            "kind": "create-topic",
            "token": "none",
            "content_type_id": str(ContentType.objects.get_for_model(User).pk),
            "object_id": str(self._object(pattern)),
            "id": str(self.user.pk),
            "app_label": "auth",
            "url": "no/such/page/",
        }
        return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: values[found[1]], pattern)

    def _object(self, pattern: str) -> object:
        model = pattern.removeprefix("admin/").partition("/<")[0]
        group = self.user.groups.get()
        found = {
            "auth/user": self.user,
            "auth/group": group,
            "access/grant": self.user.grants.get(),
            "actions/action": self.action,
            "actions/audit": Audit.objects.all()[0],
        }
        return found.get(model, self.user).pk


def _not_asked(*_: object) -> Plan:
    raise AskingError("ZooKeeper is not asked here.")


@pytest.fixture
def world(db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(planning, "plan", _not_asked)  # only who may have it asked is of interest
    settings.ZKDASH_CLUSTERS = tuple(
        ClusterConfig(name, (("127.0.0.1", 1),), ask_brokers=False) for name in ("demo", "other")
    )
    settings.ZKDASH_ANONYMOUS_READ = False
    tree = {**states.healthy(), **states.group("billing", {"billing_h-1-00000000": ["orders"]})}
    states.publish(tree)
    states.publish(states.healthy(), name="other")
    bob = User.objects.create_user("bob")
    bob.groups.create(name="on call")
    Grant.objects.create(user=bob, role="viewer")
    action = small.proposed("demo")
    return World(action, bob)


def visitor(name: str) -> Client:
    """A client that is signed in as a visitor of matrix.toml."""
    if name in {"nobody", "reader"}:
        return Client()
    user, is_new = User.objects.get_or_create(username=name, is_superuser=name == "root")
    if is_new and name == ELSEWHERE:
        # Every role, since the strongest holds the rights of all.
        Grant.objects.bulk_create(Grant(user=user, role=role.value, clusters="other") for role in Role)
    elif is_new and name != "root":
        Grant.objects.create(user=user, role=name, clusters="demo")
    client = Client()
    client.force_login(user, backend=BACKEND)
    return client


def expected(profile: str, method: str) -> Mapping[str, str]:
    """What each visitor gets by a method, by visitor."""
    cells = {
        one: row.split() for methods, row in MATRIX["profiles"][profile].items() for one in methods.split()
    }
    row = cells.get(method, ["405"] * len(MATRIX["visitors"]))
    return dict(zip(MATRIX["visitors"], row, strict=True))


def outcome(response: HttpResponse) -> str:
    if response.status_code == 302 and response["Location"].startswith("/sign-in/?next="):
        return "sign-in"
    if response.status_code == 302 and response["Location"].startswith("/admin/login/?next="):
        return "login"
    return str(response.status_code) if response.status_code in {401, 403, 404, 405, 503} else "in"


def test_every_address_has_a_line_and_every_line_an_address() -> None:
    assert set(MATRIX["routes"]) == set(ROUTES)
    assert set(MATRIX["sockets"]) == set(SOCKETS)


@pytest.mark.parametrize("name", MATRIX["visitors"])
def test_each_visitor_gets_what_the_matrix_says(world: World, settings: Settings, name: str) -> None:
    settings.ZKDASH_ANONYMOUS_READ = name == "reader"
    wrong: dict[str, str] = {}
    client = visitor(name)
    for pattern, profile in MATRIX["routes"].items():
        for method in METHODS:
            found, wanted = outcome(client.generic(method, world.address(pattern))), expected(profile, method)
            if found != wanted[name]:
                wrong[f"{method} {pattern}"] = f"{found}, not {wanted[name]}"
        if "out" in profile:
            client = visitor(name)
    assert wrong == {}


def test_a_hidden_cluster_is_answered_like_one_that_does_not_exist(world: World) -> None:
    client = visitor(ELSEWHERE)
    for pattern in ROUTES:
        path = world.address(pattern)
        for method in METHODS if path.startswith("/c/demo/") else ():
            hidden = client.generic(method, path)
            none = client.generic(method, path.replace("/demo/", "/nope/", 1))
            assert hidden.status_code == none.status_code, f"{method} {path}"
            assert _words(hidden).replace("demo", "nope") == _words(none), f"{method} {path}"


def _words(response: HttpResponse) -> str:
    """What an answer says, without the token of its button to sign out."""
    return re.sub(r'name="csrfmiddlewaretoken" value="[^"]+"', "", response.content.decode())


def test_nothing_is_changed_without_the_token(world: World) -> None:
    client = visitor("root")
    client.handler.enforce_csrf_checks = True
    for pattern in ROUTES:
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            response = client.generic(method, world.address(pattern))
            assert response.status_code == 403, f"{method} {pattern}"


class _End(ApplicationCommunicator):
    """A browser's end of a socket."""

    def __init__(self, path: str, session: str) -> None:
        cookie = f"{configured.SESSION_COOKIE_NAME}={session}".encode()
        headers = [(b"cookie", cookie)] if session else []
        scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers}
        super().__init__(URLRouter(urls.websocket_urlpatterns), scope)

    async def outcome(self) -> str:
        """Whether the first thing that comes is a frame, or the end."""
        await self.send_input({"type": "websocket.connect"})
        assert (await self.receive_output(5))["type"] == "websocket.accept"
        first = await self.receive_output(5)
        await self.send_input({"type": "websocket.disconnect", "code": 1001})
        await self.wait(5)
        if first == {"type": "websocket.close", "code": NOT_ALLOWED}:
            return "refused"
        return "in" if first["type"] == "websocket.send" else str(first)


@pytest.mark.django_db(transaction=True)
def test_each_socket_lets_in_whom_the_matrix_says(world: World, settings: Settings) -> None:
    sessions = {name: visitor(name).session.session_key or "" for name in MATRIX["visitors"]}
    wrong: dict[str, str] = {}

    async def main() -> None:
        running = engine.Engine((), renderer.Renderer())
        engine.configure(running)
        running.hub.start(asyncio.get_running_loop())
        for pattern in SOCKETS:
            cells = expected(MATRIX["sockets"][pattern], "CONNECT")
            for name, session in sessions.items():
                settings.ZKDASH_ANONYMOUS_READ = name == "reader"
                found = await _End(address[pattern], session).outcome()
                if found != cells[name]:
                    wrong[f"{pattern} {name}"] = f"{found}, not {cells[name]}"
        await running.hub.stop()

    address = {pattern: world.address(pattern) for pattern in SOCKETS}
    try:
        asyncio.run(main())
    finally:
        engine.configure(None)
    assert wrong == {}


def test_a_profile_names_no_visitor_too_many() -> None:
    for profile in MATRIX["profiles"].values():
        for row in profile.values():
            assert len(row.split()) == len(MATRIX["visitors"])
