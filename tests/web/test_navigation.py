"""From any page to any other by the links of its frame: at most two clicks, menus apart."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from tests.web import states
from tests.web.markup import Markup
from zkdash.web import pages
from zkdash.zk.config import ClusterConfig

# What stands at an address of its own, in either cluster.
LISTS = tuple(
    f"/c/{cluster}/{page.route}" for cluster in ("one", "two") for page in pages.PAGES if page.label
)
TARGETS = {
    "/",
    "/tokens/",
    "/password/",
    "/admin/",
    *(address.partition("<")[0] for address in LISTS),
    *(f"/c/{cluster}/{name}/" for cluster in ("one", "two") for name in ("audit", "embeds")),
}
BESIDES = (
    "/c/one/topics/orders/",
    "/c/one/brokers/1/",
    "/c/one/brokers/1/what-if/",
    "/c/one/groups/billing/",
    "/c/one/checks/D1/",
    "/c/one/sessions/0x1/",
    "/c/one/search/?q=o",
    "/c/one/actions/new/",
    "/c/one/actions/new/create-topic/",
    "/nowhere/",
)


@pytest.fixture
def links(admin_user: User, settings: Settings) -> Callable[[str], frozenset[str]]:
    """The addresses that a page leads to, without their queries, as an administrator sees it."""
    settings.ZKDASH_CLUSTERS = tuple(ClusterConfig(name, (("127.0.0.1", 1),)) for name in ("one", "two"))
    tree = {**states.sick(), **states.group("billing", {"billing_h-1-00000000": ["orders"]})}
    tree["/brokers/topics/torn"] = states.znode("{")
    for name in ("one", "two"):
        states.publish(tree, name=name)
    client = Client()
    client.force_login(admin_user)

    @cache
    def read(address: str) -> frozenset[str]:
        answer = client.get(address, follow=True)
        if not answer["Content-Type"].startswith("text/html"):
            return frozenset()
        found = Markup(answer).root.xpath("//a/@href")
        return frozenset(href.partition("?")[0] for href in found if href.startswith("/"))

    return read


def test_every_page_is_two_clicks_from_every_other(links: Callable[[str], frozenset[str]]) -> None:
    missing = {}
    for start in (*sorted(TARGETS - {"/admin/"}), *BESIDES):
        near = links(start)
        nearest = {address for address in near if address in TARGETS or address.startswith("/c/two/")}
        reached = near.union(*map(links, nearest))
        missing[start] = TARGETS - reached - {start}
    assert {start: addresses for start, addresses in missing.items() if addresses} == {}


def test_the_side_bar_marks_the_page_or_the_list_that_it_is_of(
    links: Callable[[str], frozenset[str]],
) -> None:
    assert links("/c/one/topics/")
    client = Client()
    for address, mark in (("/c/one/topics/", "page"), ("/c/one/topics/orders/", "true")):
        page = Markup(client.get(address))
        [entry] = page.root.xpath("//*[@id='nav']//a[@aria-current]")
        assert (entry.get("href"), entry.get("aria-current")) == ("/c/one/topics/", mark)
    assert page.texts("nav.trail li") == ["Topics", "orders"]


def test_a_badge_says_how_bad_it_is(links: Callable[[str], frozenset[str]]) -> None:
    assert links("/c/one/")
    page = Markup(Client().get("/c/one/"))
    [badge] = page.root.xpath("//*[@id='nav']//a[@href='/c/one/problems/']/*[@title]")
    assert (badge.get("class"), badge.get("title")) == ("count warning", "warning")
