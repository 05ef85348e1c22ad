"""Embeds in pages of other origins, in a real browser: live, revoked, not allowed, narrow, without script."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import expect

from tests.conftest import Chroot
from tests.history import hour
from tests.history.writing import MINUTE
from tests.journeys import framing
from tests.journeys.framing import Parent
from tests.serving import Serve, Served
from tests.signing import become_first
from tests.waiting import wait_for
from tests.world import World

pytestmark = [pytest.mark.zk, pytest.mark.browser]

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
LIMIT_MS = 15_000
REVOKED_WITHIN_MS = 5_000
NARROW = {"width": 320, "height": 640}
MANAGER = "/c/default/embeds/"


@pytest.fixture
def wiki() -> Iterator[Parent]:
    with framing.parent() as found:
        yield found


@pytest.fixture
def stranger() -> Iterator[Parent]:
    with framing.parent() as found:
        yield found


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Where what was of the cluster is kept; nothing is there yet."""
    return tmp_path / "history" / "default"


@pytest.fixture
def closed(world: World, chroot: Chroot, served: Serve, history: Path) -> Served:
    """The world's cluster, which nobody may see without signing in."""
    return served(
        ZKDASH_ZOOKEEPER=chroot.address,
        ZKDASH_ANONYMOUS_READ="0",
        ZKDASH_HISTORY=history.parent,
        ZKDASH_RECORD="0",
    )


@pytest.fixture
def root(browser: Any, closed: Served) -> Iterator[Any]:
    """The page of the administrator, who sees the first load and manages embeds."""
    context = browser.new_context()
    page = context.new_page()
    become_first(page, closed)
    page.goto(closed.address + "/c/default/topics/")
    expect(page.locator("tr", has_text="orders")).to_be_visible(timeout=LIMIT_MS)
    yield page
    context.close()


def make(root: Any, site: Served, view: str, name: str = "", *, parents: str = "", theme: str = "") -> str:
    """Fill the form as a person does; the snippet that is to be copied."""
    root.goto(site.address + MANAGER)
    root.get_by_label("Shows").select_option(view)
    root.get_by_label("Name", exact=True).fill(name)
    root.get_by_label("Theme", exact=True).first.select_option(theme)
    root.get_by_label("Pages that may frame it").fill(parents)
    root.get_by_role("button", name="Make the embed").click()
    return str(root.locator("#snippet").input_value())


def opened(page: Any, parent: Parent) -> Any:
    """The frame in somebody's page, once its socket stands."""
    page.goto(parent.address)
    frame = page.frame_locator("iframe")
    expect(frame.locator("#freshness")).to_contain_text("Live", timeout=LIMIT_MS)
    return frame


def an_hour(history: Path) -> None:
    """Let the last hour be recorded."""
    now = int(time.time() * 1000)
    hour.write(history, now - now % MINUTE - 59 * MINUTE)


def violations(page: Any) -> list[Any]:
    """What axe has against the document in the frame itself."""
    frame = page.frames[-1]
    frame.evaluate(AXE)
    found = frame.evaluate("axe.run('html', {resultTypes: ['violations']})")["violations"]
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]


def sound(page: Any, step: str) -> None:
    """Nothing against the page itself, in either theme, and no bar to scroll sideways."""
    page.evaluate(AXE)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        found = page.evaluate("axe.run(document, {iframes: false, resultTypes: ['violations']})")[
            "violations"
        ]
        said = [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]
        assert said == [], (step, theme)
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), step


def test_a_frame_in_somebodys_page_is_live_until_it_is_revoked(
    root: Any, page: Any, closed: Served, wiki: Parent, world: World
) -> None:
    wiki.body = make(root, closed, "topic", "orders", parents=wiki.address)
    blocked: list[str] = []
    page.on("console", lambda said: blocked.append(said.text) if said.type == "error" else None)
    frame = opened(page, wiki)
    rows = frame.locator("tbody tr")
    expect(rows).to_have_count(3)
    world.state("orders", 2, leader=3, isr=[3], epoch=1)
    expect(rows.nth(2)).to_have_attribute("data-tone", "warning", timeout=1000)
    expect(rows.nth(2)).to_have_class(re.compile("changed"))
    assert page.context.cookies() == []
    assert page.frames[-1].evaluate("origin") == "null"
    assert blocked == []
    root.goto(closed.address + MANAGER)
    root.get_by_role("button", name="Revoke").click()
    expect(root.locator("tbody .status")).to_contain_text("revoked")
    revoked = time.monotonic()
    expect(frame.locator("#ended")).to_contain_text("This embed has ended", timeout=REVOKED_WITHIN_MS)
    assert time.monotonic() - revoked < REVOKED_WITHIN_MS / 1000
    expect(frame.locator("tbody")).to_have_count(0)
    expect(frame.locator("#freshness")).to_have_text("Ended")
    page.reload()
    expect(frame.locator("main")).to_have_text(re.compile("This embed was revoked."))


def test_a_page_that_is_not_allowed_gets_nothing(
    root: Any, page: Any, closed: Served, wiki: Parent, stranger: Parent
) -> None:
    wiki.body = stranger.body = make(root, closed, "topic", "orders", parents=wiki.address)
    sockets: list[str] = []
    page.on("websocket", lambda one: sockets.append(one.url))
    with page.expect_console_message(lambda one: "frame-ancestors" in one.text):
        page.goto(stranger.address)
    wait_for(
        lambda: page.evaluate("1") and page.frames[-1].url == "chrome-error://chromewebdata/", limit_s=10
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
    opened(page, wiki)


def test_links_open_tabs_of_their_own_on_the_whole_page(
    root: Any, page: Any, closed: Served, wiki: Parent
) -> None:
    wiki.body = make(root, closed, "overview", parents=wiki.address)
    frame = opened(page, wiki)
    with page.context.expect_page() as tab:
        frame.locator("#strip a").first.click()
    # Whoever follows it must sign in: the embed gives no more than itself.
    expect(tab.value.get_by_role("heading", name="Sign in")).to_be_visible()
    assert tab.value.url == closed.address + "/sign-in/?next=%2Fc%2Fdefault%2Fbrokers%2F"
    assert tab.value.evaluate("opener") is None
    assert page.url == wiki.address + "/"


def test_a_frame_that_lost_its_socket_comes_back_to_the_newest(
    root: Any, page: Any, closed: Served, wiki: Parent, world: World
) -> None:
    wiki.body = make(root, closed, "number:topics", parents=wiki.address)
    routed: list[Any] = []

    def through(socket: Any) -> None:
        routed.append(socket)
        socket.connect_to_server()

    page.route_web_socket("**/live/embed/**", through)
    frame = opened(page, wiki)
    expect(frame.locator("#strip dd")).to_have_text("2")
    world.topic("arrivals", {0: [1]})
    expect(frame.locator("#strip dd")).to_have_text("3", timeout=LIMIT_MS)
    routed[0].close(code=1012)
    world.topic("departures", {0: [1]})
    expect(frame.locator("#strip dd")).to_have_text("4", timeout=LIMIT_MS)
    assert len(routed) == 2


def test_every_view_reads_well_at_320_pixels(
    root: Any, closed: Served, wiki: Parent, world: World, history: Path
) -> None:
    """Light or dark as the viewer prefers; whole in itself, without a bar to scroll sideways."""
    world.kill_broker(3)
    an_hour(history)
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
    for theme, colour in (("light", "rgb(247, 248, 250)"), ("dark", "rgb(17, 21, 27)")):
        context = root.context.browser.new_context(viewport=NARROW, color_scheme=theme)
        page = context.new_page()
        for view, snippet in zip(views, snippets, strict=True):
            wiki.body = f"<style>body{{margin:0}} iframe{{border:0;width:320px}}</style>{snippet}"
            frame = opened(page, wiki)
            bad = violations(page)
            width = page.frames[-1].evaluate("document.scrollingElement.scrollWidth")
            background = frame.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
            if bad or width > NARROW["width"] or background != colour:
                found[theme, view] = (bad, width, background)
        context.close()
    assert found == {}


def test_a_theme_that_was_chosen_holds_for_every_viewer(
    root: Any, browser: Any, closed: Served, wiki: Parent
) -> None:
    wiki.body = make(root, closed, "check:D1", parents=wiki.address, theme="dark")
    context = browser.new_context(color_scheme="light")
    frame = opened(context.new_page(), wiki)
    expect(frame.locator("body")).to_have_css("background-color", "rgb(17, 21, 27)")
    context.close()


def test_without_script_it_shows_what_it_is_now(
    root: Any, browser: Any, closed: Served, wiki: Parent
) -> None:
    wiki.body = make(root, closed, "topic", "orders", parents=wiki.address)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(wiki.address)
    expect(page.frame_locator("iframe").locator("tbody tr")).to_have_count(3)
    context.close()


def test_axe_finds_nothing_against_the_page_that_makes_them(root: Any, closed: Served) -> None:
    root.set_viewport_size({"width": 360, "height": 740})
    make(root, closed, "check:D1")
    sound(root, "made")
    root.get_by_label("Shows").select_option("topic")
    root.get_by_label("Name", exact=True).fill("orders")
    root.get_by_role("button", name="Preview").click()
    expect(root.frame_locator("iframe").locator("tbody tr")).to_have_count(3)
    sound(root, "preview")
    root.goto(closed.address + MANAGER)
    sound(root, "list")


def test_a_chart_is_drawn_without_a_script_in_lines_of_colours_and_dashes_of_their_own(
    root: Any, browser: Any, closed: Served, wiki: Parent, history: Path
) -> None:
    an_hour(history)
    wiki.body = make(root, closed, "chart:rebalances", parents=wiki.address)
    context = browser.new_context(java_script_enabled=False, viewport=NARROW)
    page = context.new_page()
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
    context.close()


def test_a_chart_of_the_last_hour_is_asked_for_again_every_minute(
    root: Any, page: Any, closed: Served, wiki: Parent, history: Path
) -> None:
    wiki.body = make(root, closed, "chart:rebalances", parents=wiki.address)
    page.clock.install()
    frame = opened(page, wiki)
    expect(frame.locator("main")).to_contain_text("Nothing is recorded of this cluster yet.")
    an_hour(history)
    page.clock.run_for(61_000)
    expect(frame.locator("figure svg")).to_be_visible(timeout=LIMIT_MS)


def test_a_badge_is_a_picture_in_somebodys_page(root: Any, page: Any, closed: Served, wiki: Parent) -> None:
    make(root, closed, "check:D1")
    badge = root.locator("#badge").text_content()
    wiki.body = f"<img src='{badge}' alt='badge'>"
    page.goto(wiki.address)
    wait_for(lambda: page.evaluate("document.images[0].naturalWidth > 60"), limit_s=10)
    assert page.evaluate("document.images[0].naturalHeight") == 20
