"""Signing in by a real OpenID Connect provider, and by a real LDAP directory, in a real browser."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import expect

from tests.access.sso.servers import READER, LdapServer, Provider, ldap_server, register, started
from tests.journeys import looking
from tests.journeys.sites import Site, Sites
from tests.signing import sign_in, sign_out
from tests.zk.proxy import Proxy
from zkdash.access.roles import Role
from zkdash.demo.zookeeper.server import Server

__all__ = ["ldap_server", "started"]
pytestmark = [pytest.mark.zk, pytest.mark.browser]

BOTH = """
[sign_in.oidc]
name = "Example ID"
issuer = "{0.issuer}"
client_id = "{0.client_id}"
client_secret_file = "{1}"
[sign_in.ldap]
url = "{2.safe}"
ca = "{2.certificate}"
user_base = "ou=people,dc=example,dc=org"
bind_dn = "cn=reader,dc=example,dc=org"
bind_password_env = "LDAP_PASSWORD"
group_base = "ou=groups,dc=example,dc=org"
[[sign_in.roles]]
group = "kafka-ops"
role = "operator"
clusters = "c*"
"""


class Scene(NamedTuple):
    """A cluster that people see whom the provider or the directory vouches for.

    `address` is where browsers reach it: the provider has to know before zkdash is started.
    """

    site: Site
    provider: Provider
    address: str

    @property
    def home(self) -> str:
        return self.address + self.site.path


@pytest.fixture(scope="module")
def scene(
    started: Callable[..., str],
    ldap_server: LdapServer,
    tmp_path_factory: pytest.TempPathFactory,
    zookeeper: Server,
    django_db_blocker: Any,
) -> Iterator[Scene]:
    below = tmp_path_factory.mktemp("vouched")
    with Proxy(0) as proxy:
        address = f"http://127.0.0.1:{proxy.port}"
        provider = register(f"http://127.0.0.1:{started('oidc_provider.py').strip()}", address)
        secret = below / "secret"
        secret.write_text(provider.client_secret)
        sites = Sites(
            below,
            zookeeper,
            django_db_blocker.unblock,
            count=1,
            config=BOTH.format(provider, secret, ldap_server),
            ZKDASH_ANONYMOUS_READ="0",
            ZKDASH_ORIGINS=address,
            LDAP_PASSWORD=READER,
        )
        with contextlib.closing(sites), sites.site() as site:
            proxy.target = int(site.address.rpartition(":")[2])
            yield Scene(site, provider, address)


def consent(page: Any, subject: str) -> None:
    page.locator("input[name=sub]").fill(subject)
    page.get_by_role("button", name="Authorize").click()


def leave(page: Any) -> None:
    sign_out(page)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_one_signs_in_by_a_provider_sees_what_was_asked_for_and_loses_it_with_the_group(
    page: Any, scene: Scene
) -> None:
    blocked: list[str] = []
    page.on(
        "console", lambda said: blocked.append(said.text) if "Content Security Policy" in said.text else 0
    )
    scene.provider.tell("s1", preferred_username="olivia", groups=["kafka-ops"])
    page.goto(scene.home + "topics/?q=orders")
    assert looking.violations(page) == []
    page.get_by_role("link", name="Sign in with Example ID").click()
    consent(page, "s1")
    expect(page).to_have_url(scene.home + "topics/?q=orders")
    expect(page.locator("main tbody th")).to_have_text("orders")
    expect(page.locator("header .person")).to_contain_text("olivia")
    leave(page)

    scene.provider.tell("s1", preferred_username="olivia", groups=[])
    page.goto(scene.home + "topics/")
    page.get_by_role("link", name="Sign in with Example ID").click()
    consent(page, "s1")
    expect(page.locator("p.problem")).to_contain_text(
        f"No cluster named “{scene.site.cluster}” is configured"
    )

    scene.provider.tell("s2", preferred_username="olivia", groups=["kafka-ops"])
    leave(page)
    page.get_by_role("link", name="Sign in with Example ID").click()
    consent(page, "s2")
    expect(page.locator("p.problem")).to_contain_text("A user 'olivia' is here already and is not linked to")
    page.get_by_role("link", name="Sign in", exact=True).click()
    page.get_by_role("link", name="Sign in with Example ID").click()
    page.get_by_role("button", name="Deny").click()
    expect(page.locator("p.problem")).to_contain_text("Example ID did not vouch for you.")
    assert blocked == []


def test_one_signs_in_by_a_directory_and_nobody_becomes_somebody_of_the_same_name(
    page: Any, scene: Scene
) -> None:
    scene.site.process.person("otto", Role.ADMIN)
    page.goto(scene.home + "topics/?q=orders")
    sign_in(page, "vera", "wrong")
    expect(page.locator("p.problem")).to_contain_text("Please enter a correct username and password")
    sign_in(page, "vera", "correct horse")
    expect(page).to_have_url(scene.home + "topics/?q=orders")
    expect(page.locator("main tbody th")).to_have_text("orders")
    expect(page.locator("header .person")).to_contain_text("vera")
    page.goto(scene.home + "actions/new/")  # what operators do
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.title().startswith("New action")
    leave(page)

    # The directory's otto is not ours: neither password opens the other's account.
    page.goto(scene.address + "/sign-in/")
    sign_in(page, "otto", "battery staple")
    expect(page.locator("p.problem")).to_contain_text("A user 'otto' is here already and is not linked to")
    assert looking.violations(page) == []
    sign_in(page, "otto")
    expect(page.locator("header .person")).to_contain_text("otto")
