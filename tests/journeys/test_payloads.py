"""What others wrote into ZooKeeper runs in no page: payloads in each field that they can write.

A dialog, a report of the policy, an element that acts, or a request to elsewhere would be the sign of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from kazoo.client import KazooClient
from playwright.sync_api import expect

from tests.conftest import Chroot
from tests.fixtures import payloads
from tests.journeys.sites import ROOT, Process, Site
from tests.serving import Serve
from tests.zk.reader.test_one_shot import config_of
from zkdash.access.roles import Role
from zkdash.actions import audit
from zkdash.actions.actor import Actor
from zkdash.actions.queue import planning, queue
from zkdash.cluster.plans.intents import ChangeConfig, Reassign
from zkdash.kafka.values import Move
from zkdash.web.actions import forms
from zkdash.web.frame import links

pytestmark = [pytest.mark.zk, pytest.mark.browser]

CLUSTER = "/c/default"
LIMIT_MS = (
    120_000  # hundreds of rows with payloads in each cell are drawn anew, on a machine that may be busy
)
_AT_ONCE = 200
# Each name in a path of its own, as many as pages of their own are opened.
DETAILS = 3

# What is reported before the page's own scripts run.
LISTEN = """
window.reports = [];
document.addEventListener('securitypolicyviolation',
  (e) => reports.push(e.violatedDirective + ' ' + e.sample));
"""
# Elements and attributes that none of our pages has.
ACTING = """() => [...document.querySelectorAll('*')].filter((e) =>
  [...e.attributes].some((a) => /^(on|hx-on|style$|srcdoc$)/.test(a.name) || /^\\s*javascript:/i.test(a.value)
    && ['href', 'src', 'action', 'data', 'formaction'].includes(a.name))
  || ['IFRAME', 'OBJECT', 'EMBED', 'BASE', 'STYLE', 'MATH', 'IMG'].includes(e.tagName)
  || (e.tagName === 'SCRIPT' && !e.src)).map((e) => e.outerHTML.slice(0, 200))"""


class Ear:
    """Hears what a page must not do."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.heard = page, list[str]()
        self._host = urlsplit(address).netloc
        page.add_init_script(LISTEN)
        page.on("dialog", self._dialog)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.heard.append(f"error {error}"))
        page.on("request", self._request)

    def look(self) -> list[str]:
        """What was heard so far on this page, and what stands in it that may act later."""
        return [*self.heard, *self.page.evaluate("window.reports"), *self.page.evaluate(ACTING)]

    def _dialog(self, dialog: Any) -> None:
        self.heard.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _console(self, message: Any) -> None:
        if "Content Security Policy" in message.text:
            self.heard.append(message.text)

    def _request(self, request: Any) -> None:
        if urlsplit(request.url).netloc not in {self._host, ""}:
            self.heard.append(f"request {request.url}")


def _document(**values: object) -> bytes:
    return json.dumps(values).encode()


def _znodes() -> Iterator[tuple[str, bytes]]:
    """Every payload as a topic, a group, a member, a host, a rack, a key and a value, a problem."""
    names, values = payloads.names(), payloads.values()
    for number, (name, value) in enumerate(zip(names, values, strict=True)):
        endpoint = f"PLAINTEXT://{value}:9092"
        registration = _document(
            version=4, host=value, port=9092, jmx_port=-1, timestamp="1", endpoints=[endpoint],
            listener_security_protocol_map={"PLAINTEXT": value}, rack=value,
        )  # fmt: skip
        yield f"/brokers/ids/{number}", registration
        partitions = {"0": [0, 1], "1": [1, 2]}
        yield f"/brokers/topics/{name}", _document(version=2, partitions=partitions, **{value: value})
        yield f"/consumers/{name}/offsets/{name}/0", b"1"
        subscription = _document(version=1, subscription={name: 1}, pattern="static", timestamp="1")
        yield f"/consumers/all/ids/{name}", subscription
        yield f"/consumers/all/owners/t/{number}", f"{name}-0".encode()
        yield f"/admin/delete_topics/{name}", b""
        yield f"/config/changes/config_change_{number:010}", _document(version=2, entity_path=value)
        yield f"/config/clients/{name}", _document(version=1, config={value: value})
        yield f"/brokers/ids/x{name}", value.encode()  # a problem
    whole = dict(zip(values, values, strict=True))
    yield "/config/topics/t", _document(version=1, config=whole)
    yield (
        "/brokers/topics/t",
        _document(version=2, partitions={str(n): [0, 1] for n in range(payloads.COUNT)}),
    )
    yield "/controller", _document(version=1, brokerid=0, timestamp=values[1])
    yield "/cluster/id", _document(version="1", id=values[1])
    moves = [{"topic": name, "partition": 0, "replicas": [1]} for name in names]
    yield "/admin/preferred_replica_election", _document(version=1, partitions=moves)


def _plant(client: KazooClient) -> None:
    written: dict[str, bytes] = {}
    for path, data in _znodes():
        for end in (at for at, character in enumerate(path) if character == "/" and at):
            written.setdefault(path[:end], b"")
        written[path] = data
    paths = list(written)
    for first in range(0, len(paths), _AT_ONCE):
        with client.transaction() as transaction:
            for path in paths[first : first + _AT_ONCE]:
                transaction.create(path, written[path])


@pytest.fixture
def planted(chroot: Chroot, served: Serve, django_db_blocker: Any, tmp_path: Path) -> Iterator[Process]:
    """The payloads in a cluster, in the audit and as a user's name, served."""
    _plant(chroot.client)
    file = tmp_path / "zkdash.toml"
    file.write_text(f'[clusters.default]\nzookeeper = "{chroot.address}"\nask_brokers = false\n')
    server = served(ZKDASH_CONFIG=file, ZKDASH_DATA=tmp_path / "data")
    server.wait_until_loaded()
    process = Process(server, tmp_path / "data", django_db_blocker.unblock)
    texts = payloads.values()
    process.person(texts[1], Role.VIEWER)
    with process.rows():
        told = [audit.Entry(text, "default", path=f"/{text}", detail={text: text}) for text in texts]
        audit.extend(told, Actor(texts[1]))
        yield process


def _actions(chroot: Chroot) -> list[str]:
    """Actions whose plans, reasons and targets are payloads, as their pages."""
    config = config_of(chroot.address)
    value = payloads.values()[1]
    intents = (ChangeConfig("t", {"retention.ms": "1"}), Reassign((Move("t", 0, (1, 2)),)))
    made = []
    for intent in intents:
        plan = planning.plan(config, intent)
        made.append(
            queue.propose("default", intent, plan, Actor(value), reason="".join(payloads.values())[:9000])
        )
    return [f"{CLUSTER}/actions/{one.pk}/" for one in made]


def _addresses() -> Iterator[str]:
    yield "/"
    for page in ("", "topics/", "brokers/", "groups/", "problems/", "actions/", "audit/"):
        yield f"{CLUSTER}/{page}?size=1000" if page not in {"", "audit/"} else f"{CLUSTER}/{page}"
    yield from (f"{CLUSTER}/topics/t/?size=1000", f"{CLUSTER}/groups/all/", f"{CLUSTER}/brokers/0/")
    yield from (f"{CLUSTER}/brokers/0/what-if/?brokers=1&rack=a", f"{CLUSTER}/kraft/")
    yield f"{CLUSTER}/how-it-works/?group=all"
    for path in ("brokers/topics", "brokers/ids", "brokers/ids/0", "consumers/all/owners/t/1"):
        yield f"{CLUSTER}/znodes/{path}?size=1000"
    for kind in forms.BY_KIND:
        yield f"{CLUSTER}/actions/new/{kind}/?topic=t&group=all"
    names = payloads.names()
    for name in names[:: len(names) // DETAILS]:
        quoted = links.segment(name)
        yield f"{CLUSTER}/topics/{quoted}/"
        yield f"{CLUSTER}/groups/{quoted}/"
        yield f"{CLUSTER}/znodes/consumers/all/ids/{quoted}"
        yield f"{CLUSTER}/search/?q={quoted}"
        yield f"{CLUSTER}/topics/?q={quoted}&sort={quoted}&{quoted}={quoted}"
        yield f"{CLUSTER}/actions/new/change-config/?topic={quoted}&{quoted}=1"
        yield f"/sign-in/?next={quoted}"


def test_what_others_wrote_runs_in_no_page(browser: Any, planted: Process, chroot: Chroot) -> None:
    site = planted.served
    context = browser.new_context(storage_state=planted.cookies(browser, ROOT))
    ear = Ear(context.new_page(), site.address)
    found: dict[str, list[str]] = {}
    lists = {f"{CLUSTER}/{page}/?size=1000" for page in ("topics", "brokers", "groups", "problems")}
    for address in (*_addresses(), *_actions(chroot)):
        ear.page.goto(site.address + address, wait_until="load")
        wrong = ear.look()
        if wrong:
            found[address] = wrong[:3]
        if address in lists:
            assert ear.page.locator("main tbody tr").count() >= payloads.COUNT, address
            lists.remove(address)
    assert found == {}
    assert lists == set()
    # What comes by a frame is markup too.
    ear.page.goto(f"{site.address}{CLUSTER}/topics/?size=1000")
    name = "new <img src=x onerror=alert(1)>"
    chroot.client.create(f"/brokers/topics/{name}", _document(version=2, partitions={"0": [0]}))
    ear.page.mouse.move(1, 1)
    expect(ear.page.locator("main tbody")).to_contain_text(name, timeout=LIMIT_MS)
    assert ear.look() == []
    context.close()


def test_a_page_that_takes_text_for_markup_is_heard(opened: Callable[..., Any], site: Site) -> None:
    """The ear is one that hears what it listens for."""
    for planted in (
        "<img src=x onerror=alert(1)>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<b style='color: red'>x</b>",
        "<a href='javascript:alert(1)'>x</a>",
    ):
        ear = Ear(opened(), site.address)
        ear.page.goto(site.home)
        assert ear.look() == []
        ear.page.evaluate("(html) => document.body.insertAdjacentHTML('beforeend', html)", planted)
        assert ear.look() != [], planted
