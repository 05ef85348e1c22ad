"""Actions in a real browser: open pages follow the queue, buttons need no scripts, what is chosen stays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys import looking
from tests.journeys.sites import APPROVER, VIEWER, Site
from zkdash.actions.actor import Actor
from zkdash.actions.models import Action
from zkdash.actions.queue import planning, queue
from zkdash.cluster.plans.intents import Reassign
from zkdash.kafka.values import Move
from zkdash.zk.config import ClusterConfig
from zkdash.zk.writing.writer import APPLIED

pytestmark = [pytest.mark.zk, pytest.mark.browser]

REASSIGNMENT = "/admin/reassign_partitions"


class Scene:
    """A cluster of the test's own, and the database that it shares with the test."""

    def __init__(self, site: Site) -> None:
        self.site, self.world, self.client = site, site.world, site.chroot.client
        server = site.chroot.server
        self._config = ClusterConfig(site.cluster, (("127.0.0.1", server.port),), site.chroot.path)

    def propose(self, intent: Any, who: Actor, **more: Any) -> Action:
        return queue.propose(self.site.cluster, intent, planning.plan(self._config, intent), who, **more)

    def address(self, action: Action) -> str:
        return f"{self.site.home}actions/{action.pk}/"

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
def scene(site: Site) -> Iterator[Scene]:
    with site.process.rows():
        yield Scene(site)


def live(page: Any, address: str) -> None:
    page.goto(address)
    page.mouse.move(1, 1)
    expect(page.locator("#freshness")).to_contain_text("Live")
    page.evaluate("window.opened = true")


def test_open_pages_follow_an_action_from_its_review_to_its_end(
    scene: Scene, opened: Callable[..., Any]
) -> None:
    """By a real worker on a real ZooKeeper; the test is the controller."""
    actions, action = opened(scene.site, VIEWER), opened(scene.site, APPROVER)
    live(actions, scene.site.home + "actions/")
    expect(actions.locator("#actions-rows")).to_contain_text("No actions yet.")
    moves = (Move("payments", 0, (1, 3)), Move("payments", 1, (3, 1)))
    made = scene.propose(Reassign(moves), Actor("ann"), reason="Broker 2 goes")
    expect(actions.locator(f"#action-{made.id}")).to_contain_text("planned")
    live(action, scene.address(made))
    watching = opened(scene.site, VIEWER)
    live(watching, scene.address(made))
    expect(watching.get_by_role("button", name="Submit")).to_have_count(0)
    expect(action.locator(".review")).to_contain_text(f"a marker, {APPLIED}/{made.id}-0-… for the first")
    action.get_by_role("button", name="Submit").click()
    for page in (action, watching):
        expect(page.locator("#facts")).to_contain_text("verifying: waits until 2 partitions")
        expect(page.locator("#moves-rows")).to_contain_text("broker 3 not in sync yet")
    expect(actions.locator(f"#action-{made.id}")).to_contain_text("Step 1 of 1")
    expect(actions.locator("#nav")).to_contain_text("Actions 1")
    expect(action.get_by_role("button", name="Stop before the next step")).to_be_visible()
    assert any(name.startswith(f"{made.id}-0-") for name in scene.client.get_children(APPLIED))
    scene.carry_out()
    for page in (action, watching):
        expect(page.locator("#facts li.now")).to_have_text("done")
    expect(action.get_by_role("button", name="Undo: propose the inverse")).to_be_visible()
    expect(watching.locator("#verbs button")).to_have_count(0)
    expect(actions.locator(f"#action-{made.id}")).to_have_attribute("data-severity", "ok")
    assert actions.evaluate("window.opened")
    assert watching.evaluate("window.opened")
    action.get_by_role("button", name="Undo: propose the inverse").click()
    action.wait_for_url(lambda url: url != scene.address(made))
    expect(action.locator("#facts")).to_contain_text("Follows from")
    expect(action.locator(".review")).to_contain_text(REASSIGNMENT)


def test_without_scripts_an_action_is_submitted_and_withdrawn(
    scene: Scene, opened: Callable[..., Any]
) -> None:
    page = opened(scene.site, APPROVER, java_script_enabled=False)
    later = datetime(2035, 1, 1, tzinfo=UTC)
    made = scene.propose(Reassign((Move("orders", 0, (1, 2)),)), Actor("ann"), not_before=later)
    page.goto(scene.address(made))
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#facts")).to_contain_text("Begins at 2035-01-01 00:00:00 UTC")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("button", name="Withdraw").click()
    expect(page.locator("#facts")).to_contain_text("Withdrawn by anna; nothing was written.")
    page.get_by_role("link", name="This action in the audit").click()
    expect(page.locator("#lines")).to_contain_text("Withdrew it")
    page.get_by_role("button", name="Verify the chain").click()
    expect(page.locator("main")).to_contain_text("rows is whole. Checked in")


def test_a_chosen_row_stays_chosen_when_it_is_swapped_and_leads_to_the_form(
    scene: Scene, opened: Callable[..., Any]
) -> None:
    page = opened(scene.site, APPROVER)
    live(page, scene.site.home + "topics/")
    page.get_by_label("Choose orders").check()
    page.mouse.move(1, 1)
    scene.world.state("orders", 0, leader=2, isr=[2, 3], epoch=1)
    row = page.locator("tr", has_text="orders")
    expect(row).to_have_attribute("data-severity", "warning")
    expect(page.get_by_label("Choose orders")).to_be_checked()
    scene.world.topic("arrivals", {0: [1]})
    expect(page.get_by_label("Choose arrivals")).to_be_visible()
    expect(page.get_by_label("Choose orders")).to_be_checked()
    page.get_by_role("button", name="Reassign…").click()
    expect(page).to_have_url(scene.site.home + "actions/new/reassign/?topic=orders")


def test_pages_of_actions_are_free_of_what_axe_finds_and_fit_a_phone(
    scene: Scene, opened: Callable[..., Any]
) -> None:
    planned = scene.propose(Reassign((Move("payments", 0, (1, 3)),)), Actor("ann"), reason="x" * 300)
    moves = (Move("orders", 0, (1, 2)),)
    moving = queue.submit(scene.propose(Reassign(moves), Actor("ann")).id, Actor("ann"))
    addresses = [scene.site.home + path for path in ("", "topics/", "topics/orders/", "brokers/3/")]
    addresses += [scene.site.home + "actions/", scene.address(planned), scene.address(moving)]
    page, found = opened(scene.site, APPROVER), {}
    live(page, scene.address(moving))
    expect(page.locator("#facts")).to_contain_text("verifying: waits until")  # where it stays
    for address in (*addresses, scene.site.home + "audit/"):
        page.goto(address)
        if faults := looking.faults(page):
            found[address] = faults
    assert found == {}
