"""Requests and sockets that show a token, and the page where tokens are made."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from typing import Any, cast

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.routing import URLRouter
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from tests.actions import small
from tests.narrowing import sure
from tests.web import states
from tests.web.markup import Markup
from zkdash.access import rights, tokens
from zkdash.access.models import Grant, Token
from zkdash.access.roles import Role
from zkdash.actions.models import Action, Audit
from zkdash.live import engine
from zkdash.live.sockets import hub
from zkdash.web import urls
from zkdash.web.serving import renderer
from zkdash.web.serving.authorizer import NOT_ALLOWED, DatabaseAuthorizer
from zkdash.zk.config import ClusterConfig

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture(autouse=True)
def _closed(settings: Settings) -> None:
    settings.ZKDASH_ANONYMOUS_READ = False
    settings.ZKDASH_CLUSTERS = tuple(ClusterConfig(name, (("127.0.0.1", 1),)) for name in ("demo", "other"))
    for name in ("demo", "other"):
        states.publish(states.healthy(), name=name)


def granted(role: str = "operator", clusters: str = "*") -> User:
    user = User.objects.create_user("alice")
    Grant.objects.create(user=user, role=role, clusters=clusters)
    return user


def make(user: User, role: Role = Role.VIEWER, clusters: str = "*") -> str:
    held = rights.of(user, anonymous_reads=False)
    ends = timezone.now() + timedelta(days=1)
    return tokens.make(user, "a script", clusters=clusters, role=role, expires_at=ends, rights=held)[1]


def ask(text: str, path: str = "/c/demo/topics/?format=json", method: str = "GET") -> HttpResponse:
    client = Client(enforce_csrf_checks=True)
    return sure(HttpResponse, client.generic(method, path, headers={"Authorization": f"Bearer {text}"}))


def test_a_token_opens_what_its_user_may_see_within_its_scope() -> None:
    text = make(granted(clusters="*"), clusters="demo")
    assert json.loads(ask(text).content)["total"] == 3
    assert ask(text, "/c/other/topics/?format=json").status_code == 404
    assert [row["cluster"] for row in json.loads(ask(text, "/?format=json").content)["rows"]] == ["demo"]
    Grant.objects.all().delete()
    assert ask(text).status_code == 404


def test_a_token_that_ended_or_was_revoked_is_a_401_at_once_also_where_everybody_reads(
    settings: Settings,
) -> None:
    settings.ZKDASH_ANONYMOUS_READ = True
    text = make(granted())
    assert ask(text).status_code == 200
    for change in ({"revoked_at": timezone.now()}, {"expires_at": timezone.now(), "revoked_at": None}):
        Token.objects.update(**change)
        for path in ("/c/demo/topics/", "/c/demo/topics/?format=json", "/c/none/", "/"):
            answer = ask(text, path)
            assert answer.status_code == 401
            assert 'error="invalid_token"' in answer["WWW-Authenticate"]
            assert json.loads(answer.content) == {
                "error": "This token is unknown, has ended or was revoked. Make another at /tokens/."
            }
    assert Client().get("/c/demo/topics/").status_code == 200


def test_a_request_with_a_token_acts_without_a_csrf_token_and_one_with_a_cookie_does_not() -> None:
    user = granted("operator")
    action = small.proposed("demo")
    path = f"/c/demo/actions/{action.pk}/submit/"
    seeing, acting = make(user), make(user, Role.OPERATOR)
    assert ask(seeing, path, "POST").status_code == 403
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(user, backend=BACKEND)
    assert browser.post(path).status_code == 403
    assert Action.objects.get().state == "planned"
    assert ask(acting, path, "POST").status_code == 303
    assert Action.objects.get().state != "planned"
    assert Audit.objects.filter(action=action.pk).order_by("-id")[0].who == "alice"


def test_a_token_beside_a_session_is_all_that_counts() -> None:
    root = User.objects.create_superuser("root")
    browser = Client()
    browser.force_login(root, backend=BACKEND)
    shown = {"Authorization": f"bearer {make(granted(), clusters='demo')}"}
    assert browser.get("/c/other/", headers=shown).status_code == 404
    assert browser.get("/admin/", headers=shown).status_code == 302
    assert browser.get("/c/other/", headers={"Authorization": "Bearer nonsense"}).status_code == 401
    assert browser.get("/c/other/", headers={"Authorization": "Basic cm9vdDo="}).status_code == 200


def test_a_token_makes_and_revokes_no_token() -> None:
    text = make(User.objects.create_superuser("root"), Role.ADMIN)
    number = Token.objects.get().pk
    assert ask(text, "/tokens/").status_code == 403
    assert ask(text, "/tokens/", "POST").status_code == 403
    assert ask(text, f"/tokens/{number}/revoke/", "POST").status_code == 403
    assert ask(text, "/admin/").status_code == 302


def test_a_token_is_made_shown_once_listed_and_revoked() -> None:
    browser = Client()
    browser.force_login(granted("operator"), backend=BACKEND)
    page = Markup(browser.get("/tokens/"))
    assert page.root.xpath("//select[@name='role']/option/@value") == ["viewer", "operator"]
    given = {"name": "<b>ci</b>", "role": "operator", "clusters": "demo", "days": "30"}
    made = browser.post("/tokens/", given)
    text = Markup(made).text("#token")
    assert re.fullmatch(r"zkd_[\w-]{43}", text)
    assert "no-store" in made["Cache-Control"]
    assert ask(text).status_code == 200
    again = browser.get("/tokens/").content.decode()
    assert text not in again
    assert "&lt;b&gt;ci&lt;/b&gt;" in again
    number = Token.objects.get().pk
    assert browser.post(f"/tokens/{number}/revoke/")["Location"] == "/tokens/"
    assert ask(text).status_code == 401
    assert "revoked" in browser.get("/tokens/").content.decode()
    events = Audit.objects.filter(event__startswith="token-").order_by("id")
    assert [(one.event, one.who) for one in events] == [("token-made", "alice"), ("token-revoked", "alice")]
    assert all(text.encode() not in bytes(one.detail) for one in events)


@pytest.mark.parametrize(
    "change", [{"role": "approver"}, {"role": "none"}, {"days": "1000"}, {"name": ""}, {"clusters": ""}]
)
def test_what_is_asked_wrongly_makes_no_token(change: dict[str, str]) -> None:
    browser = Client()
    browser.force_login(granted("operator"), backend=BACKEND)
    given = {"name": "ci", "role": "viewer", "clusters": "*", "days": "30"} | change
    answer = browser.post("/tokens/", given)
    assert answer.status_code == 422
    assert Markup(answer).root.xpath("//p[@role='alert']")
    assert not Token.objects.exists()


def test_nobody_revokes_the_token_of_somebody_else() -> None:
    text = make(granted())
    browser = Client()
    browser.force_login(User.objects.create_user("eve"), backend=BACKEND)
    assert browser.post(f"/tokens/{Token.objects.get().pk}/revoke/").status_code == 404
    assert ask(text).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_socket_opens_by_a_token_and_closes_when_it_is_revoked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "JUDGE_EVERY_S", 0.05)
    text = make(granted())

    async def talk(shown: str, *, revoke: bool) -> dict[str, Any]:
        headers = [(b"authorization", f"Bearer {shown}".encode())]
        scope = {"type": "websocket", "path": "/live/c/demo/", "query_string": b"", "headers": headers}
        end = ApplicationCommunicator(URLRouter(cast("list[Any]", urls.websocket_urlpatterns)), scope)
        await end.send_input({"type": "websocket.connect"})
        assert (await end.receive_output(60))["type"] == "websocket.accept"
        heard: dict[str, Any] = await end.receive_output(60)
        if revoke:
            assert heard["type"] == "websocket.send"
            await asyncio.to_thread(Token.objects.update, revoked_at=timezone.now())
            while heard["type"] == "websocket.send":
                heard = await end.receive_output(60)
        await end.send_input({"type": "websocket.disconnect", "code": 1001})
        await end.wait(60)
        return heard

    async def main() -> None:
        running = engine.Engine((), renderer.Renderer())
        engine.configure(running)
        running.hub.guard(DatabaseAuthorizer())
        running.hub.start(asyncio.get_running_loop())
        assert (await talk("zkd_" + "A" * 43, revoke=False))["code"] == NOT_ALLOWED
        assert (await talk(text, revoke=True))["code"] == NOT_ALLOWED
        await running.hub.stop()

    try:
        asyncio.run(main())
    finally:
        engine.configure(None)
