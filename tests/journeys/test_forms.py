"""From a link to a reviewed proposal in a real browser: without JavaScript too, in both themes, narrow."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from kazoo.client import KazooClient
from playwright.sync_api import expect

from tests.serving import ROOT, Served, starter
from tests.signing import PASSWORD, sign_in
from tests.world import World
from zkdash.demo.zookeeper import Server
from zkdash.web import forms

pytestmark = [pytest.mark.zk, pytest.mark.browser]

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
NAME = "alice"
PHONE = {"width": 360, "height": 740}
CLUSTER = "/c/default/actions"
DRAIN = f"{CLUSTER}/new/reassign/?broker=3"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, zookeeper: Server) -> Iterator[Served]:
    """Three brokers, two topics and a group, served; alice is an administrator."""
    below = tmp_path_factory.mktemp("forms")
    root = KazooClient(hosts=zookeeper.address, timeout=10.0)
    root.start(timeout=15.0)
    root.create("/forms")
    client = KazooClient(hosts=f"{zookeeper.address}/forms", timeout=10.0)
    client.start(timeout=15.0)
    world = World(client, f"{zookeeper.address}/forms")
    try:
        _fill(world, client)
        _appoint(below / "data", f"{zookeeper.address}/forms")
        with starter(below) as start:
            served = start(
                ZKDASH_ZOOKEEPER=f"{zookeeper.address}/forms",
                ZKDASH_DATA=below / "data",
                ZKDASH_ANONYMOUS_READ="1",
            )
            served.wait_until_loaded()
            yield served
    finally:
        world.close()
        client.stop()
        client.close()
        root.delete("/forms", recursive=True)
        root.stop()
        root.close()


def _fill(world: World, client: KazooClient) -> None:
    for number in (1, 2, 3):
        world.broker(number, controller=number == 1)
    world.topic("orders", {0: [1, 2], 1: [2, 3], 2: [3, 1]})
    world.topic("payments", {0: [1, 2], 1: [2, 1]})
    client.ensure_path("/config/changes")
    client.set(
        "/config/topics/orders",
        b'{"version":1,"config":{"retention.ms":"604800000","min.insync.replicas":"2"}}',
    )
    for number in range(3):
        client.create(f"/consumers/billing/offsets/orders/{number}", b"120", makepath=True)


def _appoint(data: Path, address: str) -> None:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("ZKDASH_")}
    inherited.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)
    subprocess.run(
        [sys.executable, "manage.py", "createadmin", NAME, "--password-stdin"],
        cwd=ROOT,
        env=inherited | {"ZKDASH_DATA": str(data), "ZKDASH_ZOOKEEPER": address},
        input=f"{PASSWORD}\n".encode(),
        capture_output=True,
        check=True,
    )


def opened(browser: Any, site: Served, **options: Any) -> Any:
    """A page of a browser in which alice has signed in."""
    page = browser.new_context(**options).new_page()
    page.goto(f"{site.address}/sign-in/")
    sign_in(page, NAME)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    return page


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_link_leads_over_the_sign_in_to_a_filled_form_and_to_its_review(
    browser: Any, site: Served, scripts: bool
) -> None:
    page = browser.new_context(java_script_enabled=scripts).new_page()
    page.goto(site.address + DRAIN)
    sign_in(page, NAME)
    expect(page.get_by_label("Drain brokers: no replica stays on them")).to_be_checked()
    expect(page.get_by_label("Brokers", exact=True)).to_have_value("3")
    page.get_by_label("Throttle").fill("fast")
    page.get_by_role("button", name="Preview").click()
    throttle = page.get_by_label("Throttle")
    expect(throttle).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#id_throttle_error")).to_contain_text('"fast" is no rate')
    throttle.fill("50 MB/s")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("table", name="Both placements")).to_contain_text("With the fewest copies")
    expect(page.get_by_role("heading", name="Preview: nothing is stored yet")).to_be_visible()
    page.get_by_role("button", name="Propose").click()
    page.wait_for_url(f"{site.address}{CLUSTER}/*/")
    expect(page.get_by_role("table", name="Partitions with other replicas")).to_contain_text("orders")
    moved = page.get_by_role("list", name="Data of /admin/reassign_partitions")
    expect(moved).to_contain_text("added")
    expect(moved).to_contain_text('"topic": "orders"')
    expect(page.get_by_role("button", name="Submit")).to_be_visible()
    page.context.close()


def test_only_the_fields_of_the_chosen_way_are_seen(browser: Any, site: Served) -> None:
    page = opened(browser, site)
    page.goto(site.address + DRAIN)
    for way, seen, hidden in (
        ("Drain brokers", "#id_brokers", "#id_moves"),
        ("Paste a plan", "#id_plan", "#id_brokers"),
        ("Name the replicas", "#id_moves", "#id_plan"),
    ):
        page.get_by_label(way).check()
        expect(page.locator(seen)).to_be_visible()
        expect(page.locator(hidden)).to_be_hidden()
    page.context.close()


def test_what_is_deleted_is_typed_on_the_review(browser: Any, site: Served) -> None:
    page = opened(browser, site)
    page.goto(f"{site.address}{CLUSTER}/new/delete-topic/?topic=payments")
    page.get_by_role("button", name="Propose").click()
    page.get_by_label("Type payments to confirm").fill("orders")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("main")).to_contain_text("“orders” was typed, and “payments” is asked for.")
    page.context.close()


def test_a_changed_option_is_a_line_less_and_a_line_more(browser: Any, site: Served) -> None:
    page = opened(browser, site)
    page.goto(f"{site.address}{CLUSTER}/new/change-config/?topic=orders&put=retention.ms=1000")
    page.get_by_label("min.insync.replicas = 2").check()
    page.get_by_role("button", name="Propose").click()
    written = page.get_by_role("list", name="Data of /config/topics/orders")
    expect(written.locator("li.removed")).to_have_count(2)
    expect(written.locator("li.added")).to_contain_text('"retention.ms": "1000"')
    page.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_against_forms_and_reviews(browser: Any, site: Served, theme: str) -> None:
    page = opened(browser, site, color_scheme=theme)
    found = []
    for name in looked_at(page, site):
        page.evaluate(AXE)
        result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert result["passes"], name
        found += [
            (name, one["id"], one["help"], [node["html"][:200] for node in one["nodes"][:3]])
            for one in result["violations"]
        ]
    page.context.close()
    assert found == []


def test_no_form_and_no_review_scrolls_sideways_on_a_phone(browser: Any, site: Served) -> None:
    page = opened(browser, site, viewport=PHONE)
    wide = []
    for name in looked_at(page, site):
        width = page.evaluate("document.scrollingElement.scrollWidth")
        if width > PHONE["width"]:
            wide.append((name, width))
        small = page.evaluate(
            """[...document.querySelectorAll('main :is(button, summary, input, textarea)')]
            .filter((el) => !['checkbox', 'radio', 'hidden'].includes(el.type))
            .filter((el) => el.checkVisibility() && el.getBoundingClientRect().height < 24)
            .map((el) => el.outerHTML.slice(0, 120))"""
        )
        assert small == [], name
    page.context.close()
    assert wide == []


def looked_at(page: Any, site: Served) -> Iterator[str]:
    """Opens every form, one with faults, a preview, and the reviews of four kinds; yields their names."""
    page.goto(f"{site.address}{CLUSTER}/new/")
    yield "list"
    for kind in forms.BY_KIND:
        page.goto(f"{site.address}{CLUSTER}/new/{kind}/?topic=orders&group=billing&nonsense=1")
        yield kind
    page.goto(f"{site.address}{CLUSTER}/new/reassign/?throttle=fast&broker=x")
    page.get_by_role("button", name="Propose").click()
    yield "faults"
    page.goto(site.address + DRAIN)
    page.get_by_role("button", name="Preview").click()
    yield "preview"
    for kind, query in (
        ("reassign", "broker=3&throttle=50 MB/s"),
        ("change-config", "topic=orders&put=retention.ms=1000&drop=min.insync.replicas"),
        ("delete-topic", "topic=orders"),
        ("reset-offsets", "group=billing&to=value&value=95"),
    ):
        page.goto(f"{site.address}{CLUSTER}/new/{kind}/?{query}")
        page.get_by_role("button", name="Propose").click()
        expect(page.get_by_role("button", name="Submit")).to_be_visible()
        yield f"review of {kind}"
