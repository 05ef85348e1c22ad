"""What the gate and the sign-in page answer to whom, in words and in codes."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from tests import full
from tests.web import states
from tests.web.markup import Markup
from zkdash.access import administrators, rights
from zkdash.access.models import Grant, Invitation
from zkdash.actions.models import Audit
from zkdash.live.parts import PageKey
from zkdash.web.visitors import gate

PASSWORD = "correct horse battery"
TRIES = full.pick(60, 1000)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _closed(settings: Settings) -> None:
    settings.ZKDASH_ANONYMOUS_READ = False
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    states.publish(states.healthy())
    states.publish(states.healthy(), name="other")


@pytest.fixture
def alice() -> User:
    user = User.objects.create_user("alice", password=PASSWORD)
    Grant.objects.create(user=user, role="viewer", clusters="demo")
    return user


@pytest.fixture
def signed_in(client: Client, alice: User) -> Client:
    assert client.post("/sign-in/", {"username": "alice", "password": PASSWORD}).status_code == 302
    return client


def events() -> list[tuple[str, str]]:
    return list(Audit.objects.order_by("id").values_list("event", "who"))


def test_who_is_not_signed_in_is_sent_to_sign_in_and_comes_back(client: Client, alice: User) -> None:
    answer = client.get("/c/demo/topics/?q=a%26b")
    assert answer.status_code == 302
    where = urlsplit(answer["Location"])
    assert (where.path, parse_qs(where.query)) == ("/sign-in/", {"next": ["/c/demo/topics/?q=a%26b"]})
    [wanted] = Markup(client.get(answer["Location"])).root.xpath("//input[@name='next']/@value")
    answer = client.post("/sign-in/", {"username": "alice", "password": PASSWORD, "next": wanted})
    assert (answer.status_code, answer["Location"]) == (302, "/c/demo/topics/?q=a%26b")


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "\thttps://evil",
        "///x",
    ],
)
def test_sign_in_leads_to_no_other_site(client: Client, alice: User, wanted: str) -> None:
    answer = client.post("/sign-in/", {"username": "alice", "password": PASSWORD, "next": wanted})
    assert (answer.status_code, answer["Location"]) == (302, "/")


def test_data_that_needs_sign_in_is_a_401_with_a_sentence(client: Client) -> None:
    for address, headers in (
        ("/c/demo/topics/", {"Accept": "application/json"}),
        ("/c/demo/topics/?format=json", {}),
        ("/c/demo/topics/?format=csv", {}),
        ("/?format=json", {}),
    ):
        answer = client.get(address, headers=headers)
        assert answer.status_code == 401
        assert json.loads(answer.content) == {"error": "Sign in to see this."}
        assert answer["WWW-Authenticate"].startswith("Session")


def test_nobody_learns_without_signing_in_which_clusters_there_are(client: Client) -> None:
    places = {client.get(f"/c/{name}/").headers["Location"].replace(name, "x") for name in ("demo", "nope")}
    assert len(places) == 1


def test_lists_switch_and_sentences_name_only_what_may_be_seen(signed_in: Client, alice: User) -> None:
    Grant.objects.create(user=alice, role="viewer", clusters="third")
    states.publish(states.healthy(), name="third")
    rows = json.loads(signed_in.get("/?format=json").content)["rows"]
    assert [row["cluster"] for row in rows] == ["demo", "third"]
    page = signed_in.get("/c/demo/").content.decode()
    assert "/c/third/" in page
    assert "/c/other/" not in page
    sentence = "No cluster named “other” is configured. Configured: demo, third."
    assert Markup(signed_in.get("/c/other/")).text("p.problem") == sentence


def test_the_only_cluster_that_may_be_seen_is_where_one_goes(signed_in: Client) -> None:
    assert signed_in.get("/")["Location"] == "/c/demo/"


def test_who_may_see_no_cluster_is_told_whom_to_ask(signed_in: Client) -> None:
    Grant.objects.all().delete()
    page = Markup(signed_in.get("/"))
    assert page.text("#clusters-rows").endswith("An administrator can grant you a role.")


def test_the_validator_of_a_page_depends_on_the_rights(signed_in: Client, alice: User) -> None:
    tags = []
    for change in (
        lambda: None,
        lambda: Grant.objects.update(role="operator"),
        lambda: Grant.objects.create(user=alice, role="viewer", clusters="other"),
    ):
        change()
        answer = signed_in.get("/c/demo/")
        assert answer["Cache-Control"] == "private, no-cache"
        assert "Cookie" in answer["Vary"]
        tags.append(answer["ETag"])
    assert len(set(tags)) == 3
    assert signed_in.get("/c/demo/", headers={"If-None-Match": tags[-1]}).status_code == 304
    assert signed_in.get("/c/demo/", headers={"If-None-Match": tags[0]}).status_code == 200


def test_nobody_gets_the_page_of_somebody_else_by_its_validator(
    signed_in: Client, settings: Settings
) -> None:
    tag = signed_in.get("/c/demo/")["ETag"]
    settings.ZKDASH_ANONYMOUS_READ = True
    assert Client().get("/c/demo/", headers={"If-None-Match": tag}).status_code == 200


def test_the_button_to_sign_out_works_on_a_page_that_the_browser_kept(alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    token = Markup(client.get("/sign-in/")).root.xpath("//input[@name='csrfmiddlewaretoken']/@value")[0]
    given = {"username": "alice", "password": PASSWORD, "csrfmiddlewaretoken": token}
    assert client.post("/sign-in/", given).status_code == 302
    page = client.get("/c/demo/")
    token = Markup(page).root.xpath("//input[@name='csrfmiddlewaretoken']/@value")[0]
    again = client.get("/c/demo/", headers={"If-None-Match": page["ETag"]})
    assert again.status_code == 304
    assert client.post("/sign-out/", {"csrfmiddlewaretoken": token}).status_code == 302
    assert client.get("/c/demo/").status_code == 302


def test_signing_out_is_no_link(signed_in: Client) -> None:
    assert signed_in.get("/sign-out/").status_code == 405
    assert signed_in.get("/c/demo/").status_code == 200
    assert signed_in.post("/sign-out/").status_code == 302
    assert signed_in.get("/c/demo/").status_code == 302


def test_cookies_are_for_this_site_and_not_for_scripts(signed_in: Client) -> None:
    for name in ("sessionid", "csrftoken"):
        cookie = signed_in.cookies[name]
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")


def test_over_https_cookies_stay_there(client: Client, alice: User, settings: Settings) -> None:
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    client.post("/sign-in/", {"username": "alice", "password": PASSWORD})
    assert all(client.cookies[name]["secure"] for name in ("sessionid", "csrftoken"))


def test_a_wrong_password_says_so_and_changes_nothing(client: Client, alice: User) -> None:
    answer = client.post("/sign-in/", {"username": "alice", "password": "wrong"})
    assert answer.status_code == 200
    assert Markup(answer).text("p.problem").startswith("Please enter a correct username and password.")
    assert client.get("/c/demo/").status_code == 302


def test_a_user_that_is_none_is_answered_like_one_with_another_password(client: Client, alice: User) -> None:
    said = {
        Markup(client.post("/sign-in/", {"username": name, "password": "wrong"})).text("p.problem")
        for name in ("alice", "nobody")
    }
    assert len(said) == 1


def test_attempts_are_limited_whatever_a_header_says_of_where_they_come_from(
    client: Client, alice: User
) -> None:
    def attempt(number: int, password: str, **more: Any) -> int:
        forged = {
            "X-Forwarded-For": f"10.0.{number // 250}.{number % 250}",
            "Forwarded": f"for=10.1.0.{number}",
        }
        given = {"username": "alice", "password": password}
        return client.post("/sign-in/", given, headers=forged, **more).status_code

    answers = [attempt(number, f"guess {number}") for number in range(TRIES)]
    assert answers == [200] * 5 + [429] * (TRIES - 5)
    # The right password neither, until the quarter of an hour is over; from elsewhere it works.
    assert attempt(TRIES, PASSWORD) == 429
    assert attempt(TRIES + 1, PASSWORD, REMOTE_ADDR="127.0.0.9") == 302


def test_who_tries_too_often_is_told_when_to_try_again(client: Client, alice: User) -> None:
    for _ in range(6):
        answer = client.post("/sign-in/", {"username": "alice", "password": "wrong"})
    assert answer.status_code == 429
    assert "wait 15 minutes" in Markup(answer).text("p.problem")
    assert 890 < int(answer["Retry-After"]) <= 900


def test_the_audit_tells_who_came_failed_and_went(client: Client, alice: User) -> None:
    client.post("/sign-in/", {"username": "mallory\u202e", "password": "secret-guess"})
    client.post("/sign-in/", {"username": "alice", "password": PASSWORD})
    client.post("/sign-out/")
    assert events() == [("sign-in-failed", "mallory\u202e"), ("signed-in", "alice"), ("signed-out", "alice")]
    for row in Audit.objects.all():
        assert json.loads(bytes(row.detail)) == {"from": "127.0.0.1"}


def test_the_audit_tells_once_that_somebody_tried_too_often(client: Client, alice: User) -> None:
    for _ in range(12):
        client.post("/sign-in/", {"username": "alice", "password": "wrong"})
    assert events() == [("sign-in-failed", "alice")] * 5 + [("sign-in-locked", "alice")]


def test_an_address_is_limited_whatever_names_it_tries(
    client: Client, alice: User, settings: Settings
) -> None:
    settings.ZKDASH_LIMITS = msgspec.structs.replace(settings.ZKDASH_LIMITS, address_attempts=3)
    for number in range(3):
        assert client.post("/sign-in/", {"username": f"a{number}", "password": "x"}).status_code == 200
    answer = client.post("/sign-in/", {"username": "alice", "password": PASSWORD})
    assert answer.status_code == 429
    assert "from your address" in Markup(answer).text("p.problem")
    given = {"username": "alice", "password": PASSWORD}
    assert client.post("/sign-in/", given, REMOTE_ADDR="127.0.0.9").status_code == 302
    assert events()[3:] == [("sign-in-locked", "alice"), ("signed-in", "alice")]


def test_who_signs_in_takes_nothing_from_others_of_the_address(
    client: Client, alice: User, settings: Settings
) -> None:
    settings.ZKDASH_LIMITS = msgspec.structs.replace(settings.ZKDASH_LIMITS, address_attempts=3)
    for _ in range(5):
        answer = client.post("/sign-in/", {"username": "alice", "password": PASSWORD})
        assert answer.status_code == 302


def test_guessing_the_old_password_is_an_attempt_too(signed_in: Client) -> None:
    new = {"new_password1": "staple battery horse", "new_password2": "staple battery horse"}
    found = [signed_in.post("/password/", {"old_password": "x", **new}).status_code for _ in range(6)]
    assert found == [200] * 5 + [429]
    assert signed_in.post("/password/", {"old_password": PASSWORD, **new}).status_code == 429


def test_a_changed_password_signs_out_every_other_browser(signed_in: Client, alice: User) -> None:
    elsewhere = Client()
    elsewhere.post("/sign-in/", {"username": "alice", "password": PASSWORD})
    new = {"new_password1": "staple battery horse", "new_password2": "staple battery horse"}
    wrong = signed_in.post("/password/", {"old_password": "guess", **new})
    assert Markup(wrong).text("p.problem").startswith("Your old password was entered incorrectly.")
    assert signed_in.post("/password/", {"old_password": PASSWORD, **new}).status_code == 302
    assert signed_in.get("/c/demo/").status_code == 200
    assert elsewhere.get("/c/demo/").status_code == 302


def test_a_one_time_link_makes_the_administrator_by_its_form_and_not_by_being_opened(client: Client) -> None:
    path = f"/welcome/{administrators.invite()}/"
    for _ in range(3):
        page = client.get(path)
        assert page.status_code == 200
    assert "must contain at least" in Markup(page).text("#id_password1_helptext")
    given = {"username": "root", "password1": PASSWORD, "password2": PASSWORD}
    weak = client.post(path, given | {"password1": "password", "password2": "password"})
    assert weak.status_code == 200
    assert "too common" in " ".join(Markup(weak).texts("p.problem"))
    assert not User.objects.exists()
    assert client.post(path, given)["Location"] == "/"
    assert client.get("/c/demo/").status_code == 200
    assert User.objects.get().is_superuser
    for method in ("get", "post"):
        second = getattr(Client(), method)(path, given)
        assert second.status_code == 410
        assert Markup(second).text("p.problem").startswith("This link has been used; it works once.")
    assert User.objects.count() == 1


def test_the_link_of_the_demo_signs_in_by_its_button(client: Client) -> None:
    path = f"/welcome/{administrators.invite('demo')}/"
    assert "Sign in as demo" in Markup(client.get(path)).texts("button")
    assert client.post(path).status_code == 302
    assert (User.objects.get().username, User.objects.get().has_usable_password()) == ("demo", False)
    assert client.get("/c/other/").status_code == 200


def test_a_link_that_ended_or_is_none_says_so(client: Client) -> None:
    path = f"/welcome/{administrators.invite()}/"
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    ended, none = client.get(path), client.get("/welcome/nonsense/")
    assert (ended.status_code, none.status_code) == (410, 404)
    assert "createadmin --link" in Markup(ended).text("p.problem")


def test_pages_that_are_refused_bring_the_banner_of_an_open_page(signed_in: Client) -> None:
    """An open page whose poll is refused takes from the answer what stands under its header."""
    Grant.objects.all().delete()
    refused = Markup(signed_in.get("/c/demo/"))
    [banner] = refused.all("#banner")
    assert (banner.get("data-live"), banner.getparent().get("hidden")) == ("", "")
    assert "No cluster named “demo” is configured." in refused.text("#banner")
    signed_in.post("/sign-out/")
    answer = signed_in.get("/c/demo/", follow=True)
    assert "You are signed out" in Markup(answer).text("#banner")


def test_live_parts_are_shared_by_who_sees_the_same(alice: User) -> None:
    bob = User.objects.create_user("bob")
    Grant.objects.create(user=bob, role="operator", clusters="*")
    of_alice, of_bob = (rights.of(user, anonymous_reads=False) for user in (alice, bob))
    topics, listing = PageKey("demo", "topics"), PageKey(None, "clusters")
    assert gate.seen_by(topics, of_alice) == PageKey("demo", "topics", rights="viewer")
    assert gate.seen_by(topics, of_bob) == PageKey("demo", "topics", rights="operator")
    assert gate.seen_by(PageKey("other", "topics"), of_alice) is None
    assert gate.seen_by(listing, of_alice) == PageKey(None, "clusters", ("demo",))
    assert gate.seen_by(listing, of_bob) == PageKey(None, "clusters", ("demo", "other"))


def test_what_an_administrator_grants_is_in_the_audit(client: Client, alice: User) -> None:
    root = User.objects.create_superuser("root")
    client.force_login(root, backend="django.contrib.auth.backends.ModelBackend")
    given = {"user": str(alice.pk), "group": "", "role": "operator", "clusters": "prod-*"}
    assert client.post("/admin/access/grant/add/", given).status_code == 302
    grant = Grant.objects.get(clusters="prod-*")
    assert client.post(f"/admin/access/grant/{grant.pk}/delete/", {"post": "yes"}).status_code == 302
    assert events()[1:] == [("grant-added", "root"), ("grant-deleted", "root")]
    told = json.loads(bytes(Audit.objects.get(event="grant-added").detail))
    assert told["what"] == "alice: operator on prod-*"


def test_somebody_who_administers_by_grant_needs_no_superuser_to_grant(client: Client, alice: User) -> None:
    Grant.objects.create(user=alice, role="admin", clusters="*")
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    for address in ("", "auth/user/", "auth/user/add/", f"auth/user/{alice.pk}/change/", "access/grant/add/"):
        assert client.get(f"/admin/{address}").status_code == 200
    Grant.objects.filter(role="admin").delete()
    assert client.get("/admin/", follow=True).status_code == 403
