"""Signing in by a real OpenID Connect provider, whose process checks PKCE, secrets and addresses."""

from __future__ import annotations

import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from tests.access.sso.servers import Provider
from zkdash.access import rights
from zkdash.access.models import Grant
from zkdash.access.roles import Role
from zkdash.access.sso.providers import Oidc, SignIn
from zkdash.actions.models import Audit
from zkdash.configuration.sign_in import GroupRole

pytestmark = pytest.mark.django_db
ROLES = (GroupRole("kafka-ops", "operator", "prod-*"), GroupRole("kafka-all", "viewer"))


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@pytest.fixture
def site(provider: Provider, settings: Settings) -> Provider:
    config = Oidc(name="Example ID", **provider._asdict())
    settings.ZKDASH_SIGN_IN = SignIn(oidc=config, roles=ROLES)
    return provider


@pytest.fixture
def visitor() -> Client:
    return Client()


def leave(visitor: Client, query: str = "") -> str:
    """Follow the link on the sign-in page; the provider's address that it leads to."""
    answer = visitor.get("/sign-in/oidc/" + query)
    assert answer.status_code == 302, answer.content.decode()
    return str(answer["Location"])


def consent(address: str, subject: str) -> str:
    """Sign in at the provider; the path and query of the address that it leads back to."""
    opener = urllib.request.build_opener(_Stay)
    with pytest.raises(urllib.error.HTTPError) as caught:
        opener.open(address, urllib.parse.urlencode({"sub": subject}).encode(), timeout=60)
    with caught.value as answer:
        assert answer.code == 302, answer.read().decode()
        back = urllib.parse.urlsplit(answer.headers["Location"])
    assert back.netloc == "testserver"
    return f"{back.path}?{back.query}"


def come(visitor: Client, subject: str) -> Any:
    return visitor.get(consent(leave(visitor), subject))


def events() -> list[str]:
    return [*Audit.objects.order_by("pk").values_list("event", flat=True)]


def test_the_sign_in_page_offers_it_where_it_is_configured(site: Provider, visitor: Client) -> None:
    page = visitor.get("/sign-in/?next=/c/prod-a/topics/%3Fq%3Da%26b").content.decode()
    assert 'href="/sign-in/oidc/?next=/c/prod-a/topics/%3Fq%3Da%26b"' in page
    assert "Sign in with Example ID" in page


def test_nothing_is_offered_where_it_is_not(visitor: Client) -> None:
    assert "oidc" not in visitor.get("/sign-in/").content.decode()
    assert [visitor.get(f"/sign-in/oidc/{path}").status_code for path in ("", "back/")] == [404, 404]


def test_one_is_led_to_the_provider_with_pkce_a_state_and_a_nonce(site: Provider, visitor: Client) -> None:
    asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(leave(visitor)).query))
    assert asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == "http://testserver/sign-in/oidc/back/"
    assert min(len(asked["state"]), len(asked["nonce"]), len(asked["code_challenge"])) >= 20
    again = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(leave(visitor)).query))
    assert not {asked[key] for key in ("state", "nonce", "code_challenge")} & set(again.values())


def test_one_signs_in_with_the_roles_of_the_groups_and_loses_them(site: Provider, visitor: Client) -> None:
    site.tell("s1", preferred_username="vera", groups=["kafka-ops", "kafka-all"])
    answer = visitor.get(consent(leave(visitor, "?next=/password/"), "s1"))
    assert (answer.status_code, answer["Location"]) == (302, "/password/")
    vera = User.objects.get()
    Grant.objects.create(user=vera, role="viewer", clusters="test")
    assert visitor.session["_auth_user_id"] == str(vera.pk)
    held = rights.of(vera, anonymous_reads=False)
    assert held.grants == (("*", Role.VIEWER), ("prod-*", Role.OPERATOR), ("test", Role.VIEWER))
    site.tell("s1", preferred_username="vera", groups=[])
    come(visitor, "s1")
    assert rights.of(vera, anonymous_reads=False).grants == (("test", Role.VIEWER),)
    assert events() == ["signed-in", "signed-in"]
    assert User.objects.count() == 1


def test_who_is_told_to_be_in_no_group_signs_in_and_sees_nothing(site: Provider, visitor: Client) -> None:
    site.tell("s1", preferred_username="vera")
    assert come(visitor, "s1").status_code == 302
    assert rights.of(User.objects.get(), anonymous_reads=False).grants == ()


def test_signing_in_leads_to_no_other_site(site: Provider, visitor: Client) -> None:
    site.tell("s1", preferred_username="vera", groups=[])
    assert visitor.get(consent(leave(visitor, "?next=//evil.example/"), "s1"))["Location"] == "/"


def test_a_group_may_be_told_as_one_text(site: Provider, visitor: Client) -> None:
    site.tell("s1", preferred_username="vera", groups="kafka-all")
    come(visitor, "s1")
    assert rights.of(User.objects.get(), anonymous_reads=False).grants == (("*", Role.VIEWER),)


@pytest.mark.parametrize(
    "lie",
    [
        {"aud": "another-client"},
        {"iss": "https://elsewhere.example"},
        {"nonce": "of another visit"},
        {"exp": 1_000_000_000},
        {"forged": True},
    ],
    ids=["audience", "issuer", "nonce", "expiry", "key"],
)
def test_an_id_token_that_is_not_for_this_visit_is_refused(
    site: Provider, visitor: Client, lie: dict[str, object]
) -> None:
    site.tell("liar", preferred_username="vera", groups=["kafka-ops"], **lie)
    answer = come(visitor, "liar")
    assert answer.status_code == 403
    assert "Example ID did not vouch for you." in answer.content.decode()
    assert "_auth_user_id" not in visitor.session
    assert User.objects.count() == 0
    assert events() == ["sign-in-refused"]


def test_a_state_that_was_not_given_to_this_browser_is_refused(site: Provider, visitor: Client) -> None:
    site.tell("s1", preferred_username="vera", groups=[])
    back = consent(leave(visitor), "s1")
    assert Client().get(back).status_code == 403
    query = dict(urllib.parse.parse_qsl(back.partition("?")[2]))
    tampered = urllib.parse.urlencode({**query, "state": query["state"][:-1] + "!"})
    assert visitor.get(f"/sign-in/oidc/back/?{tampered}").status_code == 403
    assert visitor.get(f"/sign-in/oidc/back/?code={query['code']}").status_code == 403
    assert visitor.get(f"{back}&iss=https://elsewhere.example").status_code == 403
    assert visitor.get(back).status_code == 302
    assert visitor.get(back).status_code == 403, "it works once"


def test_a_code_of_another_visit_is_refused(site: Provider, visitor: Client) -> None:
    site.tell("s1", preferred_username="vera", groups=[])
    stolen = dict(urllib.parse.parse_qsl(consent(leave(Client()), "s1").partition("?")[2]))["code"]
    own = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(leave(visitor)).query))["state"]
    assert visitor.get("/sign-in/oidc/back/", {"code": stolen, "state": own}).status_code == 403


def test_what_the_provider_says_of_a_failure_is_not_shown(site: Provider, visitor: Client) -> None:
    answer = visitor.get("/sign-in/oidc/back/?error=access_denied&error_description=Call+555")
    assert answer.status_code == 403
    assert "Call 555" not in answer.content.decode()
    assert '<a class="sign-in-link" href="/sign-in/">Sign in</a>' in answer.content.decode()


def test_a_user_of_that_name_is_not_taken_over(site: Provider, visitor: Client) -> None:
    User.objects.create_superuser("root", email="root@example.org", password="a local password")
    site.tell("s1", preferred_username="root", email="root@example.org", email_verified=True, groups=[])
    answer = come(visitor, "s1")
    assert answer.status_code == 403
    assert "is here already and is not linked to" in answer.content.decode()
    assert "_auth_user_id" not in visitor.session
    assert Audit.objects.get().who == "root"


@pytest.mark.parametrize(
    "name", ["x" * 5_000, "a\0b", "", None, 7], ids=["long", "nul", "none", "null", "number"]
)
def test_a_name_that_nobody_can_have_is_refused_and_told(
    site: Provider, visitor: Client, name: object
) -> None:
    site.tell("odd", preferred_username=name, groups=["kafka-ops"])
    answer = come(visitor, "odd")
    if name == 7:
        assert User.objects.get().get_username() == "7"
    else:
        assert answer.status_code == 403
        assert events() == ["sign-in-refused"]


def test_who_is_deactivated_here_stays_out(site: Provider, visitor: Client) -> None:
    site.tell("s1", preferred_username="vera", groups=[])
    come(visitor, "s1")
    User.objects.update(is_active=False)
    assert come(Client(), "s1").status_code == 403


def test_a_provider_that_is_away_or_another_is_told_so(
    site: Provider, visitor: Client, settings: Settings
) -> None:
    for issuer in ("http://127.0.0.1:1", site.issuer.replace("127.0.0.1", "localhost") + "/"):
        settings.ZKDASH_SIGN_IN = SignIn(
            oidc=Oidc(name="Example ID", issuer=issuer, client_id="x", client_secret="y")
        )
        answer = visitor.get("/sign-in/oidc/")
        assert answer.status_code == 502
        assert "Example ID can&#x27;t be asked now." in answer.content.decode()
