from __future__ import annotations

import json

import pytest
from django.test import Client

from tests.cluster.plans.worlds import migration
from tests.web import states
from tests.web.frame.test_row_selection import PATHS, signed_in, ways
from tests.web.markup import Markup
from zkdash.access.roles import Role
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import ChangedAreas
from zkdash.web import pages
from zkdash.web.serving import renderer
from zkdash.znode import Unreadable

URL = "/c/demo/kraft/"
FIELDS = {"version": 2, "timestamp": "1"}
BY_BROKER: states.Tree = {
    "/controller": states.znode(FIELDS | {"brokerid": 1, "kraftControllerEpoch": -1}, owner=0x100)
}
BY_KRAFT: states.Tree = {"/controller": states.znode(FIELDS | {"brokerid": 3000, "kraftControllerEpoch": 1})}
WAITS: states.Tree = {"/migration": states.znode(migration(-1, epoch=-1))}
COPIED: states.Tree = {"/migration": states.znode(migration(3000, offset=1062))}
BANNER = "KRaft controller 3000 owns the metadata"


def _facts(page: Markup) -> dict[str, str]:
    return dict(zip(page.texts("#kraft dt"), page.texts("#kraft dd"), strict=True))


@pytest.mark.parametrize(
    ("tree", "stage", "severity"),
    [
        (BY_BROKER, "not begun", "● Not begun."),
        (BY_BROKER | WAITS, "a KRaft controller waits for the brokers", "● A KRaft controller has found"),
        (BY_KRAFT | WAITS, "KRaft has taken over, and copies the metadata", "● KRaft has taken over"),
        (BY_KRAFT | COPIED, "KRaft owns the metadata", "● KRaft owns the metadata."),
        (
            BY_BROKER | COPIED,
            "a broker is the controller, and /migration was left behind",
            "▲ A broker is the controller",
        ),
        ({"/migration": Unreadable("no right")}, "not known", "? How far a migration is cannot be told"),
    ],
)
def test_each_stage_is_told(client: Client, tree: states.Tree, stage: str, severity: str) -> None:
    states.publish({**states.brokers(1, 2), **tree})
    page = Markup(client.get(URL))
    assert page.text("h1") == f"Migration to KRaft: {stage}"
    assert page.text("#kraft p.banner").startswith(severity)


def test_what_zookeeper_holds_of_it_is_shown(client: Client) -> None:
    features = {"/feature": states.znode({"version": 2, "status": 1, "features": {}})}
    states.publish({**states.brokers(1), **BY_KRAFT, **COPIED, **features})
    assert _facts(Markup(client.get(URL))) == {
        "Controller": "KRaft controller 3000, epoch 1 /controller Copy",
        "Migration": "KRaft controller 3000, written up to offset 1 062 /migration Copy",
        "Written last": "2026-11-20 10:42:07",
        "Features": "version 2, none finalized /feature Copy",
    }


def test_conditions_say_yes_no_or_that_zookeeper_cannot_know(client: Client) -> None:
    states.publish({**states.brokers(1, 2), **states.topic("t", {0: [1, 3]}), **BY_BROKER})
    page = Markup(client.get(URL))
    assert page.texts("tr#condition-registered td") == [
        "Every broker is registered",
        "▲ no",
        "Broker 3 holds replicas and is not registered: the migration waits for all brokers.",
    ]
    assert page.texts("tr#condition-idle td")[1] == "✓ yes"
    assert page.texts("tr#condition-migration-enabled td")[1] == "? cannot know"


def test_brokers_run_in_zookeeper_mode_or_nobody_can_tell(client: Client) -> None:
    topic = states.topic("t", {0: [1, 3]})
    states.publish({**states.brokers(1), **topic, **BY_KRAFT, **COPIED})
    page = Markup(client.get(URL))
    assert page.texts("tr#mode-1 td") == ["✓ in ZooKeeper mode", "4", "—"]
    assert page.texts("tr#mode-3 td") == ["? in KRaft mode, or down", "—", "—"]
    states.publish({**states.brokers(1), **topic, **BY_BROKER})
    assert Markup(client.get(URL)).texts("tr#mode-3 td")[0] == "▲ not registered"


def test_json_has_the_stage_the_conditions_and_the_brokers(client: Client) -> None:
    states.publish({**states.brokers(1), **BY_KRAFT, **COPIED})
    told = json.loads(client.get(URL, {"format": "json"}).content)
    assert (told["stage"], told["owner"], told["total"]) == ("owned", 3000, 11)
    assert told["migration"]["kraft_metadata_offset"] == 1062
    assert next(row["answer"] for row in told["rows"] if "registered" in row["condition"]) == "yes"
    assert told["brokers"][0]["mode"] == "in ZooKeeper mode"


def test_it_is_live(client: Client) -> None:
    states.publish({**states.brokers(1), **BY_BROKER})
    touched = states.change("/migration", WAITS["/migration"], 6)
    key = PageKey("demo", "kraft")
    assert renderer.Renderer().is_affected(key, "demo", touched)
    assert Markup(client.get(URL)).text("h1").endswith("waits for the brokers")
    assert not pages.BY_NAME["kraft"].shows(
        key, ChangedAreas(frozenset({"groups"}), frozenset(), frozenset())
    )


def test_before_the_first_load_nothing_is_known(client: Client) -> None:
    states.publish()
    page = Markup(client.get(URL))
    assert page.text("h1") == "Migration to KRaft: not known"
    assert page.text("#conditions-rows") == "Nothing is known before the first load from ZooKeeper."


@pytest.mark.parametrize("path", PATHS)
def test_every_page_says_that_kraft_owns_the_metadata(client: Client, path: str) -> None:
    states.publish(states.healthy() | states.group("billing", {"c1": ["orders"]}) | BY_KRAFT | COPIED)
    assert BANNER in Markup(client.get(f"/c/demo/{path}")).text("#banner")
    states.publish(states.healthy() | states.group("billing", {"c1": ["orders"]}) | WAITS)
    assert BANNER not in Markup(client.get(f"/c/demo/{path}")).text("#banner")


@pytest.mark.django_db
@pytest.mark.parametrize("owned", [BY_KRAFT | COPIED, BY_BROKER | COPIED, {"/migration": Unreadable("no")}])
def test_no_page_leads_to_an_action_once_kraft_owns_the_metadata_or_might(owned: states.Tree) -> None:
    healthy = states.healthy() | states.group("billing", {"c1": ["orders"]})
    client = signed_in(Role.OPERATOR)
    states.publish(healthy | WAITS)
    assert all(ways(client, path) for path in PATHS)
    states.publish(healthy | owned)
    assert not any(ways(client, path) for path in PATHS)


@pytest.mark.django_db
def test_every_form_says_why_not(settings: object) -> None:
    states.publish(states.healthy() | BY_KRAFT | COPIED)
    page = Markup(signed_in(Role.OPERATOR).get("/c/demo/actions/new/"))
    notes = page.texts("ul.kinds p.note")
    assert len(notes) == len(page.all("ul.kinds li"))
    assert all(note.startswith("Not now: A KRaft controller owns the metadata") for note in notes)


def test_the_overview_and_the_brokers_lead_to_it(client: Client) -> None:
    states.publish(states.healthy() | BY_KRAFT | COPIED)
    assert URL in [link.get("href") for link in Markup(client.get("/c/demo/")).all("#strip a")]
    assert "../kraft/" in [link.get("href") for link in Markup(client.get("/c/demo/brokers/")).all("p a")]
