"""Who may do what, at every address there is, by every method: as matrix.toml says it."""

from __future__ import annotations

import asyncio
import itertools
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.routing import URLRouter
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.http import HttpResponse, HttpResponseBase
from django.test import Client
from django.urls import URLResolver, get_resolver
from django.utils import timezone
from pytest_django.fixtures import Settings

from tests import full
from tests.actions import small
from tests.narrowing import sure
from tests.web import states
from zkdash.access import embeds, tokens
from zkdash.access import rights as access
from zkdash.access.embeds import TokenStatus, View
from zkdash.access.models import Embed, Grant, Token
from zkdash.access.roles import Role
from zkdash.actions.models import Action, Audit
from zkdash.actions.queue import planning
from zkdash.cluster.plans.values import Plan
from zkdash.live import engine
from zkdash.web import urls
from zkdash.web.api import openapi
from zkdash.web.serving import renderer
from zkdash.web.serving.authorizer import NOT_ALLOWED
from zkdash.zk.config import ClusterConfig
from zkdash.zk.reader.one_shot import OneShotError

MATRIX = tomllib.loads(Path(__file__).with_name("matrix.toml").read_text())
UNSAFE = ("PUT", "PATCH", "DELETE", "POST")
METHODS = ("GET", "HEAD", "OPTIONS", *UNSAFE)
# Who can never write: each address is asked by them by each method that could, in every run.
READ_ONLY = ("viewer", "embed")
BACKEND = "django.contrib.auth.backends.ModelBackend"
ELSEWHERE = "elsewhere"
# What programs show, by visitor: a token of an administrator of everything, so that only its scope limits it.
SCOPES = {
    "seeing": (Role.VIEWER, "demo"),
    "acting": (Role.OPERATOR, "demo"),
    "apart": (Role.ADMIN, "other"),
    "revoked": (Role.ADMIN, "*"),
}
EMBED = "embed"  # who has the link of an embed and shows its token as if it were a personal one
PROGRAMS = (*SCOPES, EMBED)


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

    def address(self, pattern: str, link: str = "none") -> str:
        values: dict[str, Callable[[], str]] = {
            "cluster": lambda: "demo",
            "broker": lambda: "1",
            "path": lambda: "brokers/ids/1",
            "session": lambda: "0x100",
            "check": lambda: "D1",
            "table": lambda: "rebalances",
            "name": lambda: "billing" if "/groups/" in pattern else "orders",
            "number": lambda: str(self.action.pk),
            "kind": lambda: "create-topic",
            "token": lambda: link,
            "content_type_id": lambda: str(ContentType.objects.get_for_model(User).pk),
            "object_id": lambda: str(self._object(pattern)),
            "id": lambda: str(self.user.pk),
            "app_label": lambda: "auth",
            "url": lambda: "no/such/page/",
        }
        return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: values[found[1]](), pattern)

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
    raise OneShotError("ZooKeeper is not asked here.")


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
    if name in PROGRAMS:
        return Client(headers={"Authorization": f"Bearer {shown(name)}"})
    user, is_new = User.objects.get_or_create(username=name, is_superuser=name == "root")
    if is_new and name == ELSEWHERE:
        # Every role, since the strongest holds the rights of all.
        Grant.objects.bulk_create(Grant(user=user, role=role.value, clusters="other") for role in Role)
    elif is_new and name != "root":
        Grant.objects.create(user=user, role=name, clusters="demo")
    client = Client()
    client.force_login(user, backend=BACKEND)
    return client


def shown(name: str) -> str:
    """The token that a program of matrix.toml shows."""
    if name == EMBED:
        return link(TokenStatus.VALID)
    owner, _ = User.objects.get_or_create(username="owner", is_superuser=True)
    role, clusters = SCOPES[name]
    held, ends = access.of(owner, anonymous_reads=False), timezone.now() + timedelta(days=1)
    token, text = tokens.make(owner, name, clusters=clusters, role=role, expires_at=ends, rights=held)
    if name == "revoked":
        Token.objects.filter(pk=token.pk).update(revoked_at=timezone.now())
    return text


def link(standing: TokenStatus) -> str:
    """The token of an embed of one check that stands so."""
    if standing is TokenStatus.NONE:
        return "none"
    maker, _ = User.objects.get_or_create(username=f"maker of {standing.value}")
    if standing is not TokenStatus.UNSEEN:
        Grant.objects.get_or_create(user=maker, role="viewer", clusters="demo")
    view = View("demo", "check", ("D1",))
    token, made = embeds.create(maker, view, parents=(), theme="", valid_for=timedelta(days=1))
    changes = {TokenStatus.REVOKED: "revoked_at", TokenStatus.EXPIRED: "expires_at"}
    if standing in changes:
        Embed.objects.filter(pk=made.pk).update(**{changes[standing]: timezone.now()})
    return token


def expected(profile: str, method: str) -> Mapping[str, str]:
    """What each visitor gets by a method, by visitor."""
    cells = {
        one: row.split() for methods, row in MATRIX["profiles"][profile].items() for one in methods.split()
    }
    row = cells.get(method, ["405"] * len(MATRIX["visitors"]))
    return dict(zip(MATRIX["visitors"], row, strict=True))


def outcome(response: HttpResponseBase) -> str:
    if response.status_code == 302 and response["Location"].startswith("/sign-in/?next="):
        return "sign-in"
    if response.status_code == 302 and response["Location"].startswith("/admin/login/?next="):
        return "login"
    return str(response.status_code) if response.status_code in {401, 403, 404, 405, 410, 503} else "in"


def test_every_address_has_a_line_and_every_line_an_address() -> None:
    assert set(MATRIX["routes"]) == set(ROUTES)
    assert set(MATRIX["sockets"]) == set(SOCKETS)


class Trial(NamedTuple):
    visitor: str
    method: str
    pattern: str


def trials(places: Mapping[str, str], methods: tuple[str, ...]) -> frozenset[Trial]:
    """Who tries what in every run, where `places` tells the profile of each pattern.

    By each method at each address one visitor of each outcome that the matrix tells there, and those who are
    read-only by each method that is unsafe; and each visitor by each method that a profile names at one
    address of it at least.
    """
    found: set[Trial] = set()
    met: Counter[tuple[str, str, str]] = Counter()

    def try_(name: str, method: str, pattern: str) -> None:
        if (one := Trial(name, method, pattern)) not in found:
            found.add(one)
            met[name, method, places[pattern]] += 1

    for (pattern, profile), method in itertools.product(places.items(), methods):
        wanted = expected(profile, method)
        for outcome in sorted(set(wanted.values())):
            alike = [(met[name, method, profile], name) for name, told in wanted.items() if told == outcome]
            try_(min(alike)[1], method, pattern)
        for name in READ_ONLY if method in UNSAFE else ():
            try_(name, method, pattern)
    for (pattern, profile), name in itertools.product(places.items(), MATRIX["visitors"]):
        for method in " ".join(MATRIX["profiles"][profile]).split():
            if not met[name, method, profile]:
                try_(name, method, pattern)
    return frozenset(found)


def tried(places: Mapping[str, str], methods: tuple[str, ...]) -> frozenset[Trial]:
    """Who tries what in this run."""
    everything = itertools.product(MATRIX["visitors"], methods, places)
    return frozenset(map(Trial._make, everything)) if full.is_full() else trials(places, methods)


@pytest.mark.parametrize(
    ("places", "methods"), [(MATRIX["routes"], METHODS), (MATRIX["sockets"], ("CONNECT",))]
)
def test_each_run_meets_every_address_outcome_and_visitor(
    places: Mapping[str, str], methods: tuple[str, ...]
) -> None:
    chosen = trials(places, methods)
    outcomes, met = defaultdict(set), defaultdict(set)
    for name, method, pattern in chosen:
        outcomes[method, pattern].add(expected(places[pattern], method)[name])
        met[method, places[pattern]].add(name)
    for pattern, profile in places.items():
        for method in methods:
            wanted = expected(profile, method)
            assert outcomes[method, pattern] == set(wanted.values()), f"{method} {pattern}"
            if method in " ".join(MATRIX["profiles"][profile]).split():
                assert met[method, profile] == set(MATRIX["visitors"]), f"{method} {profile}"
            if method in UNSAFE:
                assert {(name, method, pattern) for name in READ_ONLY} <= chosen


@pytest.mark.parametrize("name", MATRIX["visitors"])
def test_each_visitor_gets_what_the_matrix_says(world: World, settings: Settings, name: str) -> None:
    settings.ZKDASH_ANONYMOUS_READ = name == "reader"
    wrong: dict[str, str] = {}
    client = visitor(name)
    chosen = tried(MATRIX["routes"], METHODS)
    for pattern, profile in MATRIX["routes"].items():
        for method in METHODS:
            if (name, method, pattern) not in chosen:
                continue
            found, wanted = outcome(client.generic(method, world.address(pattern))), expected(profile, method)
            if found != wanted[name]:
                wrong[f"{method} {pattern}"] = f"{found}, not {wanted[name]}"
        if "out" in profile:
            client = visitor(name)
    assert wrong == {}


def test_each_visitor_gets_what_is_documented_for_programs_as_on_the_page(
    world: World, settings: Settings
) -> None:
    documented = {path.removeprefix("/") for path in openapi.build()["paths"]}
    patterns = [one for one in ROUTES if re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", one) in documented]
    assert len(patterns) == len(documented)
    wrong: dict[str, str] = {}
    for name in MATRIX["visitors"]:
        settings.ZKDASH_ANONYMOUS_READ = name == "reader"
        client = visitor(name)
        for pattern in patterns:
            answer = client.get(world.address(pattern), headers={"Accept": "application/json"})
            wanted = expected(MATRIX["routes"][pattern], "GET")[name].replace("sign-in", "401")
            if outcome(answer) != wanted:
                wrong[f"{name} {pattern}"] = f"{outcome(answer)}, not {wanted}"
            if wanted in {"401", "404"}:
                assert list(answer.json()) == ["error"], f"{name} {pattern}"
    assert wrong == {}


@pytest.mark.parametrize("standing", TokenStatus)
def test_the_link_of_an_embed_opens_what_the_matrix_says_whoever_asks(
    world: World, settings: Settings, standing: TokenStatus
) -> None:
    token, wrong = link(standing), {}
    profile = MATRIX["links"][standing.value]
    patterns = [pattern for pattern, used in MATRIX["routes"].items() if used == "embed"]
    chosen = tried(dict.fromkeys(patterns, "embed"), METHODS)
    for name in MATRIX["visitors"]:
        settings.ZKDASH_ANONYMOUS_READ = name == "reader" and standing is not TokenStatus.UNSEEN
        client = visitor(name)
        for pattern in patterns:
            for method in METHODS:
                if (name, method, pattern) not in chosen:
                    continue
                found = outcome(client.generic(method, world.address(pattern, token)))
                if found != (wanted := profile if method in {"GET", "HEAD"} else "405"):
                    wrong[f"{name} {method} {pattern}"] = f"{found}, not {wanted}"
    assert len(patterns) == 2
    assert wrong == {}


def test_a_hidden_cluster_is_answered_like_one_that_does_not_exist(world: World) -> None:
    client = visitor(ELSEWHERE)
    for pattern in ROUTES:
        path = world.address(pattern)
        for method in full.pick(("GET", "POST"), METHODS) if path.startswith("/c/demo/") else ():
            hidden = client.generic(method, path)
            none = client.generic(method, path.replace("/demo/", "/nope/", 1))
            assert hidden.status_code == none.status_code, f"{method} {path}"
            assert _words(hidden).replace("demo", "nope") == _words(none), f"{method} {path}"


def _words(response: HttpResponseBase) -> str:
    """What an answer says, without the token of its button to sign out."""
    return re.sub(
        r'name="csrfmiddlewaretoken" value="[^"]+"', "", sure(HttpResponse, response).content.decode()
    )


def test_nothing_is_changed_without_the_token(world: World) -> None:
    client = visitor("root")
    client.handler.enforce_csrf_checks = True
    for number, pattern in enumerate(ROUTES):
        for method in full.pick(("POST", UNSAFE[number % 3]), UNSAFE):
            response = client.generic(method, world.address(pattern))
            assert response.status_code == 403, f"{method} {pattern}"


async def _opening(path: str, *headers: tuple[bytes, bytes]) -> str:
    """Whether the first thing that comes to a browser's end of a socket is a frame, or the end."""
    scope = {"type": "websocket", "path": path, "query_string": b"", "headers": list(headers)}
    end = ApplicationCommunicator(URLRouter(cast("list[Any]", urls.websocket_urlpatterns)), scope)
    await end.send_input({"type": "websocket.connect"})
    assert (await end.receive_output(60))["type"] == "websocket.accept"
    first = await end.receive_output(60)
    await end.send_input({"type": "websocket.disconnect", "code": 1001})
    await end.wait(60)
    if first == {"type": "websocket.close", "code": NOT_ALLOWED}:
        return "refused"
    return "in" if first["type"] == "websocket.send" else str(first)


def headers(name: str) -> tuple[tuple[bytes, bytes], ...]:
    """With what a visitor's browser, or program, opens a socket."""
    if name in PROGRAMS:
        return ((b"authorization", f"Bearer {shown(name)}".encode()),)
    session = visitor(name).session.session_key
    return ((b"cookie", f"{configured.SESSION_COOKIE_NAME}={session}".encode()),) if session else ()


def openings(
    settings: Settings, asked: Mapping[tuple[str, str], tuple[tuple[bytes, bytes], ...]]
) -> Mapping[tuple[str, str], str]:
    """How a socket opens at each address for each visitor with these headers."""
    found: dict[tuple[str, str], str] = {}

    async def main() -> None:
        running = engine.Engine((), renderer.Renderer())
        engine.configure(running)
        running.hub.start(asyncio.get_running_loop())
        for (path, name), sent in asked.items():
            settings.ZKDASH_ANONYMOUS_READ = name == "reader"
            found[path, name] = await _opening(path, *sent)
        await running.hub.stop()

    try:
        asyncio.run(main())
    finally:
        engine.configure(None)
    return found


@pytest.mark.django_db(transaction=True)
def test_each_socket_lets_in_whom_the_matrix_says(world: World, settings: Settings) -> None:
    sent = {name: headers(name) for name in MATRIX["visitors"]}
    wanted = {
        (world.address(pattern), name): expected(MATRIX["sockets"][pattern], method)[name]
        for name, method, pattern in tried(MATRIX["sockets"], ("CONNECT",))
    }
    assert openings(settings, {key: sent[key[1]] for key in wanted}) == wanted


@pytest.mark.django_db(transaction=True)
def test_the_socket_of_an_embed_opens_by_its_link_alone(world: World, settings: Settings) -> None:
    paths = {one: world.address("live/embed/<str:token>/", link(one)) for one in TokenStatus}
    wanted = {
        (path, name): "in" if MATRIX["links"][one.value] == "in" else "refused"
        for one, path in paths.items()
        for name in MATRIX["visitors"]
        if (one, name) != (TokenStatus.UNSEEN, "reader")  # where everybody may see, so may its maker
    }
    sent = {name: (*headers(name), (b"origin", b"null")) for name in MATRIX["visitors"]}
    assert openings(settings, {key: sent[key[1]] for key in wanted}) == wanted


def test_a_profile_names_no_visitor_too_many() -> None:
    for profile in MATRIX["profiles"].values():
        for row in profile.values():
            assert len(row.split()) == len(MATRIX["visitors"])
