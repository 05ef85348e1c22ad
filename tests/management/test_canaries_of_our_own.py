"""Secrets of zkdash's own: what it gives out, and what it shows to others, stays with whom it is for.

Personal tokens and the links of embeds are told once, to who makes them. The secrets of an LDAP directory, of
an OpenID Connect provider, of webhooks and of mail go to those alone, also when they are away.
"""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import RequestFactory
from django.views.debug import technical_500_response
from pytest_django.fixtures import Settings

from tests.access.sso.servers import READER, LdapServer, ldap_server, register, started
from tests.conftest import Chroot
from tests.management.canaries import Seen, canary, session
from tests.management.test_serve import Browser, command
from tests.serving import Serve, Served, served
from tests.waiting import wait_for
from tests.world import World
from zkdash.access.sso.providers import Ldap, Oidc, SignIn
from zkdash.notices.mail import Mail
from zkdash.notices.webhooks import Webhook
from zkdash.web import pages
from zkdash.zk.config import ClusterConfig

__all__ = ["ldap_server", "served", "started"]

LIMIT_S = 60.0
NOBODY = "127.0.0.1:1"
# What people see, and what programs do; the addresses that hold a secret themselves are not among them.
ADDRESSES = (
    "/", "/healthz", "/readyz", "/metrics", "/api/openapi.json", "/tokens/", "/admin/", "/admin/auth/user/",
    "/admin/access/grant/", "/nowhere/", "/sign-in/", "/c/other/", "/c/default/embeds/",
    "/c/default/embeds/preview/?view=overview", "/c/default/search/?q=CANARY", "/embed/none/",
    "/embed/none/badge.svg", "/sign-in/oidc/back/?code=none&state=none",
)  # fmt: skip


@pytest.fixture
def cluster(chroot: Chroot) -> Iterator[World]:
    world = World(chroot.client, chroot.address)
    for number in (1, 2, 3):
        world.broker(number, controller=number == 1)
    world.topic("orders", {0: [1, 2], 1: [2, 3]})
    yield world
    world.close()


def addresses() -> Iterator[str]:
    named = {"topics": "orders", "brokers": "1", "actions": "1"}
    for page in pages.PAGES:
        told = named.get(page.route.partition("/")[0], "orders")
        yield "/c/default/" + re.sub(r"<[^>]+>", told, page.route)
    yield from ADDRESSES


def look(site: Served, seen: Seen, browser: Browser, **shown: str) -> None:
    """All of it as a person, as a program, and as who shows what is worth nothing."""
    for address in addresses():
        join = "&" if "?" in address else "?"
        for shape in ("html", "json", "csv"):
            asked = f"{address}{join}format={shape}"
            seen.add(f"{asked} to a person", browser.get(asked)[1])
            for who, token in {**shown, "nothing": "zkd_none"}.items():
                answer = site.get(asked, Authorization=f"Bearer {token}")
                seen.add(f"{asked} to who shows {who}", answer.body + repr(answer.headers).encode())


def made(browser: Browser, seen: Seen) -> dict[str, str]:
    """A token and a link, told once to who makes them."""
    status, told = browser.post("/tokens/", name="ci", role="viewer", clusters="*", days="30")
    assert status == 200, told
    token = re.findall(r'<code id="token">(zkd_[\w-]{43})</code>', told)[0]
    embeds = "/c/default/embeds/"
    status, told = browser.post(embeds, view="check:D1", days="30", do="create")
    assert status == 200, told
    [link] = set(re.findall(r"/embed/([\w-]{43})/", html.unescape(told)))
    status, told = browser.post(embeds, view="overview", days="30", do="create")
    [ended] = set(re.findall(r"/embed/([\w-]{43})/", html.unescape(told)))
    [number] = re.findall(r"/c/default/embeds/(\d+)/revoke/", told)[:1]
    seen.add("revoked", browser.post_from(embeds, f"{embeds}{number}/revoke/")[1])
    return {"token": token, "link": link, "link that ended": ended}


def proposed(browser: Browser) -> str:
    """The number of a new action that waits for review."""
    form = "/c/default/actions/new/create-topic/"
    told = browser.post(form, do="propose", topic="shipments", partitions="1", replication="1")[1]
    found = re.findall(r"/actions/(\d+)/submit/", told)
    assert found, re.findall(r'class="problem">.*?<|errorlist.*', told)
    return str(found[0])


def configured(directory: Path, address: str, ldap: LdapServer, issuer: str) -> Path:
    file, secret = directory / "zkdash.toml", directory / "webhook-secret"
    secret.write_text(canary("webhook-secret"))
    secret.chmod(0o600)
    (directory / "smtp-password").write_text(canary("smtp"))
    (directory / "smtp-password").chmod(0o600)
    file.write_text(
        f"""
[clusters.default]
zookeeper = "{address}"
ask_brokers = false
webhooks = ["http://{NOBODY}/{canary("hook")}/?key={canary("hook-key")}"]
mail = ["ops@example.org"]
[sign_in.ldap]
url = "{ldap.plain}"
user_base = "ou=people,dc=example,dc=org"
bind_dn = "cn=reader,dc=example,dc=org"
bind_password_env = "LDAP_PASSWORD"
[sign_in.oidc]
issuer = "{issuer}"
client_id = "zkdash"
client_secret_env = "OIDC_SECRET"
"""
    )
    return file


@pytest.mark.zk
@pytest.mark.usefixtures("cluster")
def test_what_zkdash_gives_out_and_holds_comes_out_nowhere_else(
    served: Serve, chroot: Chroot, ldap_server: LdapServer, started: Any, tmp_path: Path
) -> None:
    data, seen = tmp_path / "kept", Seen()
    provider = register(f"http://127.0.0.1:{started('oidc_provider.py').strip()}", "http://127.0.0.1:1")
    secrets = {one: canary(one) for one in ("hook", "hook-key", "webhook-secret", "smtp", "password")}
    secrets |= {"ldap": READER, "oidc": provider.client_secret, "typed": "correct horse"}
    command("createadmin", "root", "--password-stdin", data=data, typed=secrets["password"] + "\n")
    environ = {
        "ZKDASH_CONFIG": configured(tmp_path, chroot.address, ldap_server, provider.issuer),
        "ZKDASH_DATA": data,
        "ZKDASH_ANONYMOUS_READ": "0",
        "ZKDASH_METRICS_NAMES": "1",
        "ZKDASH_LOG": "json",
        "ZKDASH_WEBHOOK_SECRET_FILE": tmp_path / "webhook-secret",
        "ZKDASH_EMAIL_HOST": "127.0.0.1",
        "ZKDASH_EMAIL_PORT": "1",
        "ZKDASH_EMAIL_USER": "zkdash",
        "ZKDASH_EMAIL_PASSWORD_FILE": tmp_path / "smtp-password",
        "LDAP_PASSWORD": READER,
        "OIDC_SECRET": provider.client_secret,
    }
    site = served(**environ)
    browser, vera = Browser(site.address), Browser(site.address)
    seen.add("sign-in", browser.post("/sign-in/", username="root", password=secrets["password"])[1])
    seen.add("by LDAP", vera.post("/sign-in/", username="vera", password="wrong")[1])
    seen.add("by LDAP", vera.post("/sign-in/", username="vera", password=secrets["typed"])[1])
    assert "vera" in vera.get("/")[1]
    seen.add("to the provider", repr(site.get("/sign-in/oidc/").headers))
    wait_for(lambda: '"as_of": "' in browser.get("/c/default/topics/?format=json")[1], LIMIT_S, site.printed)
    secrets |= made(browser, seen)
    number = proposed(browser)
    page = f"/c/default/actions/{number}/"
    seen.add("withdrawn", browser.post_from(page, f"{page}stop/")[1])

    look(site, seen, browser, token=secrets["token"], link=secrets["link"])
    for name in ("link", "link that ended"):  # the frame's own socket is the one place for its token
        frame = site.get(f"/embed/{secrets[name]}/")
        seen.add(f"frame of a {name}", frame.text.replace(f'"/live/embed/{secrets[name]}/', "").encode())
        seen.add(
            f"frame of a {name}", repr(frame.headers) + site.get(f"/embed/{secrets[name]}/badge.svg").text
        )
    assert site.get(f"/embed/{secrets['link']}/").status == 200
    assert site.get("/c/default/", Authorization=f"Bearer {secrets['token']}").status == 200

    def told() -> list[dict[str, Any]]:
        printed = command("notices", data=data).stdout
        seen.add("notices", printed)
        return [json.loads(line) for line in printed.splitlines()]

    waits = wait_for(
        lambda: len(found := told()) == 2 and all(one["attempts"] for one in found) and found, LIMIT_S
    )
    assert isinstance(waits, list)
    assert all(one["last_error"] for one in waits)
    dump = command("dumpdata", "--all", data=data).stdout
    assert {"access.token", "access.embed", "notices.delivery", "sso.identity"} <= {
        row["model"] for row in json.loads(dump)
    }
    seen.add("dump", dump)
    seen.add("log", site.err.read_bytes() + site.out.read_bytes())
    assert "embed-made" in command("audit", "export", data=data).stdout
    seen.add("audit", command("audit", "export", data=data).stdout)
    sessions = {"session": session(browser), "session of vera": session(vera)}
    seen.add_files(data)
    assert seen.leaks(secrets) == []
    shown = Seen()
    shown.add("log", site.err.read_bytes() + site.out.read_bytes())
    assert shown.leaks(sessions) == []


@pytest.mark.zk
def test_a_directory_and_a_provider_that_are_away_are_told_without_their_secrets(
    served: Serve, tmp_path: Path
) -> None:
    seen = Seen()
    away = LdapServer(f"ldap://{NOBODY}", "", tmp_path)
    site = served(
        ZKDASH_CONFIG=configured(tmp_path, NOBODY, away, f"http://{NOBODY}"),
        ZKDASH_DEBUG="1",
        ZKDASH_WEBHOOK_SECRET=canary("webhook-secret"),
        ZKDASH_EMAIL_HOST=NOBODY,
        LDAP_PASSWORD=canary("ldap"),
        OIDC_SECRET=canary("oidc"),
    )
    browser = Browser(site.address)
    told = browser.post("/sign-in/", username="vera", password=canary("typed"))[1]
    assert "The directory can&#x27;t be asked now" in told
    answer = site.get("/sign-in/oidc/")
    assert answer.status == 502
    seen.add("answers", told + answer.text)
    for address in addresses():
        seen.add(address, site.get(address).body)
    seen.add("host", site.get("/", Host="evil.example").body)
    seen.add("log", site.err.read_bytes())
    assert NOBODY in site.err.read_text()
    names = ("webhook-secret", "hook", "hook-key", "ldap", "oidc", "typed")
    assert seen.leaks({name: canary(name) for name in names}) == []


@pytest.mark.parametrize("tell", [repr, str, lambda value: repr([value])])
def test_a_failing_view_shows_none_of_them_with_debug(
    settings: Settings, tell: Callable[[object], str]
) -> None:
    settings.DEBUG = True
    settings.ZKDASH_WEBHOOK_SECRET = settings.EMAIL_HOST_PASSWORD = canary("env")
    settings.ZKDASH_CLUSTERS = (ClusterConfig("a", (("h", 1),), webhooks=(f"https://h/{canary('hook')}",)),)
    settings.ZKDASH_SIGN_IN = SignIn(
        Oidc(issuer="https://id", client_id="zkdash", client_secret=canary("oidc")),
        Ldap(url="ldaps://h", user_base="dc=org", bind_password=canary("ldap")),
    )
    held = (
        settings.ZKDASH_CLUSTERS,
        settings.ZKDASH_SIGN_IN,
        Webhook(f"https://h/{canary('hook')}", canary("env")),
        Mail("ops@example.org"),
    )
    request = RequestFactory().get("/", headers={"accept": "text/html", "authorization": canary("token")})
    try:
        raise ValueError(tell(held))  # noqa: TRY301 - so that there is something to show
    except ValueError:
        answer = technical_500_response(request, *sys.exc_info())
    assert "ZKDASH_SIGN_IN" in answer.content.decode()
    seen = Seen()
    seen.add("page", answer.content)
    assert seen.leaks({name: canary(name) for name in ("env", "hook", "oidc", "ldap")}) == []
