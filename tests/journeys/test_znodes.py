"""The tree of znodes in a real browser: walked by clicks, filtered, paged, live, without JavaScript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.security import ACL, Id, make_digest_acl
from playwright.sync_api import expect

from tests.conftest import Chroot
from tests.journeys.sites import Site
from tests.serving import Serve
from tests.waiting import wait_for
from tests.world import World
from tests.zk.proxy import Proxy

pytestmark = [pytest.mark.zk, pytest.mark.browser]

HOME = "/c/default/"  # where a test serves its cluster by itself
ROOT = "znodes/"
STATE = ROOT + "brokers/topics/orders/partitions/2/state"
MANY = 120
HOSTILE = (
    "%2F..%2Fadmin",
    " both ends ",
    "a?b=c#d",
    "\u202egnp.exe",
    "<img src=x onerror=alert(1)>",
    "..a",
    "~",
    "Ω日本",
)


def open_page(page: Any, address: str) -> None:
    """Open a page, the pointer outside its tables, and wait until its script runs."""
    page.goto(address)
    page.mouse.move(1, 1)
    expect(page.locator("#freshness")).to_contain_text("Live")
    page.evaluate("window.opened = true")


def row(page: Any, name: str) -> Any:
    return page.locator("#children-rows tr").filter(has=page.get_by_role("link", name=name, exact=True))


def walk(page: Any, *names: str) -> None:
    for name in names:
        row(page, name).get_by_role("link", name=name, exact=True).click()


def test_one_walks_from_the_root_to_a_partition_and_on_to_the_page_that_shows_it(
    page: Any, site: Site
) -> None:
    page.goto(site.home + "topics/")
    page.keyboard.type("gz")
    expect(page).to_have_url(site.home + ROOT)
    walk(page, "brokers", "topics", "orders", "partitions", "2", "state")
    expect(page).to_have_url(site.home + STATE)
    expect(page.locator("#decoded")).to_contain_text('"leader": 3')
    expect(page.locator("#facts")).to_contain_text("world: anyone may read, write, create, delete, admin")
    page.get_by_role("link", name="topics", exact=True).click()
    expect(page).to_have_url(site.home + ROOT + "brokers/topics")
    page.goto(site.home + STATE)
    page.get_by_role("link", name="partition state").click()
    expect(page.locator("h1")).to_have_text("orders")
    page.locator("#partitions-rows th a").first.click()
    expect(page).to_have_url(re.compile("znodes/brokers/topics/orders/partitions/0/state$"))


def test_children_are_filtered_and_paged(page: Any, site: Site) -> None:
    with site.chroot.client.transaction() as writes:
        for number in range(MANY):
            writes.create(f"/config/topics/t{number:03}", b"{}")
    open_page(page, site.home + ROOT + "config/topics")
    expect(page.locator("#showing")).to_have_text(re.compile("Showing 50 of 12[0-9] children"))
    page.locator("#filter").fill("t11")
    page.locator("#filter").press("Enter")
    expect(page.locator("#children-rows th")).to_have_text([f"t11{digit}" for digit in range(10)])
    page.get_by_role("link", name="Clear filter").click()
    page.get_by_role("link", name="Next").click()
    expect(page.locator("#pager")).to_contain_text("page 2 of 3")
    expect(row(page, "t060")).to_be_visible()


def test_an_open_page_follows_what_is_mirrored(page: Any, site: Site) -> None:
    open_page(page, site.home + STATE)
    site.world.state("orders", 2, leader=1, isr=[1, 2], epoch=9)
    expect(page.locator("#decoded")).to_contain_text('"leader": 1')
    open_page(page, site.home + ROOT + "brokers/ids")
    site.world.kill_broker(3)
    expect(row(page, "3")).to_have_count(0)
    expect(page.locator("#facts")).to_contain_text("numChildren 2")
    site.chroot.client.create("/brokers/ids/new-one", b"{}")
    expect(row(page, "new-one")).to_be_visible()
    assert page.evaluate("window.opened === true"), "without a reload"


@pytest.fixture
def foreign(site: Site) -> Iterator[KazooClient]:
    """A client that made two znodes which are no Kafka's, one of them closed to it; that one is removed."""
    client = site.chroot.client
    client.create("/foreign/tree", b"one", makepath=True)
    client.create("/foreign/closed", b"x", acl=[make_digest_acl("ops", "s3cret", all=True)])
    yield client
    client.delete("/foreign/closed")  # nobody could delete it with all that is below it


def test_an_open_page_follows_what_is_only_read(page: Any, site: Site, foreign: KazooClient) -> None:
    open_page(page, site.home + ROOT + "foreign")
    expect(row(page, "tree")).to_be_visible()
    foreign.create("/foreign/later", b"12345")
    expect(row(page, "later").locator("td").nth(2)).to_have_text("5")
    open_page(page, site.home + ROOT + "foreign/tree")
    foreign.set("/foreign/tree", b"two")
    foreign.set_acls("/foreign/tree", [ACL(1, Id("world", "anyone")), ACL(31, Id("ip", "127.0.0.1"))])
    expect(page.locator("#facts")).to_contain_text("two")
    expect(page.locator("#facts")).to_contain_text("world: anyone may read;")
    page.goto(site.home + ROOT + "foreign/closed")
    expect(page.locator("#facts")).to_contain_text("not readable")


def test_a_session_leads_to_what_else_it_owns(page: Any, site: Site) -> None:
    page.goto(site.home + ROOT + "controller")
    page.get_by_role("link", name=re.compile("^session 0x")).click()
    expect(page.locator("#owned-rows th")).to_have_text(["/brokers/ids/1", "/controller"])
    page.get_by_role("link", name="/brokers/ids/1").click()
    expect(page.locator("#decoded")).to_contain_text("broker-1.example")


def test_names_of_every_kind_are_reached_by_a_click(page: Any, site: Site) -> None:
    site.chroot.client.create("/odd")
    for name in HOSTILE:
        site.chroot.client.create(f"/odd/{name}", name.encode())
    for number, name in enumerate(sorted(HOSTILE)):
        page.goto(site.home + ROOT + "odd")
        page.locator("#children-rows th a").nth(number).click()
        expect(page.locator("#facts button").first).to_have_attribute("data-copy", f"/odd/{name}")
        expect(page.locator(".diff").first).to_be_visible()
    page.goto(site.home + ROOT + "odd/~../x")
    expect(page.locator("main")).to_contain_text("“.” and “..” are no names")


def test_without_javascript_the_tree_is_walked_filtered_and_read(browser: Any, site: Site) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.home + ROOT)
    walk(page, "brokers", "topics")
    page.get_by_role("searchbox", name="Filter").fill("pay")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("#children-rows th")).to_have_text(["payments"])
    walk(page, "payments")
    expect(page.locator("#facts")).to_contain_text("assignment of a topic")
    with page.expect_download() as download:
        page.get_by_role("link", name="The whole value").click()
    assert download.value.path().read_bytes().startswith(b'{"version":2')
    context.close()


def test_a_page_without_zookeeper_shows_what_it_knows(
    page: Any, served: Serve, world: World, chroot: Chroot
) -> None:
    with Proxy(chroot.server.port) as proxy:
        site = served(ZKDASH_ZOOKEEPER=f"127.0.0.1:{proxy.port}{chroot.path}")
        site.wait_until_loaded()
        proxy.cut()
        wait_for(lambda: "Not read from ZooKeeper now" in site.get(HOME + STATE).text, 60, site.printed)
        page.goto(site.address + HOME + STATE)
        expect(page.locator("#decoded")).to_contain_text('"leader": 3')
        page.goto(site.address + HOME + ROOT + "foreign")
        expect(page.locator("#children-rows")).to_contain_text("Its children are not known")
