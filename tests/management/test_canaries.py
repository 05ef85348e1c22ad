"""Secrets never leave: over thirty canaries are planted, and looked for wherever zkdash speaks.

A real `serve` of a real ZooKeeper, as a person and as nobody, with the JSON log and with Django's own error
pages: every page in every format, the frames of sockets, refusals, a review that edits a secret znode, that
action carried out, the log, and every file that zkdash keeps.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import websockets.sync.client
from django.test import RequestFactory
from django.views.debug import technical_500_response
from kazoo.client import KazooClient
from pytest_django.fixtures import Settings
from websockets.typing import Origin

from tests.conftest import Chroot
from tests.management.canaries import Seen, canary, session
from tests.management.test_serve import Browser, command
from tests.serving import DATABASE, Serve, Served, served
from tests.waiting import wait_for
from tests.world import World
from zkdash import configuration
from zkdash.web import pages
from zkdash.zk import config
from zkdash.zk.config import ClusterConfig

__all__ = ["served"]

LIMIT_S = 60.0
LEAST_CANARIES = 30
IDENTITY = f"zkdash:{canary('digest')}"


def document(**values: object) -> bytes:
    return json.dumps(values).encode()


def planted() -> dict[str, bytes]:
    """Znodes that hold secrets, whole and malformed, by path."""
    scram = {
        "SCRAM-SHA-256": f"salt={canary('salt')},stored_key={canary('stored')},server_key={canary('server')}",
        "SCRAM-SHA-512": canary("scram512"),
        "producer_byte_rate": "1024",
        "consumer_byte_rate": canary("quota"),
    }
    passwords = {
        "listener.name.ssl.ssl.keystore.password": canary("keystore"),
        "ssl.key.password": canary("key"),
        "ssl.truststore.password": canary("truststore"),
        "listener.name.sasl.plain.sasl.jaas.config": canary("jaas"),
    }
    return {
        "/config/users/alice": document(version=1, config=scram, owner=canary("owner")),
        "/config/users/alice/clients/app": document(
            version=1, config={"request_percentage": canary("client")}
        ),
        "/config/users/<default>": document(version=1, config={"SCRAM-SHA-256": canary("default")}),
        "/config/users/cut": b'{"version":1,"config":{"SCRAM-SHA-512":"' + canary("cut").encode(),
        "/config/users/list": document_of([canary("list")]),
        "/config/users/text": document_of(canary("text")),
        "/config/users/nested": document(version=1, config={"x": {"y": canary("nested")}}),
        "/config/users/version": document(version=canary("version"), config={}),
        "/config/users/broken": b"\xff\xfe" + canary("bytes").encode(),
        "/config/users/twice": b'{"config":{"a":"%b"},"config":{"a":"b"}}' % canary("twice").encode(),
        "/config/users/deep": b'{"a":' * 5_000 + document_of(canary("deep")) + b"}" * 5_000,
        "/config/brokers/1": document(version=1, config=passwords, extra=canary("extra")),
        "/config/brokers/5": document(version=1, config=canary("string")),
        "/config/brokers/<default>": document(version=1, config={"sasl.jaas.config": canary("everywhere")}),
        "/config/brokers/6": b"password=" + canary("properties").encode(),
        "/config/brokers": canary("parent").encode(),
        "/delegation_token/tokens/abc": document(version=3, tokenId="abc", hmac=canary("hmac")),
        "/delegation_token/tokens/cut": b'{"hmac":"' + canary("hmac-cut").encode(),
        "/delegation_token": canary("token-parent").encode(),
    }


def document_of(value: object) -> bytes:
    return json.dumps(value).encode()


@pytest.fixture
def cluster(chroot: Chroot) -> Iterator[World]:
    world = World(chroot.client, chroot.address)
    for number in (1, 2, 3):
        world.broker(number, controller=number == 1)
    world.topic("orders", {0: [1, 2], 1: [2, 3]})
    for path in ("/config/changes", "/config/brokers"):
        chroot.client.ensure_path(path)
    for path, data in planted().items():
        chroot.client.ensure_path(path)
        chroot.client.set(path, data)
    yield world
    world.close()
    # What its executor made belongs to it alone.
    owner = KazooClient(hosts=chroot.address, auth_data=[("digest", IDENTITY)], timeout=10.0)
    owner.start(timeout=60.0)
    if owner.exists("/zkdash"):
        owner.delete("/zkdash", recursive=True)
    owner.stop()
    owner.close()


def _addresses() -> Iterator[str]:
    named = {"topics": "orders", "brokers": "1", "groups": "billing", "actions": "1"}
    for page in pages.PAGES:
        told = named.get(page.route.partition("/")[0], "orders")
        yield "/c/default/" + re.sub(r"<[^>]+>", told, page.route)
    for kind in ("reassign", "change-config", "clear-throttles", "create-topic"):
        yield f"/c/default/actions/new/{kind}/"
    yield from ("/", "/admin/", "/admin/auth/user/", "/admin/access/grant/", "/password/", "/nowhere/")
    yield from (
        "/c/other/",
        "/c/default/topics/none/",
        "/c/default/brokers/x/",
        "/c/default/search/?q=CANARY",
    )


def _look(site: Served, browser: Browser, seen: Seen) -> None:
    for address in _addresses():
        join = "&" if "?" in address else "?"
        for shape in ("html", "json", "csv"):
            asked = f"{address}{join}format={shape}"
            seen.add(f"{address} as {shape}", browser.get(asked)[1])
            answer = site.get(asked)
            seen.add(f"{address} to nobody as {shape}", answer.body + repr(answer.headers).encode())


def _frames(site: Served, session: str, seen: Seen) -> None:
    """What a socket that knows nothing yet is told: everything that is live on the page."""
    for address in _addresses():
        if address.startswith("/c/default/") and "/actions/new/" not in address:
            url = f"{site.address}/live{address}".replace("http://", "ws://")
            with (
                websockets.sync.client.connect(
                    url,
                    origin=Origin(site.address),
                    additional_headers={"Cookie": f"sessionid={session}"},
                    max_size=None,
                ) as socket,
                contextlib.suppress(websockets.exceptions.ConnectionClosed),
            ):
                seen.add(f"frames of {address}", str(socket.recv(timeout=LIMIT_S)))


def _moved(browser: Browser, seen: Seen) -> str:
    """Propose a throttled move, which edits /config/brokers/<id>, and look at its review and its plan."""
    form = "/c/default/actions/new/reassign/"
    fields = {"way": "lists", "moves": "orders-0: 1, 3", "throttle": "50 MB/s"}
    status, told = browser.post(form, do="preview", **fields)
    assert status == 200, re.findall(r'class="problem">.*?<|errorlist.*', told)
    assert "/config/brokers/1" in told
    seen.add("preview", told)
    status, told = browser.post(form, do="propose", **fields)
    assert (status, "Submit" in told) == (200, True), told
    seen.add("review", told)
    [number] = set(re.findall(r"/actions/(\d+)/submit/", told))
    seen.add("plan.json", browser.get(f"/c/default/actions/{number}/plan.json")[1])
    return str(number)


@pytest.mark.zk
def test_no_planted_secret_comes_out_anywhere(
    served: Serve, cluster: World, chroot: Chroot, tmp_path: Path
) -> None:
    data, seen = tmp_path / "kept", Seen()
    secrets = {name: canary(name) for name in re.findall(r"CANARY-([\w-]+?)-6f1d2c", repr(planted()))}
    secrets |= {one: canary(one) for one in ("password", "wrong", "digest", "django", "invited")}
    done = command("createadmin", "root", "--password-stdin", data=data, typed=secrets["password"] + "\n")
    seen.add("createadmin", done.stdout + done.stderr)
    link = command("createadmin", "olga", "--link", data=data).stdout.split()[0]
    secrets["link"] = link.strip("/").rpartition("/")[2]
    file = tmp_path / "zkdash.toml"
    file.write_text(
        f'[clusters.default]\nzookeeper = "{chroot.address}"\nask_brokers = false\n'
        'auth_scheme = "digest"\nauth_env = "ZK_DIGEST"\n'
    )
    site = served(
        ZKDASH_CONFIG=file,
        ZKDASH_DATA=data,
        ZKDASH_ANONYMOUS_READ="0",
        ZKDASH_SECRET_KEY=secrets["django"],
        ZKDASH_LOG="json",
        ZK_DIGEST=IDENTITY,
    )
    browser = Browser(site.address)
    seen.add("sign-in", browser.post("/sign-in/", username="root", password=secrets["wrong"])[1])
    seen.add("sign-in", browser.post("/sign-in/", username="root", password=secrets["password"])[1])
    secrets["session"] = session(browser)
    other = Browser(site.address)
    assert other.get(link)[0] == 200  # the form's own address holds the token: only to who has it
    assert site.get(link, Host="evil.example").status == 400
    assert other.post(link)[0] == 200
    secrets["session of the invited"] = session(other)
    wait_for(lambda: '"as_of": "' in browser.get("/c/default/topics/?format=json")[1], LIMIT_S, site.printed)
    _look(site, browser, seen)
    _frames(site, secrets["session"], seen)
    number = _moved(browser, seen)
    assert len(secrets) >= LEAST_CANARIES
    page = f"/c/default/actions/{number}/"
    browser.post_from(page, f"{page}submit/")
    wait_for(lambda: "/admin/reassign_partitions" in _paths(chroot), LIMIT_S, site.printed)
    # what was hidden is still there, and so is the throttle
    kept = chroot.client.get("/config/brokers/1")[0].decode()
    assert secrets["keystore"] in kept
    assert "52428800" in kept or "50000000" in kept
    seen.add("action", browser.get(page)[1] + browser.get("/c/default/audit/")[1])
    seen.add("plan.json", browser.get(f"{page}plan.json")[1])
    _look(site, browser, seen)
    seen.add("log", site.err.read_bytes())
    lines = [json.loads(line) for line in site.err.read_text().splitlines()]
    told = {line["logger"] for line in lines if line.get("action") == int(number)}
    assert told >= {"zkdash.web.middleware.request_log", "zkdash.actions.execution.worker"}
    # Django checks sessions against its table, which only zkdash's user reads.
    sessions = {name: secrets.pop(name) for name in ("session", "session of the invited")}
    seen.add_files(data)
    assert seen.leaks(secrets) == []
    seen = Seen()
    seen.add("log", site.err.read_bytes() + site.out.read_bytes())
    assert seen.leaks(sessions) == []
    assert (data / DATABASE).stat().st_mode & 0o077 == 0


def _paths(chroot: Chroot) -> list[str]:
    return [f"/admin/{name}" for name in chroot.client.get_children("/admin")]


@pytest.mark.zk
def test_djangos_own_error_pages_show_none_either(
    served: Serve, cluster: World, chroot: Chroot, tmp_path: Path
) -> None:
    seen = Seen()
    site = served(ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_DEBUG="1", ZKDASH_SECRET_KEY=canary("django"))
    site.wait_until_loaded()
    for address in (*_addresses(), "/static/none.css", "/c/default/topics/orders/?sort=%00"):
        seen.add(address, site.get(address).body)
    seen.add("host", site.get("/", Host="evil.example").body)
    assert "DisallowedHost" in site.get("/", Host="evil.example").text
    seen.add("log", site.err.read_bytes())
    names = {name: canary(name) for name in re.findall(r"CANARY-([\w-]+?)-6f1d2c", repr(planted()))}
    assert seen.leaks(names | {"django": canary("django")}) == []


def _clusters(environ: Mapping[str, str]) -> tuple[ClusterConfig, ...]:
    """In a frame of its own, for the page shows what stands in those of the failure."""
    return config.load(configuration.read(environ), environ)


def test_what_a_failing_view_shows_with_debug_hides_how_clusters_are_reached(
    settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "zkdash.toml"
    file.write_text('[clusters.a]\nzookeeper = "h:1"\nauth_scheme = "digest"\nauth_env = "ZK_DIGEST"\n')
    settings.ZKDASH_CLUSTERS = _clusters({"ZKDASH_CONFIG": str(file), "ZK_DIGEST": f"a:{canary('digest')}"})
    settings.SECRET_KEY = canary("django")
    settings.DEBUG = True
    request = RequestFactory().get("/", headers={"accept": "text/html"})
    try:
        raise ValueError(settings.ZKDASH_CLUSTERS)  # noqa: TRY301 - so that there is something to show
    except ValueError:
        answer = technical_500_response(request, *sys.exc_info())
    assert "ZKDASH_CLUSTERS" in answer.content.decode()
    seen = Seen()
    seen.add("page", answer.content)
    assert seen.leaks({"digest": canary("digest"), "django": canary("django")}) == []
