"""From a link to a reviewed proposal in a real browser: without JavaScript too, in both themes, narrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys import looking
from tests.journeys.sites import ROOT, Site, Sites
from tests.signing import sign_in
from zkdash.web.actions import forms

pytestmark = [pytest.mark.zk, pytest.mark.browser]

# What is hard to hit with a finger.
SMALL = """[...document.querySelectorAll('main :is(button, summary, input, textarea)')]
  .filter((el) => !['checkbox', 'radio', 'hidden'].includes(el.type))
  .filter((el) => el.checkVisibility() && el.getBoundingClientRect().height < 24)
  .map((el) => el.outerHTML.slice(0, 120))"""
DRAIN = "actions/new/reassign/?broker=3"


@pytest.fixture(scope="module")
def site(open_sites: Sites) -> Iterator[Site]:
    """A small cluster with options and a group. Proposals are all that is made of it."""
    with open_sites.site() as found:
        client = found.chroot.client
        found.world.topic("orders", {0: [1, 2], 1: [2, 3], 2: [3, 1]})  # so that a broker can be drained
        client.ensure_path("/config/changes")
        client.set(
            "/config/topics/orders",
            b'{"version":1,"config":{"retention.ms":"604800000","min.insync.replicas":"2"}}',
        )
        for number in range(3):
            client.create(f"/consumers/billing/offsets/orders/{number}", b"120", makepath=True)
        found.wait_until_shown("/config/topics/orders")
        yield found


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_link_leads_over_the_sign_in_to_a_filled_form_and_to_its_review(
    opened: Callable[..., Any], site: Site, scripts: bool
) -> None:
    page = opened(java_script_enabled=scripts)
    page.goto(site.home + DRAIN)
    sign_in(page, ROOT)
    expect(page.get_by_label("Drain brokers: no replica stays on them")).to_be_checked()
    expect(page.get_by_label("Brokers", exact=True)).to_have_value("3")
    page.get_by_label("Throttle").fill("fast")
    page.get_by_role("button", name="Preview").click()
    throttle = page.get_by_label("Throttle")
    expect(throttle).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#id_throttle_error")).to_contain_text('"fast" is not a rate')
    throttle.fill("50 MB/s")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("table", name="Both placements")).to_contain_text("With the fewest copies")
    expect(page.get_by_role("heading", name="Preview: nothing is stored yet")).to_be_visible()
    page.get_by_role("button", name="Propose").click()
    page.wait_for_url(f"{site.home}actions/*/")
    expect(page.get_by_role("table", name="Partitions with other replicas")).to_contain_text("orders")
    moved = page.locator("[aria-label='Data of /admin/reassign_partitions']")
    page.locator("details").filter(has=moved).last.locator("summary").first.click()
    expect(moved).to_contain_text("added")
    expect(moved).to_contain_text('"topic": "orders"')
    expect(page.get_by_role("button", name="Submit")).to_be_visible()


def test_only_the_fields_of_the_chosen_way_are_seen(opened: Callable[..., Any], site: Site) -> None:
    page = opened(site, ROOT)
    page.goto(site.home + DRAIN)
    for way, seen, hidden in (
        ("Drain brokers", "#id_brokers", "#id_moves"),
        ("Paste a plan", "#id_plan", "#id_brokers"),
        ("Name the replicas", "#id_moves", "#id_plan"),
    ):
        page.get_by_label(way).check()
        expect(page.locator(seen)).to_be_visible()
        expect(page.locator(hidden)).to_be_hidden()


def test_what_is_deleted_is_typed_on_the_review(opened: Callable[..., Any], site: Site) -> None:
    page = opened(site, ROOT)
    page.goto(f"{site.home}actions/new/delete-topic/?topic=payments")
    page.get_by_role("button", name="Propose").click()
    page.get_by_label("Type payments to confirm").fill("orders")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("main")).to_contain_text("“orders” was typed, and “payments” is asked for.")


def test_a_changed_option_is_a_line_less_and_a_line_more(opened: Callable[..., Any], site: Site) -> None:
    page = opened(site, ROOT)
    page.goto(f"{site.home}actions/new/change-config/?topic=orders&put=retention.ms=1000")
    page.get_by_label("min.insync.replicas = 2").check()
    page.get_by_role("button", name="Propose").click()
    expect(page.get_by_role("table", name="What changes")).to_contain_text("604800000 (7 d)")
    page.get_by_text("Data, line by line").first.click()
    written = page.get_by_role("list", name="Data of /config/topics/orders")
    expect(written.locator("li.removed")).to_have_count(2)
    expect(written.locator("li.added")).to_contain_text('"retention.ms": "1000"')


def test_forms_and_reviews_are_free_of_what_axe_finds_and_fit_a_phone(
    opened: Callable[..., Any], site: Site
) -> None:
    page, found = opened(site, ROOT), {}
    looking.prepare(page)
    for name in looked_at(page, site):
        faults = looking.faults(page)
        usual = page.viewport_size
        page.set_viewport_size(looking.PHONE)
        if small := page.evaluate(SMALL):
            faults["small"] = small
        page.set_viewport_size(usual)
        if faults:
            found[name] = faults
    assert found == {}


def looked_at(page: Any, site: Site) -> Iterator[str]:
    """Opens every form, one with faults, a preview, and the reviews of four kinds; yields their names."""
    page.goto(f"{site.home}actions/new/")
    yield "list"
    for kind in forms.BY_KIND:
        page.goto(f"{site.home}actions/new/{kind}/?topic=orders&group=billing&nonsense=1")
        yield kind
    page.goto(f"{site.home}actions/new/reassign/?throttle=fast&broker=x")
    page.get_by_role("button", name="Propose").click()
    expect(page.locator("[aria-invalid=true]").first).to_be_visible()
    yield "faults"
    page.goto(site.home + DRAIN)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="Preview: nothing is stored yet")).to_be_visible()
    yield "preview"
    for kind, query in (
        ("reassign", "broker=3&throttle=50 MB/s"),
        ("change-config", "topic=orders&put=retention.ms=1000&drop=min.insync.replicas"),
        ("delete-topic", "topic=orders"),
        ("reset-offsets", "group=billing&to=value&value=95"),
    ):
        page.goto(f"{site.home}actions/new/{kind}/?{query}")
        page.get_by_role("button", name="Propose").click()
        expect(page.get_by_role("button", name="Submit")).to_be_visible()
        yield f"review of {kind}"
