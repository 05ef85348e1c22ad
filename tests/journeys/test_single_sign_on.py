"""Signing in by a real OpenID Connect provider, and by a real LDAP directory, in a real browser."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import expect

from tests.access.sso.servers import READER, LdapServer, Provider, ldap_server, register, started
from tests.conftest import Chroot
from tests.management.test_serve import command
from tests.serving import Serve, Served
from tests.signing import PASSWORD, sign_in
from tests.world import World

__all__ = ["ldap_server", "started"]
pytestmark = [pytest.mark.zk, pytest.mark.browser]

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
LIMIT_MS = 15_000
SIGN_IN = """
[sign_in.oidc]
name = "Example ID"
issuer = "{0.issuer}"
client_id = "{0.client_id}"
client_secret_file = "{1}"
[[sign_in.roles]]
group = "kafka-ops"
role = "operator"
clusters = "def*"
"""
DIRECTORY = """
[sign_in.ldap]
url = "{0.safe}"
ca = "{0.certificate}"
user_base = "ou=people,dc=example,dc=org"
bind_dn = "cn=reader,dc=example,dc=org"
bind_password_env = "LDAP_PASSWORD"
group_base = "ou=groups,dc=example,dc=org"
[[sign_in.roles]]
group = "kafka-ops"
role = "operator"
clusters = "def*"
"""


@pytest.fixture
def address() -> str:
    """Where zkdash will be: the provider has to know before it is started."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture
def provider(started: Callable[..., str], address: str) -> Provider:
    return register(f"http://127.0.0.1:{started('oidc_provider.py').strip()}", address)


@pytest.fixture
def configuration(provider: Provider, tmp_path: Path) -> Path:
    file, secret = tmp_path / "zkdash.toml", tmp_path / "secret"
    secret.write_text(provider.client_secret)
    file.write_text(SIGN_IN.format(provider, secret))
    return file


@pytest.fixture
def closed(world: World, chroot: Chroot, served: Serve, address: str, configuration: Path) -> Served:
    """The world's cluster, which people see whom the provider vouches for."""
    return served(
        port=address.rpartition(":")[2],
        ZKDASH_ZOOKEEPER=chroot.address,
        ZKDASH_ANONYMOUS_READ="0",
        ZKDASH_CONFIG=configuration,
    )


def consent(page: Any, subject: str) -> None:
    page.locator("input[name=sub]").fill(subject)
    page.get_by_role("button", name="Authorize").click()


def test_one_signs_in_by_a_provider_sees_what_was_asked_for_and_loses_it_with_the_group(
    page: Any, closed: Served, provider: Provider
) -> None:
    blocked: list[str] = []
    page.on(
        "console", lambda said: blocked.append(said.text) if "Content Security Policy" in said.text else 0
    )
    provider.tell("s1", preferred_username="vera", groups=["kafka-ops"])
    page.goto(closed.address + "/c/default/topics/?q=orders")
    page.evaluate(AXE)
    assert page.evaluate("axe.run('html', {resultTypes: ['violations']})")["violations"] == []
    page.get_by_role("link", name="Sign in with Example ID").click()
    consent(page, "s1")
    expect(page).to_have_url(closed.address + "/c/default/topics/?q=orders")
    expect(page.locator("main tbody th")).to_have_text("orders", timeout=LIMIT_MS)
    expect(page.locator("header .person")).to_contain_text("vera")
    page.get_by_role("button", name="Sign out").click()

    provider.tell("s1", preferred_username="vera", groups=[])
    page.goto(closed.address + "/c/default/topics/")
    page.get_by_role("link", name="Sign in with Example ID").click()
    consent(page, "s1")
    expect(page.locator("p.problem")).to_contain_text("No cluster named “default” is configured")

    provider.tell("s2", preferred_username="vera", groups=["kafka-ops"])
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign in with Example ID").click()
    consent(page, "s2")
    expect(page.locator("p.problem")).to_contain_text("A user 'vera' is here already and is not linked to")
    page.get_by_role("link", name="Sign in", exact=True).click()
    page.get_by_role("link", name="Sign in with Example ID").click()
    page.get_by_role("button", name="Deny").click()
    expect(page.locator("p.problem")).to_contain_text("Example ID did not vouch for you.")
    assert blocked == []


@pytest.mark.usefixtures("world")
def test_one_signs_in_by_a_directory_and_nobody_becomes_somebody_of_the_same_name(
    browser: Any, chroot: Chroot, served: Serve, ldap_server: LdapServer, tmp_path: Path
) -> None:
    data, file = tmp_path / "kept", tmp_path / "zkdash.toml"
    file.write_text(DIRECTORY.format(ldap_server))
    made = command("createadmin", "otto", "--password-stdin", data=data, typed=f"{PASSWORD}\n")
    assert made.returncode == 0, made.stderr
    site = served(
        ZKDASH_ZOOKEEPER=chroot.address,
        ZKDASH_ANONYMOUS_READ="0",
        ZKDASH_CONFIG=file,
        ZKDASH_DATA=data,
        LDAP_PASSWORD=READER,
    )
    page = browser.new_context().new_page()
    page.goto(site.address + "/c/default/topics/?q=orders")
    sign_in(page, "vera", "wrong")
    expect(page.locator("p.problem")).to_contain_text("Please enter a correct username and password")
    sign_in(page, "vera", "correct horse")
    expect(page).to_have_url(site.address + "/c/default/topics/?q=orders")
    expect(page.locator("main tbody th")).to_have_text("orders", timeout=LIMIT_MS)
    expect(page.locator("header .person")).to_contain_text("vera")
    page.goto(site.address + "/c/default/actions/new/")  # what operators do
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.title().startswith("New action")
    page.get_by_role("button", name="Sign out").click()

    # The directory's otto is not ours: neither password opens the other's account.
    page.goto(site.address + "/sign-in/")
    sign_in(page, "otto", "battery staple")
    expect(page.locator("p.problem")).to_contain_text("A user 'otto' is here already and is not linked to")
    page.evaluate(AXE)
    assert page.evaluate("axe.run('html', {resultTypes: ['violations']})")["violations"] == []
    sign_in(page, "otto")
    expect(page.locator("header .person")).to_contain_text("otto")
    page.context.close()
