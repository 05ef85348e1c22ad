from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.web import states
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import ChangedAreas
from zkdash.live.sockets import delta
from zkdash.web import pages
from zkdash.web.serving import renderer

OVERVIEW = PageKey("demo", "overview")
TOPICS = PageKey("demo", "topics")
ORDERS = PageKey("demo", "topic", ("orders",))
GROUPS = PageKey("demo", "groups")
BILLING = PageKey("demo", "group", ("billing",))
WHAT_IF = PageKey("demo", "what-if", ("billing",), "threads=2")
HOW_IT_WORKS = PageKey("demo", "how-it-works", (), "group=billing")
CLUSTERS = PageKey(None, "clusters", ("demo", "other"))
PATHS = {
    OVERVIEW: "/c/demo/",
    TOPICS: "/c/demo/topics/",
    ORDERS: "/c/demo/topics/orders/",
    GROUPS: "/c/demo/groups/",
    BILLING: "/c/demo/groups/billing/",
    WHAT_IF: "/c/demo/groups/billing/what-if/?threads=2",
    HOW_IT_WORKS: "/c/demo/how-it-works/?group=billing",
    CLUSTERS: "/?format=html",
}


def _no_row(_row: Any) -> str:
    return ""


@pytest.mark.parametrize("key", PATHS, ids=lambda key: key.page)
def test_live_parts_are_what_a_fresh_page_holds(client: Client, key: PageKey) -> None:
    states.publish({**states.sick(), **states.group("billing", {"billing_h-1-00000000": ["orders"]})})
    if key is CLUSTERS:
        states.publish(states.healthy(), name="other")
    page = client.get(PATHS[key]).content.decode()
    for part in renderer.Renderer().parts(key).parts:
        assert renderer.html(part) in page


@pytest.mark.parametrize("key", PATHS, ids=lambda key: key.page)
def test_nothing_changed_means_equal_parts(key: PageKey) -> None:
    states.publish(states.sick())
    render = renderer.Renderer()
    before = render.parts(key)
    states.publish(states.sick(), revision=6)
    found = delta.compare(before, render.parts(key), _no_row)
    assert found.patches == {}


def test_one_changed_partition_is_one_row() -> None:
    states.publish(states.healthy())
    render = renderer.Renderer()
    before = {key: render.parts(key) for key in (TOPICS, ORDERS)}
    path = "/brokers/topics/orders/partitions/1/state"
    touched = states.change(path, states.state(2, [2, 3], epoch=5), 6)
    for key, part in ((TOPICS, "topics-rows"), (ORDERS, "partitions-rows")):
        assert render.is_affected(key, "demo", touched)
        rendered: list[str] = []

        def row_html(row: Any, rendered: list[str] = rendered) -> str:
            rendered.append(row.id)
            return render.row(row, oob=True)

        patches = delta.compare(before[key], render.parts(key), row_html).patches
        patch = patches[part]
        if key is ORDERS:
            assert patch is not None
            assert list(patch) == rendered == ["partition-1"]
            assert patch["partition-1"].startswith('<template><tr id="partition-1"')
            assert 'hx-swap-oob="true"' in patch["partition-1"]
        else:
            # The topic moved up, as it is worse now: the table is sent whole.
            assert patch is None


def test_a_page_that_cannot_show_a_change_is_not_rendered() -> None:
    states.publish(states.healthy())
    render = renderer.Renderer()
    for key in (OVERVIEW, TOPICS, ORDERS):
        render.parts(key)
    touched = states.change("/brokers/topics/clicks/partitions/0/state", states.state(3, [3]), 6)
    assert not render.is_affected(ORDERS, "demo", touched)
    assert not render.is_affected(ORDERS, "other", touched)
    assert render.is_affected(TOPICS, "demo", touched)
    assert render.is_affected(OVERVIEW, "demo", touched)


def test_a_count_in_the_navigation_reaches_every_page() -> None:
    states.publish(states.healthy())
    render = renderer.Renderer()
    render.parts(ORDERS)
    touched = states.change("/brokers/topics/clicks", None, 6)
    assert render.is_affected(ORDERS, "demo", touched)


def test_offsets_do_not_touch_a_topic_page_but_a_new_group_does() -> None:
    states.publish(states.healthy())
    render = renderer.Renderer()
    render.parts(ORDERS)
    touched = states.change("/consumers/billing/offsets/orders/0", states.znode("12"), 6)
    assert render.is_affected(ORDERS, "demo", touched)
    render.parts(ORDERS)
    touched = states.change("/consumers/billing/offsets/orders/0", states.znode("13"), 7)
    assert not render.is_affected(ORDERS, "demo", touched)


def test_a_vanished_topic_says_so_on_the_open_page() -> None:
    states.publish(states.healthy())
    render = renderer.Renderer()
    before = render.parts(ORDERS)
    touched = ChangedAreas(everything=True)
    states.publish({**states.brokers(1)}, revision=6)
    assert render.is_affected(ORDERS, "demo", touched)
    found = delta.compare(before, render.parts(ORDERS), _no_row)
    facts = next(part for part in found.rendered.parts if part.id == "facts")
    assert "No topic named “orders”" in render.html(facts, oob=True)
    assert {"facts", "partitions-rows"} <= set(found.patches)


def test_a_cluster_that_is_gone_renders_nothing() -> None:
    assert renderer.Renderer().parts(OVERVIEW).parts == ()


def test_every_page_has_a_name_and_a_letter_of_its_own() -> None:
    assert len(pages.BY_NAME) == len(pages.PAGES) + len(pages.EMBEDDED)
    letters = [page.letter for page in pages.PAGES if page.letter]
    assert len(letters) == len(set(letters))


def test_a_lone_surrogate_is_written_out() -> None:
    states.publish({**states.brokers(1)})
    key = PageKey("demo", "topic", ("a\udc80b",))
    facts = next(part for part in renderer.Renderer().parts(key).parts if part.id == "facts")
    assert "a\\udc80b" in renderer.html(facts)
