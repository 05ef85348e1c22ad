"""Embeds in pages of other origins, in a real browser: live, revoked, not allowed, narrow, without script."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import expect

from tests.history import hour
from tests.history.writing import MINUTE
from tests.journeys import framing, looking, pace
from tests.journeys.framing import Parent
from tests.journeys.sites import ROOT, Site
from tests.waiting import wait_for

pytestmark = [pytest.mark.zk, pytest.mark.browser]

REVOKED_WITHIN_S = 5.0
NARROW = {"width": 320, "height": 640}
MANAGER = "embeds/"


@pytest.fixture
def wiki() -> Iterator[Parent]:
    with framing.parent() as found:
        yield found


@pytest.fixture
def stranger() -> Iterator[Parent]:
    with framing.parent() as found:
        yield found


@pytest.fixture
def root(opened: Callable[..., Any], closed: Site) -> Any:
    """The page of the administrator, who manages embeds."""
    return opened(closed, ROOT)


def make(root: Any, site: Site, view: str, name: str = "", *, parents: str = "", theme: str = "") -> str:
    """Fill the form as a person does; the snippet that is to be copied."""
    root.goto(site.home + MANAGER)
    root.get_by_label("Shows").select_option(view)
    if name:
        root.get_by_label("Name", exact=True).fill(name)
    root.locator("main").get_by_label("Theme", exact=True).select_option(theme)
    root.get_by_label("Pages that may frame it").fill(parents)
    root.get_by_role("button", name="Make the embed").click()
    return str(root.locator("#snippet").input_value())


def live(page: Any, parent: Parent) -> Any:
    """The frame in somebody's page, once its socket stands."""
    page.goto(parent.address)
    frame = page.frame_locator("iframe")
    expect(frame.locator("#freshness")).to_contain_text("Live")
    return frame


def an_hour(site: Site) -> None:
    """Let the last hour be recorded."""
    now = int(time.time() * 1000)
    hour.write(site.history, now - now % MINUTE - 59 * MINUTE)


def test_a_frame_in_somebodys_page_is_live_until_it_is_revoked(
    root: Any, page: Any, closed: Site, wiki: Parent
) -> None:
    wiki.body = make(root, closed, "topic", "orders", parents=wiki.address)
    blocked: list[str] = []
    page.on("console", lambda said: blocked.append(said.text) if said.type == "error" else None)
    frame = live(page, wiki)
    rows = frame.locator("tbody tr")
    expect(rows).to_have_count(3)
    pace.listen(
        page.frames[-1], "document.querySelector('tbody tr:last-child').dataset.severity === 'warning'"
    )
    closed.world.state("orders", 2, leader=3, isr=[3], epoch=1)
    written = time.time()
    assert pace.heard_s(page.frames[-1], written) < pace.allowed_s(1.0, page)
    expect(rows.nth(2)).to_have_class(re.compile("changed"))
    assert page.context.cookies() == []
    assert page.frames[-1].evaluate("origin") == "null"
    assert blocked == []
    root.goto(closed.home + MANAGER)
    pace.listen(page.frames[-1], "document.querySelector('#ended').checkVisibility()")
    root.get_by_role("button", name="Revoke").click()
    expect(root.locator("tbody .status")).to_contain_text("revoked")
    revoked = time.time()
    assert pace.heard_s(page.frames[-1], revoked) < pace.allowed_s(REVOKED_WITHIN_S, page)
    expect(frame.locator("#ended")).to_contain_text("This embed has ended")
    expect(frame.locator("tbody")).to_have_count(0)
    expect(frame.locator("#freshness")).to_have_text("Ended")
    page.reload()
    expect(frame.locator("main")).to_have_text(re.compile("This embed was revoked."))


def test_a_page_that_is_not_allowed_gets_nothing(
    root: Any, page: Any, closed: Site, wiki: Parent, stranger: Parent
) -> None:
    wiki.body = stranger.body = make(root, closed, "topic", "orders", parents=wiki.address)
    sockets: list[str] = []
    page.on("websocket", lambda one: sockets.append(one.url))
    with page.expect_console_message(lambda one: "frame-ancestors" in one.text):
        page.goto(stranger.address)
    wait_for(
        lambda: page.evaluate("1") and page.frames[-1].url == "chrome-error://chromewebdata/", limit_s=30
    )
    # Nor what its own script asks for: an answer that it may not read, a socket that does not open.
    address = re.findall(r'src="([^"]+)"', stranger.body)[0]
    tried = page.evaluate(
        """async (address) => {
            const read = await fetch(address).then((answer) => answer.text(), () => "nothing");
            const socket = new WebSocket(address.replace("http", "ws").replace("/embed/", "/live/embed/"));
            return [read, await new Promise((done) => {
                socket.onopen = () => done("open");
                socket.onerror = () => done("refused");
            })];
        }""",
        address,
    )
    assert tried == ["nothing", "refused"]
    assert len(sockets) == 1
    live(page, wiki)


def test_links_open_tabs_of_their_own_on_the_whole_page(
    root: Any, page: Any, closed: Site, wiki: Parent
) -> None:
    wiki.body = make(root, closed, "overview", parents=wiki.address)
    frame = live(page, wiki)
    with page.context.expect_page() as tab:
        frame.locator("#strip a").first.click()
    # Whoever follows it must sign in: the embed gives no more than itself.
    expect(tab.value.get_by_role("heading", name="Sign in")).to_be_visible()
    brokers = quote(urlsplit(closed.home).path + "brokers/", safe="")
    assert tab.value.url == f"{closed.address}/sign-in/?next={brokers}"
    assert tab.value.evaluate("opener") is None
    assert page.url == wiki.address + "/"


def test_a_frame_that_lost_its_socket_comes_back_to_the_newest(
    root: Any, page: Any, closed: Site, wiki: Parent
) -> None:
    wiki.body = make(root, closed, "number:topics", parents=wiki.address)
    routed: list[Any] = []

    def through(socket: Any) -> None:
        routed.append(socket)
        socket.connect_to_server()

    page.add_init_script("Math.random = () => 0.2")  # by which it is tried again soon or late
    page.route_web_socket("**/live/embed/**", through)
    frame = live(page, wiki)
    expect(frame.locator("#strip dd")).to_have_text("2")
    closed.world.topic("arrivals", {0: [1]})
    expect(frame.locator("#strip dd")).to_have_text("3")
    routed[0].close(code=1012)
    closed.world.topic("departures", {0: [1]})
    expect(frame.locator("#strip dd")).to_have_text("4")
    assert len(routed) == 2


def test_every_view_reads_well_at_320_pixels(
    root: Any, opened: Callable[..., Any], closed: Site, wiki: Parent
) -> None:
    """Light or dark as the viewer prefers; whole in itself, without a bar to scroll sideways."""
    closed.world.kill_broker(3)
    an_hour(closed)
    views = {
        "overview": "",
        "topic": "orders",
        "broker": "1",
        "check:D1": "",
        "number:offline": "",
        "chart:rebalances": "",
    }
    snippets = [make(root, closed, view, name, parents=wiki.address) for view, name in views.items()]
    found: dict[tuple[str, str], object] = {}
    page = opened(viewport=NARROW)
    looking.prepare(page)
    for view, snippet in zip(views, snippets, strict=True):
        wiki.body = f"<style>body{{margin:0}} iframe{{border:0;width:320px}}</style>{snippet}"
        frame = live(page, wiki)
        for theme, colour in (("light", "rgb(246, 247, 249)"), ("dark", "rgb(15, 19, 26)")):
            page.emulate_media(color_scheme=theme)
            expect(frame.locator("body")).to_have_css("background-color", colour)
            bad = looking.violations(page.frames[-1], theme=theme)
            width = page.frames[-1].evaluate("document.scrollingElement.scrollWidth")
            if bad or width > NARROW["width"]:
                found[theme, view] = (bad, width)
    assert found == {}


def test_a_theme_that_was_chosen_holds_for_every_viewer(
    root: Any, opened: Callable[..., Any], closed: Site, wiki: Parent
) -> None:
    wiki.body = make(root, closed, "check:D1", parents=wiki.address, theme="dark")
    frame = live(opened(color_scheme="light"), wiki)
    expect(frame.locator("body")).to_have_css("background-color", "rgb(15, 19, 26)")


def test_without_script_it_shows_what_it_is_now(
    root: Any, opened: Callable[..., Any], closed: Site, wiki: Parent
) -> None:
    wiki.body = make(root, closed, "topic", "orders", parents=wiki.address)
    page = opened(java_script_enabled=False)
    page.goto(wiki.address)
    expect(page.frame_locator("iframe").locator("tbody tr")).to_have_count(3)


def test_axe_finds_nothing_against_the_page_that_makes_them(root: Any, closed: Site) -> None:
    root.set_viewport_size(looking.PHONE)
    make(root, closed, "check:D1")
    assert looking.faults(root) == {}, "made"
    root.get_by_label("Shows").select_option("topic")
    root.get_by_label("Name", exact=True).fill("orders")
    root.get_by_role("button", name="Preview").click()
    expect(root.frame_locator("iframe").locator("tbody tr")).to_have_count(3)
    assert looking.faults(root) == {}, "preview"
    root.goto(closed.home + MANAGER)
    assert looking.faults(root) == {}, "list"


def test_a_chart_is_drawn_without_a_script_in_lines_of_colours_and_dashes_of_their_own(
    root: Any, opened: Callable[..., Any], closed: Site, wiki: Parent
) -> None:
    an_hour(closed)
    wiki.body = make(root, closed, "chart:rebalances", parents=wiki.address)
    page = opened(java_script_enabled=False, viewport=NARROW)
    page.goto(wiki.address)
    frame = page.frame_locator("iframe")
    lines = frame.locator("figure path:not(.grid)")
    expect(lines).to_have_count(4)
    drawn = [
        one.evaluate("e => { const s = getComputedStyle(e); return s.stroke + s.strokeDasharray }")
        for one in lines.all()
    ]
    assert len({*drawn}) == 4
    keys = [
        one.evaluate("e => { const s = getComputedStyle(e); return s.stroke + s.strokeDasharray }")
        for one in frame.locator("tbody .key path").all()
    ]
    assert keys == drawn
    assert lines.nth(1).bounding_box()["width"] > 50
    expect(frame.locator("tbody tr").first).to_contain_text("all groups")


def test_a_chart_of_the_last_hour_is_asked_for_again_every_minute(
    root: Any, page: Any, closed: Site, wiki: Parent
) -> None:
    wiki.body = make(root, closed, "chart:rebalances", parents=wiki.address)
    page.clock.install()
    frame = live(page, wiki)
    expect(frame.locator("main")).to_contain_text("There are no charts of this cluster yet.")
    an_hour(closed)
    page.clock.run_for(61_000)
    expect(frame.locator("figure svg")).to_be_visible()


def test_a_badge_is_a_picture_in_somebodys_page(root: Any, page: Any, closed: Site, wiki: Parent) -> None:
    make(root, closed, "check:D1")
    badge = root.locator("#badge").text_content()
    wiki.body = f"<img src='{badge}' alt='badge'>"
    page.goto(wiki.address)
    wait_for(lambda: page.evaluate("document.images[0].naturalWidth > 60"), limit_s=30)
    assert page.evaluate("document.images[0].naturalHeight") == 20
