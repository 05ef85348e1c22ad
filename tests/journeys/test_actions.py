"""Actions in a real browser: open pages follow the queue, buttons need no scripts, what is chosen stays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from tests.conftest import Chroot
from tests.databases import Database
from tests.serving import Serve, Served
from tests.signing import PASSWORD, sign_in
from tests.world import World
from zkdash.access.models import Grant
from zkdash.access.roles import Role
from zkdash.actions import planning, queue
from zkdash.actions.models import Action
from zkdash.actions.who import Who
from zkdash.cluster.plans.intents import Reassign
from zkdash.kafka.values import Move
from zkdash.zk.config import ClusterConfig

pytestmark = [
    pytest.mark.zk,
    pytest.mark.browser,
    pytest.mark.parametrize("database", ["sqlite"], indirect=True),
]

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
ACTIONS = "/c/default/actions/"
LIMIT_MS = 15_000
REASSIGNMENT = "/admin/reassign_partitions"


class Scene:
    """A served cluster, and the database that it shares with the test."""

    def __init__(self, site: Served, chroot: Chroot, world: World) -> None:
        self.site, self.world, self.client = site, world, chroot.client
        self._config = ClusterConfig("default", (("127.0.0.1", chroot.server.port),), chroot.path)

    def propose(self, intent: Any, who: Who, **more: Any) -> Action:
        return queue.propose("default", intent, planning.plan(self._config, intent), who, **more)

    def carry_out(self) -> None:
        """What a controller makes of the moves that stand in ZooKeeper."""
        data, _ = self.client.get(REASSIGNMENT)
        for move in json.loads(data)["partitions"]:
            path = f"/brokers/topics/{move['topic']}"
            topic = json.loads(self.client.get(path)[0])
            topic["partitions"][str(move["partition"])] = move["replicas"]
            self.client.set(path, json.dumps(topic).encode())
            self.world.state(
                move["topic"], move["partition"], leader=move["replicas"][0], isr=move["replicas"], epoch=2
            )
        self.client.delete(REASSIGNMENT)


@pytest.fixture
def scene(database: Database, world: World, chroot: Chroot, served: Serve) -> Iterator[Scene]:
    for name, role in (("olga", Role.APPROVER), ("vera", Role.VIEWER)):
        user = User.objects.create_user(name, password=PASSWORD)
        Grant.objects.create(user=user, role=role.value, clusters="*")
    site = served(ZKDASH_ZOOKEEPER=chroot.address, **database.environment)
    site.wait_until_loaded()
    yield Scene(site, chroot, world)
    site.stop()


@pytest.fixture
def opened(browser: Any, scene: Scene) -> Iterator[Callable[..., Any]]:
    """Pages of browsers in which somebody has signed in."""
    contexts = []

    def open_as(name: str, **options: Any) -> Any:
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.goto(f"{scene.site.address}/sign-in/")
        sign_in(page, name)
        return page

    yield open_as
    for context in contexts:
        context.close()


def live(page: Any, address: str) -> None:
    page.goto(address)
    page.mouse.move(1, 1)
    expect(page.locator("#freshness")).to_contain_text("Live", timeout=LIMIT_MS)
    page.evaluate("window.opened = true")


def test_open_pages_follow_an_action_from_its_review_to_its_end(
    scene: Scene, opened: Callable[..., Any]
) -> None:
    """By a real worker on a real ZooKeeper; the test is the controller."""
    actions, action = opened("vera"), opened("olga")
    live(actions, scene.site.address + ACTIONS)
    expect(actions.locator("#actions-rows")).to_contain_text("No actions yet.")
    moves = (Move("payments", 0, (1, 3)), Move("payments", 1, (3, 1)))
    made = scene.propose(Reassign(moves), Who("ann"), reason="Broker 2 goes")
    expect(actions.locator(f"#action-{made.id}")).to_contain_text("planned", timeout=LIMIT_MS)
    live(action, f"{scene.site.address}{ACTIONS}{made.id}/")
    watching = opened("vera")
    live(watching, f"{scene.site.address}{ACTIONS}{made.id}/")
    expect(watching.get_by_role("button", name="Submit")).to_have_count(0)
    action.get_by_role("button", name="Submit").click()
    for page in (action, watching):
        expect(page.locator("#facts")).to_contain_text(
            "verifying: waits until 2 partitions", timeout=LIMIT_MS
        )
        expect(page.locator("#moves-rows")).to_contain_text("broker 3 not in sync yet", timeout=LIMIT_MS)
    expect(actions.locator(f"#action-{made.id}")).to_contain_text("Step 1 of 1", timeout=LIMIT_MS)
    expect(actions.locator("#nav")).to_contain_text("Actions 1")
    expect(action.get_by_role("button", name="Stop before the next step")).to_be_visible()
    scene.carry_out()
    for page in (action, watching):
        expect(page.locator("#facts li.now")).to_have_text("done", timeout=LIMIT_MS)
    expect(action.get_by_role("button", name="Undo: propose the inverse")).to_be_visible()
    expect(watching.locator("#verbs button")).to_have_count(0)
    expect(actions.locator(f"#action-{made.id}")).to_have_attribute("data-tone", "ok")
    assert actions.evaluate("window.opened")
    assert watching.evaluate("window.opened")
    action.get_by_role("button", name="Undo: propose the inverse").click()
    expect(action.locator("h1")).to_contain_text(f"#{made.id + 1}")
    expect(action.locator("#facts")).to_contain_text("Follows from")
    expect(action.locator(".review")).to_contain_text(REASSIGNMENT)


def test_without_scripts_an_action_is_submitted_and_withdrawn(
    scene: Scene, opened: Callable[..., Any]
) -> None:
    page = opened("olga", java_script_enabled=False)
    later = datetime(2035, 1, 1, tzinfo=UTC)
    made = scene.propose(Reassign((Move("orders", 0, (1, 2)),)), Who("ann"), not_before=later)
    page.goto(f"{scene.site.address}{ACTIONS}{made.id}/")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#facts")).to_contain_text("Begins at 2035-01-01 00:00:00 UTC")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("button", name="Withdraw").click()
    expect(page.locator("#facts")).to_contain_text("Withdrawn by olga; nothing was written.")
    page.get_by_role("link", name="All its lines in the audit").click()
    expect(page.locator("#lines")).to_contain_text("stopped")
    page.get_by_role("button", name="Verify the chain").click()
    expect(page.locator("main")).to_contain_text("rows is whole. Checked in")


def test_a_chosen_row_stays_chosen_when_it_is_swapped_and_leads_to_the_form(
    scene: Scene, opened: Callable[..., Any]
) -> None:
    page = opened("olga")
    live(page, f"{scene.site.address}/c/default/topics/")
    page.get_by_label("Choose orders").check()
    page.mouse.move(1, 1)
    scene.world.state("orders", 0, leader=2, isr=[2, 3], epoch=1)
    row = page.locator("tr", has_text="orders")
    expect(row).to_have_attribute("data-tone", "warning", timeout=LIMIT_MS)
    expect(page.get_by_label("Choose orders")).to_be_checked()
    scene.world.topic("arrivals", {0: [1]})
    expect(page.get_by_label("Choose arrivals")).to_be_visible(timeout=LIMIT_MS)
    expect(page.get_by_label("Choose orders")).to_be_checked()
    page.get_by_role("button", name="Reassign…").click()
    expect(page).to_have_url(f"{scene.site.address}{ACTIONS}new/reassign/?topic=orders")


def test_pages_of_actions_are_free_of_what_axe_finds_and_fit_a_phone(
    scene: Scene, opened: Callable[..., Any]
) -> None:
    scene.propose(Reassign((Move("payments", 0, (1, 3)),)), Who("ann"), reason="x" * 300)
    moves = (Move("orders", 0, (1, 2)),)
    moving = queue.submit(scene.propose(Reassign(moves), Who("ann")).id, Who("ann"))
    addresses = [ACTIONS, f"{ACTIONS}{moving.id - 1}/", f"{ACTIONS}{moving.id}/", "/c/default/audit/"]
    addresses += ["/c/default/", "/c/default/topics/", "/c/default/topics/orders/", "/c/default/brokers/3/"]
    found = []
    for theme in ("light", "dark"):
        page = opened("olga", color_scheme=theme)
        for address in addresses:
            page.set_viewport_size({"width": 1366, "height": 768})
            page.goto(scene.site.address + address)
            page.evaluate(AXE)
            result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            found += [(address, one["id"], [n["html"] for n in one["nodes"]]) for one in result["violations"]]
            for width in (1366, 360):
                page.set_viewport_size({"width": width, "height": 740})
                if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                    found.append((address, "too wide", width))
    assert found == []
