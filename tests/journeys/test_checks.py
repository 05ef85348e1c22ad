"""A fault in a real ZooKeeper, from when it shows to when nobody needs to know of it any more."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys import looking
from tests.journeys.sites import OPERATOR, Site
from tests.waiting import wait_for
from zkdash.actions.models import Audit
from zkdash.alarms.models import Acknowledgement, Occurrence

pytestmark = [pytest.mark.zk, pytest.mark.browser]

CHECK = "checks/D17/"


def test_a_fault_shows_is_acknowledged_and_clears(opened: Callable[..., Any], site: Site) -> None:
    page, client = opened(site, OPERATOR), site.chroot.client
    page.goto(site.home)
    leading = page.locator("#checks > .checks")
    fault = leading.locator("[data-check=D17]")
    expect(page.locator("#checks")).to_contain_text("No check fails")

    client.set("/controller_epoch", b"0")  # as from a backup: every state is ahead of it
    expect(fault).to_have_count(1)
    expect(page).to_have_title(re.compile("^✕ 1 "))
    fault.locator(".what a").click()

    expect(page).to_have_url(site.home + CHECK)
    expect(page.locator("#causes-rows th")).to_have_text(["orders", "payments"])
    page.locator("#causes-rows th a").first.click()
    expect(page.locator("#held-against")).to_contain_text("3 partitions of 1 topic")
    page.locator("#held-against a").click()
    expect(page.locator("#occurrence input")).to_have_value("1")
    assert looking.in_both_themes(page) == {}

    page.get_by_label("Acknowledge, because").fill("the epoch was restored by hand")
    page.get_by_role("button", name="Acknowledge").click()
    expect(page).to_have_url(site.home + CHECK)
    expect(page.locator("#acknowledgements")).to_contain_text("the epoch was restored by hand")
    page.goto(site.home)
    expect(page.locator("#acknowledged summary")).to_have_text("1 acknowledged")
    expect(fault).to_have_count(0)
    expect(page).to_have_title(re.compile("^Overview"))

    client.set("/controller_epoch", b"1")
    expect(page.locator("#acknowledged")).to_have_count(0)
    expect(page.locator("#checks")).to_contain_text("No check fails")
    with site.process.rows():
        found = Occurrence.objects.filter(cluster=site.cluster, check_id="D17")
        wait_for(lambda: not found.filter(cleared_at=None), 30)
        assert [str(one) for one in found.all()] == [f"{site.cluster}/D17/1"]
        acknowledged = Acknowledgement.objects.get(occurrence__in=found)
        assert acknowledged.ended_why == "The finding cleared."
        told = Audit.objects.filter(cluster=site.cluster, event="acknowledged", who=OPERATOR)
        assert told.count() == 1
