"""The list of checks, the page of one, and what pages of topics, brokers and groups say of themselves."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import msgspec
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from tests import full
from tests.alarms import seeing
from tests.narrowing import known
from tests.notices.receiving import Receiver
from tests.web import states
from tests.web.markup import Markup
from zkdash import live
from zkdash.access.models import Grant
from zkdash.actions.models import Audit
from zkdash.alarms.keeping import Keeper
from zkdash.alarms.models import Acknowledgement as Row
from zkdash.alarms.open_alarms import Acknowledgement, Alarms, OpenAlarm, Seen
from zkdash.cluster import checks
from zkdash.cluster.checks import CHECKS, Observations
from zkdash.cluster.checks.observations import CheckResult
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.violations import Violation
from zkdash.configuration.checks import ChecksByCluster
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import ChangedAreas
from zkdash.web.frame import times
from zkdash.web.serving import renderer
from zkdash.zk.config import ClusterConfig

pytestmark = pytest.mark.django_db

ALL = "/c/demo/checks/"
ONE = "/c/demo/checks/D3/"
KNOWN = Acknowledgement(7, "ann", states.TIME, "we know", {"orders": 2}, Severity.CRITICAL)
ORDERS = Violation(2, states.TIME / 1000, why="no replica lives")


def together(*seen: Seen) -> Observations:
    """What several checks saw."""
    looked: dict[str, CheckResult] = {}
    for one in seen:
        looked |= one.observations.looked
    found = [one.finding for one in looked.values() if one.finding is not None]
    passing = tuple(name for name, one in looked.items() if one.causes is not None and not one.causes)
    found.sort(key=lambda one: one.severity.rank)
    return Observations(looked=looked, findings=tuple(found), passing=passing)


def of(check: str, **causes: Violation) -> Seen:
    return seeing.of(check, seeing.looked(check, causes))


def alarms(check: str, *known: Acknowledgement, covered: bool = True) -> Alarms:
    standing = OpenAlarm(check, 4, states.TIME - 60_000, known)
    return Alarms({check: standing}, frozenset({check} if covered and known else ()), read=True)


def operator(client: Client, role: str = "operator") -> Client:
    user = User.objects.create_user("olga")
    Grant.objects.create(user=user, role=role, clusters="demo")
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_all_checks_are_listed_with_what_each_says(client: Client) -> None:
    seen = together(
        of("D3", orders=ORDERS),
        seeing.passing("D17"),
        seeing.silent("D40"),
        seeing.silent("D52", is_unknown=True),
        seeing.waiting("D4", "orders"),
    )
    states.publish(states.sick(), observations=seen, alarms=alarms("D3", KNOWN))
    document = json.loads(client.get(ALL, {"format": "json", "size": "200"}).content)
    rows = {row["check"]: row for row in document["rows"]}
    assert len(rows) == len(CHECKS)
    assert document["rows"][0]["check"] == "D3"
    assert (rows["D3"]["status"], rows["D3"]["count"], rows["D3"]["acknowledged"]) == (
        "critical",
        2,
        "by ann",
    )
    assert rows["D3"]["since"] == "2026-11-20T10:41:07.123Z"  # as the database remembers it
    assert (rows["D17"]["status"], rows["D17"]["sentence"]) == ("ok", checks.TITLES["D17"])
    assert rows["D40"]["sentence"] == f"{checks.TITLES['D40']}?"
    page = Markup(client.get(ALL, {"size": "200"}))
    said = {
        row.xpath("string(td[2])"): row.xpath("normalize-space(td[1])")
        for row in page.all("#all-checks-rows tr")
    }
    assert said["D3"] == "✕ critical"
    assert said["D17"] == "✓ passes"
    assert (said["D40"], said["D52"]) == ("? not for this cluster", "? cannot know")
    assert rows["D40"]["count_reason"] == rows["D52"]["count_reason"] == "No group is there"
    assert said["D4"] == "● seen, not for long enough yet"
    assert said["D1"] == "? unknown"
    link = page.all("#all-checks-rows th a")[0]
    assert (link.text_content(), link.get("href")) == (rows["D3"]["sentence"], ONE)


def test_the_list_is_filtered_by_words_and_by_status_and_is_csv_too(client: Client) -> None:
    states.publish(states.sick(), observations=together(of("D3", orders=ORDERS), seeing.passing("D17")))
    assert [row["check"] for row in _rows(client, ALL, q="d17")] == ["D17"]
    assert [row["check"] for row in _rows(client, ALL, status="critical")] == ["D3"]
    lines = list(csv.DictReader(io.StringIO(client.get(ALL, {"format": "csv", "q": "D3"}).content.decode())))
    assert lines[0]["check"] == "D3"


def test_a_check_tells_both_sentences_how_it_is_computed_and_what_causes_it(client: Client) -> None:
    seen = together(of("D3", orders=ORDERS, clicks=Violation(5)))
    states.publish(states.sick(), observations=seen, alarms=alarms("D3", KNOWN, covered=False))
    page = Markup(client.get(ONE))
    check = checks.BY_ID["D3"]
    facts = page.text(".facts")
    for said in (
        check.passing,
        check.failing(2, 2),
        check.computed,
        check.remedy,
        "stateless = 60",
        "confirm = 2",
    ):
        assert said in facts
    assert page.texts("#causes-rows th") == ["clicks", "orders"]  # the one that does it most first
    assert page.all("#causes-rows th a")[0].get("href") == "/c/demo/topics/clicks/"
    assert page.texts("#causes-rows td")[-3:] == ["2026-11-20 10:42:07", "no replica lives", "by ann"]
    assert "we know" in page.text("#acknowledgements")
    assert page.all("#pick, .pick, #acknowledgements button") == []  # a visitor may not act
    record = json.loads(client.get(ONE, {"format": "json"}).content)["check"]
    assert (record["id"], record["occurrence"], record["acknowledged"]) == ("D3", 4, False)
    assert record["thresholds"] == {"confirm": 2.0, "stateless": 60.0}


def test_a_check_that_counts_a_table_links_to_it(client: Client) -> None:
    states.publish(
        states.sick(), observations=together(seeing.of("D1", seeing.looked("D1", {"": Violation(3)})))
    )
    page = Markup(client.get("/c/demo/checks/D1/"))
    hrefs = {link.get("href") for link in page.all("main a")}
    assert "/c/demo/topics/?q=is%3Aoffline" in hrefs
    assert page.texts("#causes-rows th") == ["the whole cluster"]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_every_check_has_a_page_in_every_state(client: Client, settings: Settings, check: Any) -> None:
    settings.ZKDASH_CLUSTERS = (ClusterConfig("demo", (("127.0.0.1", 1),), ask_brokers=False),)
    operator(client)
    name = {"broker": "1", "znode": "/a/b"}.get(check.about.value, "orders")
    links: set[str] = set()
    others = (
        seeing.passing(check.id),
        seeing.silent(check.id),
        seeing.waiting(check.id, name),
        seeing.failing(check.id, ""),
    )
    # One of the others in turn: what differs between checks is how they fail.
    turn = CHECKS.index(check) % len(others)
    for seen in (seeing.failing(check.id, name), *full.pick(others[turn : turn + 1], others)):
        states.publish(states.sick(), observations=seen.observations)
        page = client.get(f"/c/demo/checks/{check.id}/")
        assert page.status_code == 200
        links.update(str(link.get("href")) for link in Markup(page).all("#checks .more a"))
    for link in sorted(links):
        assert client.get(link).status_code == 200, link
    states.publish(None)
    assert client.get(f"/c/demo/checks/{check.id}/").status_code == 200


def test_a_check_that_says_nothing_says_why(client: Client) -> None:
    states.publish(states.sick(), observations=seeing.silent("D3").observations)
    page = Markup(client.get(ONE))
    assert f"{checks.TITLES['D3']}? No group is there." in page.text("#main")


def test_a_check_that_there_is_not_is_not_found(client: Client) -> None:
    states.publish(states.sick())
    answer = client.get("/c/demo/checks/D999/")
    assert answer.status_code == 404
    assert "There is no check" in Markup(answer).text("p.problem")


def test_ten_thousand_causes_are_paged(client: Client) -> None:
    causes = {f"topic-{number:05}": Violation() for number in range(10_000)}
    states.publish(states.sick(), observations=together(seeing.of("D3", seeing.looked("D3", causes))))
    page = Markup(client.get(ONE, {"page": "200"}))
    assert page.texts("#causes-rows th")[-1] == "topic-09999"
    assert page.text("#showing") == "Showing 50 of 10 000 causes"
    assert len(client.get(ONE).content) < 60_000
    assert [row["name"] for row in _rows(client, ONE, q="04321")] == ["topic-04321"]


def test_an_open_page_hears_of_causes_though_the_sentence_stays() -> None:
    before = states.publish(states.sick(), observations=together(of("D3", orders=ORDERS)))
    shown, key = renderer.Renderer(), PageKey("demo", "check", ("D3",))
    shown.parts(key)
    assert not shown.is_affected(key, "demo", ChangedAreas())
    moved = msgspec.structs.replace(before, observations=together(of("D3", clicks=Violation(2))))
    live.publish("demo", moved)
    assert shown.is_affected(key, "demo", ChangedAreas())


def test_what_was_acknowledged_neither_leads_nor_counts(client: Client) -> None:
    seen = together(of("D3", orders=ORDERS), seeing.failing("D17", "orders"))
    states.publish(states.sick(), observations=seen, alarms=alarms("D3", KNOWN))
    page = Markup(client.get("/c/demo/"))
    assert page.texts("#checks .what") == [seen.findings[1].sentence, seen.findings[0].sentence]
    assert page.text("#acknowledged summary") == "1 acknowledged"
    assert page.texts("#acknowledged .what") == [seen.findings[0].sentence]
    assert page.text("title").startswith("✕ 1 · ")
    verdict = Markup(client.get("/", follow=True)).text("title")
    assert verdict.startswith("✕ 1")


def test_the_clusters_page_names_the_worst_with_their_first_moments(client: Client) -> None:
    seen = together(*[seeing.failing(check.id, "x") for check in CHECKS[:5]])
    states.publish(states.sick(), observations=seen, alarms=alarms(seen.findings[0].check, KNOWN))
    states.publish(states.healthy(), name="well")
    page = Markup(client.get("/"))
    verdict, _ = page.texts("#clusters-rows td.verdict")
    assert seen.findings[0].sentence not in verdict
    assert seen.findings[1].sentence in verdict
    assert "1 more check fails; 1 acknowledged" in verdict
    assert len(page.all("#clusters-rows td.verdict time")) == 3


@pytest.mark.parametrize(
    ("check", "cause", "path"),
    [("D3", "orders", "topics/orders/"), ("D47", "billing", "groups/billing/")],
)
def test_the_page_of_a_thing_tells_what_is_held_against_it(
    client: Client, check: str, cause: str, path: str
) -> None:
    tree = {**states.sick(), **states.group("billing", {"billing_h-1-00000000": ["orders"]})}
    states.publish(tree, observations=together(of(check, **{cause: ORDERS, "other": Violation(9)})))
    page = Markup(client.get(f"/c/demo/{path}"))
    assert page.texts("#held-against .what") == [checks.BY_ID[check].failing(2, 1)]
    assert page.all("#held-against .what a")[0].get("href") == f"/c/demo/checks/{check}/"
    assert "no replica lives" in page.text("#held-against")
    states.publish(tree, observations=together(of(check, other=Violation(9))))
    assert Markup(client.get(f"/c/demo/{path}")).texts("#held-against li") == []


def test_the_page_of_a_topic_tells_its_part_of_what_all_topics_add_up_to(client: Client) -> None:
    """A page with an offline partition has the critical finding above it, and not only a warning."""
    seen = together(
        of("D1", **{"": Violation(7)}), of("D8", **{"": Violation(9)}), of("D58", clicks=Violation())
    )
    states.publish(states.sick(), observations=seen)
    page = Markup(client.get("/c/demo/topics/clicks/"))
    assert page.texts("#held-against .what")[0] == "1 partition has no leader"
    assert [one.get("data-check") for one in page.all("#held-against li")] == ["D1", "D58"]
    assert page.texts("#facts span.severity")[0].startswith("✕ 1 offline")
    assert page.all("#held-against time")[0].get("datetime") >= known(times.utc_text(states.TIME))
    whole = Markup(client.get("/c/demo/topics/payments/"))
    assert whole.texts("#held-against .what") == ["1 partition is under-replicated"]
    unseen = together(of("D58", clicks=Violation()))
    states.publish(states.sick(), observations=unseen)
    assert len(Markup(client.get("/c/demo/topics/clicks/")).all("#held-against li")) == 1


def test_the_action_that_helps_is_filled_in_with_what_causes_it(client: Client) -> None:
    operator(client)
    states.publish(states.sick(), observations=together(of("D44", billing=Violation(), clicks=Violation())))
    page = Markup(client.get("/c/demo/checks/D44/"))
    (deed,) = page.all("#checks .more a")
    assert deed.get("href") == "/c/demo/actions/new/delete-group/?group=billing&group=clicks"


def test_no_action_is_offered_that_could_not_be_taken(client: Client) -> None:
    """Here there is no controller to have elected anew."""
    operator(client)
    alone = {path: node for path, node in states.sick().items() if path != "/controller"}
    states.publish(alone, observations=together(of("D3", orders=ORDERS)))
    assert Markup(client.get(ONE)).all("#checks .more a") == []


class Scene:
    """An operator before a finding of orders and clicks, which the database knows."""

    def __init__(self, client: Client, settings: Settings) -> None:
        settings.ZKDASH_CLUSTERS = (ClusterConfig("demo", (("127.0.0.1", 1),), ask_brokers=False),)
        self.client = operator(client)
        self.seen = together(of("D3", orders=ORDERS, clicks=Violation()))
        self.keep()

    def keep(self) -> None:
        found = Keeper(ChecksByCluster()).turn({"demo": Seen(self.seen, current=True)}, timezone.now())
        states.publish(states.sick(), observations=self.seen, alarms=found["demo"])

    def post(self, verb: str = "acknowledge", **data: Any) -> Any:
        return self.client.post(f"{ONE}{verb}/", {"occurrence": "1", "reason": "we know", "for": "", **data})


@pytest.fixture
def scene(db: None, client: Client, settings: Settings) -> Scene:
    return Scene(client, settings)


def test_an_operator_acknowledges_and_takes_it_back(scene: Scene) -> None:
    page = Markup(scene.client.get(ONE))
    assert page.all("#occurrence input")[0].get("value") == "1"
    assert page.all("#pick")[0].get("action") == f"{ONE}acknowledge/"
    boxes = page.all("#causes-rows input")
    assert [(box.get("name"), box.get("value")) for box in boxes] == [
        ("cause", "orders"),
        ("cause", "clicks"),
    ]
    assert {box.get("form") for box in boxes} == {"pick"}
    answer = scene.post()
    assert (answer.status_code, answer["Location"]) == (303, ONE)
    scene.keep()
    assert Markup(scene.client.get("/c/demo/")).text("#acknowledged summary") == "1 acknowledged"
    (button,) = Markup(scene.client.get(ONE)).all("#acknowledgements button")
    assert button.get("formaction") == f"{ONE}withdraw/"
    assert scene.post("withdraw", acknowledgement=button.get("value")).status_code == 303
    scene.keep()
    assert Markup(scene.client.get("/c/demo/")).all("#acknowledged") == []
    events = list(Audit.objects.filter(cluster="demo").order_by("id").values_list("event", "who"))
    assert events == [("acknowledged", "olga"), ("acknowledgement-withdrawn", "olga")]


def test_chosen_causes_are_covered_for_as_long_as_was_chosen(scene: Scene) -> None:
    assert scene.post(cause=["orders"], **{"for": "3600"}).status_code == 303
    row = Row.objects.get()
    assert not row.whole
    assert row.until is not None
    assert (row.until - row.at).total_seconds() == 3600
    scene.keep()
    page = Markup(scene.client.get(ONE))
    assert "1 cause" in page.text("#acknowledgements")
    assert page.text("title").startswith("✕ 1")  # clicks is not covered


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"reason": " "}, "say in a sentence"),
        ({"occurrence": "2"}, "has cleared"),
        ({"occurrence": ""}, "not known yet"),
        ({"occurrence": "9" * 20}, "not known yet"),
        ({"for": "soon"}, "choose until when"),
        ({"cause": ["payments"]}, "payments is no cause"),
    ],
)
def test_what_cannot_be_acknowledged_says_so_on_the_page(
    scene: Scene, data: dict[str, Any], told: str
) -> None:
    answer = scene.post(**data)
    assert answer.status_code == 409
    assert told in Markup(answer).text("p.note")
    assert Row.objects.count() == 0


@pytest.mark.parametrize("number", ["", "x", "12", "9" * 30])
def test_what_is_none_cannot_be_taken_back(scene: Scene, number: str) -> None:
    answer = scene.post("withdraw", acknowledgement=number)
    assert answer.status_code == 409
    assert "Nothing was taken back" in Markup(answer).text("p.note")


def test_a_check_that_passes_meanwhile_cannot_be_acknowledged(scene: Scene) -> None:
    scene.seen = together(seeing.passing("D3"))
    scene.keep()
    assert "does not fail now" in Markup(scene.post()).text("p.note")


def test_forms_of_others_are_refused(scene: Scene) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = scene.client.cookies
    assert strict.post(f"{ONE}acknowledge/", {"occurrence": "1", "reason": "x", "for": ""}).status_code == 403
    assert Row.objects.count() == 0


def test_an_admin_has_a_test_alert_sent_and_an_operator_does_not_see_the_button(
    db: None, client: Client, settings: Settings
) -> None:
    settings.ZKDASH_CLUSTERS = (ClusterConfig("demo", (("127.0.0.1", 1),), ask_brokers=False),)
    states.publish(states.sick())
    operator(client, "admin")
    assert [one.text for one in Markup(client.get(ALL)).all("form.verbs button")] == ["Send a test alert"]
    told = Markup(client.post("/c/demo/alerts/test/")).text("p.note")
    assert told.startswith("Nobody is told of this cluster")
    with Receiver(200) as receiver:
        cluster = ClusterConfig("demo", (("127.0.0.1", 1),), ask_brokers=False, webhooks=(receiver.url,))
        settings.ZKDASH_CLUSTERS, settings.ZKDASH_WEBHOOK_SECRET = (cluster,), "s" * 20
        told = Markup(client.post("/c/demo/alerts/test/")).text("p.note")
    assert told.startswith(f"The test alert was taken by http://127.0.0.1:{receiver.port}")
    Grant.objects.update(role="operator")
    assert Markup(client.get(ALL)).all("form.verbs") == []


def _rows(client: Client, address: str, **query: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(client.get(address, {"format": "json", **query}).content)["rows"]
    return rows
