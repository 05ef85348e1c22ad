"""A broker of the demo dies and comes back: the Overview says so at once, the story is told to its end."""

from __future__ import annotations

import datetime
import json
import re
import time
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.demo.test_simulation_command import Demo
from tests.journeys import pace
from tests.journeys.sites import Site
from tests.waiting import wait_for

pytestmark = pytest.mark.browser

MEMBER = {"version": 1, "subscription": {"orders": 1}, "pattern": "static", "timestamp": "1795171327123"}
STORY_LIMIT_S = 180.0
PROMISED_S = 3.0


def test_a_brokers_death_leads_the_overview_and_its_story_adds_up(demo: Demo, page: Any) -> None:
    page.goto(f"{demo.address}/c/demo/")
    headline = page.locator("#causes h2").first
    pace.listen(page, "(document.querySelector('#causes h2')?.textContent ?? '').includes('is gone')")
    expect(headline).to_contain_text("is gone", timeout=STORY_LIMIT_S * 1000)
    (cause,) = document(demo, "")["causes"]
    (broker,) = cause["brokers"]
    gone = page.locator("#causes .where time").first.get_attribute("datetime")
    assert pace.heard_s(page, epoch(gone)) < pace.allowed_s(PROMISED_S, page)
    expect(page.locator("main h2").first).to_contain_text(f"Broker {broker} is gone")
    expect(page.locator(f".tile.gone[data-broker='{broker}']")).to_be_visible()
    page.locator("#causes").get_by_role("link", name=re.compile("partitions$")).first.click()
    expect(page).to_have_url(re.compile(f"/brokers/{broker}/$"))
    expect(page.locator("#replicas-rows tr").first).to_be_visible()

    story = wait_for(lambda: ended(demo, cause["incident"]), STORY_LIMIT_S, every_s=1.0)
    rows = changes(demo, story["prelude"] or story["began"], story["ended"])
    isr = [row for row in rows if row["what"].endswith(" ISR")]
    left = sum(str(broker) in sides(row)[0] - sides(row)[1] for row in isr)
    back = sum(str(broker) in sides(row)[1] - sides(row)[0] for row in isr)
    moved = sum(bool(re.search(rf"moved from broker {broker} to", row["what"])) for row in rows)
    assert (story["left_isr"], story["back_in_isr"], story["leaders_moved"]) == (left, back, moved)
    assert min(left, back, moved) > 10
    page.goto(f"{demo.address}/c/demo/timeline/")
    expect(page.locator("#happened .headline", has_text=f"Broker {broker} was away")).to_be_visible()


@pytest.mark.zk
def test_what_broke_since_when_whom_it_hurts_and_what_helps_take_two_clicks(site: Site, page: Any) -> None:
    client = site.chroot.client
    client.create("/consumers/billing/ids/billing_1", json.dumps(MEMBER).encode(), makepath=True)
    client.create("/consumers/billing/offsets/orders/0", b"7", makepath=True)
    site.world.kill_broker(3)
    site.world.state("orders", 2, leader=-1, isr=[3], epoch=1)
    site.wait_until_shown("/brokers/topics/orders/partitions/2/state")

    page.goto(site.home)
    cause = page.locator("#causes article").first
    expect(cause.locator("h2")).to_contain_text("Broker 3 is gone")
    gone = cause.locator(".where time").first.get_attribute("datetime")
    assert abs(time.time() - epoch(gone)) < STORY_LIMIT_S
    cause.get_by_role("link", name=re.compile("^The .* partitions$")).click()
    page.locator("#replicas-rows").get_by_role("link", name="orders").first.click()
    expect(page.locator("#consumers-rows")).to_contain_text("billing")

    page.goto(site.home)
    page.locator("#causes").get_by_role("link", name="What helps").first.click()
    remedy = page.locator("dt", has_text="What to do").locator("xpath=following-sibling::dd")
    expect(remedy).to_contain_text("broker")


def document(demo: Demo, path: str) -> Any:
    return json.loads(demo.get(f"/c/demo/{path}{'&' if '?' in path else '?'}format=json"))


def ended(demo: Demo, incident: int) -> Any:
    """The incident, once it is over."""
    found = [row for row in document(demo, "")["incidents"] if row["id"] == incident]
    return found[0] if found and found[0]["ended"] else None


def changes(demo: Demo, began: str, until: str) -> list[dict[str, Any]]:
    """Every change between two moments, page by page; the last millisecond as well."""
    end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch(until) + 1))
    path, rows = f"timeline/?{urlencode({'from': began, 'to': end})}", list[dict[str, Any]]()
    while path:
        page = document(demo, path)
        rows += page["rows"]
        path = (page["older"] or "").removeprefix("/c/demo/").replace("&format=json", "")
    return rows


def sides(row: dict[str, Any]) -> tuple[set[str], set[str]]:
    """Who was in the ISR, before and after."""
    before, after = ({*(row[name] or "").split(", ")} for name in ("before", "after"))
    return before, after


def epoch(text: str) -> float:
    return datetime.datetime.fromisoformat(text).timestamp()
