"""The Actions page, an action's page and the audit, on rows that the queue's own functions wrote."""

from __future__ import annotations

import csv
import functools
import io
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from tests.actions import small
from tests.web import states
from tests.web.markup import Markup
from zkdash.access.models import Grant
from zkdash.access.roles import Role
from zkdash.actions.actor import Actor
from zkdash.actions.execution import leasing
from zkdash.actions.models import Action, Audit
from zkdash.actions.queue import queue as actions
from zkdash.actions.reading import reader
from zkdash.actions.reading.entries import UnavailableError
from zkdash.actions.states import State
from zkdash.cluster.plans import planner
from zkdash.cluster.plans.goals import Assigned
from zkdash.cluster.plans.intents import Reassign
from zkdash.cluster.plans.values import Ground, Plan, Step, create
from zkdash.kafka.values import Move
from zkdash.live import engine
from zkdash.live.parts import PageKey
from zkdash.live.queue import ActionQueue
from zkdash.live.snapshot import Snapshot
from zkdash.web.serving import renderer
from zkdash.zk.config import ClusterConfig
from zkdash.zk.reader import one_shot
from zkdash.zk.writing.writer import APPLIED, FENCE

URL = "/c/demo/actions/"
AUDIT = "/c/demo/audit/"
HOSTILE = "\0<script>alert(1)</script>\ud800\u202e\"'{{ 7 }}"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def queue(settings: Settings) -> Iterator[ActionQueue]:
    """That of an engine that nobody has started: a test has it read by `turn`."""
    settings.ZKDASH_CLUSTERS = (ClusterConfig("demo", (("127.0.0.1", 1),)),)
    running = engine.Engine(settings.ZKDASH_CLUSTERS, renderer.Renderer(), actions=reader)
    engine.configure(running)
    yield running.polled.queue
    engine.configure(None)


def proposed(
    target: str = "orders", who: Actor = small.ANN, confirm: str | None = None, **more: Any
) -> Action:
    plan = Plan("delete-topic", target, small.plan().steps, confirm=confirm)
    return actions.propose("demo", small.INTENT, plan, who, **more)


def queued(target: str = "orders", who: Actor = small.ANN, **more: Any) -> Action:
    return actions.submit(proposed(target, who, **more).id, who)


def reassigning() -> Action:
    """Both partitions of payments move to brokers 1 and 3; the write is out."""
    moves = (Move("payments", 0, (1, 3)), Move("payments", 1, (3, 1)))
    step = Step("Reassign 2 partitions", (create("/admin/reassign_partitions", b"{}"),), Assigned(moves))
    back = Reassign((Move("payments", 0, (1, 2)), Move("payments", 1, (2, 3))))
    plan = Plan("reassign", "payments", (step,), inverse=back)
    action = actions.propose("demo", Reassign(moves), plan, small.ANN, reason="Broker 2 is to go")
    actions.submit(action.id, small.ANN)
    held = leasing.claim(["demo"], "w1", 60.0, small.NOW)
    assert held is not None
    assert leasing.intend(held, 0, small.NOW)
    assert leasing.applied(held, 0, 4711, step.writes, small.NOW)
    assert leasing.verifying(held)
    return small.now(held)


def look(tree: states.Tree | None = None) -> Snapshot:
    """Let the queue's thread look once, and publish what it found."""
    queue = engine.polled().queue
    queue.turn()
    return states.publish(states.healthy() if tree is None else tree, queue=queue.current("demo"))


def person(client: Client, role: Role | None = Role.OPERATOR, name: str = "olga") -> Client:
    user = User.objects.create_user(name)
    if role is not None:
        Grant.objects.create(user=user, role=role.value, clusters="*")
    client.force_login(user)
    return client


def test_actions_stand_newest_first_with_what_became_of_them(client: Client) -> None:
    first, second = queued("orders", reason="Nobody reads it"), proposed("payments")
    actions.stop(first.id, small.BEN)
    look()
    page = Markup(client.get(URL))
    assert page.texts("#actions-rows th") == [f"#{second.id}", f"#{first.id}"]
    assert page.texts("#actions-rows span.severity") == ["? planned", "? stopped"]
    assert "Withdrawn by ben; nothing was written." in page.text("#actions-rows")
    assert page.text("#showing") == "Showing 2 of 2 actions"


def test_filters_find_by_kind_person_state_and_words(client: Client) -> None:
    queued("orders")
    proposed("payments", small.BEN)
    look()
    for query, targets in (
        ("by:ben", ["payments"]),
        ("state:queued", ["orders"]),
        ("kind:delete-topic by:ann", ["orders"]),
        ("PAY", ["payments"]),
        ("kind:reassign", []),
    ):
        rows = json.loads(client.get(URL, {"q": query, "format": "json"}).content)["rows"]
        assert [row["target"] for row in rows] == targets, query
    assert (
        Markup(client.get(URL, {"status": "info"})).text("#showing").startswith("Showing 1 of 1 that match")
    )


def test_two_hundred_actions_are_paged_sorted_and_exported(client: Client) -> None:
    made = [proposed(f"topic-{number:03}").id for number in range(200)]
    look()
    page = Markup(client.get(URL, {"page": "4"}))
    assert page.text("#pager").startswith("Previous page 4 of 4")
    assert page.texts("#actions-rows th") == [f"#{number}" for number in sorted(made[:50], reverse=True)]
    oldest = Markup(client.get(URL, {"sort": "requested"}))
    assert oldest.texts("#actions-rows th")[0] == f"#{min(made)}"
    rows = list(
        csv.DictReader(io.StringIO(client.get(URL, {"format": "csv", "size": "200"}).content.decode()))
    )
    assert [int(row["id"]) for row in rows] == sorted(made, reverse=True)
    assert {row["state"] for row in rows} == {"planned"}


def test_who_reads_what_is_in_flight_reads_all_of_it_however_many_have_ended(client: Client) -> None:
    waiting = queued("waits")
    for number in range(205):
        actions.stop(proposed(f"topic-{number}").id, small.ANN)
    look()
    rows = json.loads(client.get(URL, {"size": "1000", "format": "json"}).content)["rows"]
    assert len(rows) == 201
    assert rows[-1]["id"] == waiting.id
    page = Markup(client.get(URL))
    assert page.text("#more") == "Older ones are in the audit."
    assert "Actions 1" in page.text("#nav")


def test_what_waits_says_for_what(client: Client) -> None:
    later = queued("later", not_before=small.NOW + timedelta(days=3000))
    actions.pause(queued("held").id, small.ANN)
    queued("second", needs_approval=True)
    look()
    said = Markup(client.get(URL)).texts("#actions-rows tr")
    assert "pending approval" in said[0]
    assert "Waits for the approval of somebody else than ann." in said[0]
    assert "queued, paused" in said[1]
    assert "Begins at 2035-02-07 12:00:00 UTC at the earliest." in said[2]
    assert later.not_before is not None


def test_hostile_targets_and_people_are_only_text(client: Client) -> None:
    action = queued(HOSTILE, Actor("<b>eve</b>\0"), reason=HOSTILE)
    look()
    for path in (URL, f"{URL}{action.id}/", AUDIT, "/c/demo/"):
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert b"<script>alert" not in answer.content
        assert b"<b>eve" not in answer.content
        assert client.get(path, {"format": "json"}).json()["cluster"] == "demo"
    (row,) = client.get(URL, {"format": "json"}).json()["rows"]
    assert row["target"] == HOSTILE


def test_overview_and_clusters_tell_what_is_in_flight(client: Client) -> None:
    action = reassigning()
    look()
    assert Markup(client.get("/c/demo/")).texts("#actions-rows th") == [f"#{action.id}"]
    assert "1" in Markup(client.get("/", {"format": "html"}, follow=True)).text("#nav")
    (row,) = client.get("/", {"format": "json"}).json()["rows"]
    assert row["actions"] == 1


def test_a_database_that_is_away_is_said_and_breaks_nothing_else(
    client: Client, queue: ActionQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    action = queued()
    look()
    monkeypatch.setattr(queue, "_reader", _Away())
    queue.turn()
    states.publish(states.healthy(), queue=queue.current("demo"))
    page = Markup(client.get(URL))
    assert "database fails" in page.text("#trouble")
    assert page.texts("#actions-rows th") == [f"#{action.id}"]
    assert client.get("/c/demo/topics/").status_code == 200


class _Away:
    def begin(self, _clusters: Any) -> Any:
        raise UnavailableError("Actions cannot be read: zkdash’s database fails (Gone).")

    changed = begin

    def detail(self, *_: Any) -> Any:
        raise AssertionError


# One action


def test_a_reassignment_at_work_shows_its_way_its_partitions_and_what_hinders_them(client: Client) -> None:
    action = reassigning()
    tree = states.healthy()
    tree["/admin/reassign_partitions"] = states.znode(
        {
            "version": 1,
            "partitions": [
                {"topic": "payments", "partition": 0, "replicas": [1, 3]},
                {"topic": "payments", "partition": 1, "replicas": [3, 1]},
            ],
        }
    )
    look(tree)
    page = Markup(client.get(f"{URL}{action.id}/"))
    assert page.texts("#facts li") == [
        "✓ behind: proposed",
        "✓ behind: queued",
        "✓ behind: running",
        "✓ behind: written at zxid 0x1267",
        "verifying: waits until 2 partitions have exactly these replicas",
        "ahead: done",
    ]
    assert page.texts("#moves-rows span.severity") == ["● moving", "● moving"]
    assert page.text("#moves-told") == "2 partitions: 2 moving."
    del tree["/brokers/ids/3"]
    look(tree)
    stuck = Markup(client.get(f"{URL}{action.id}/"))
    assert "broker 3 is not registered, so it copies nothing" in stuck.text("#moves-rows")
    assert client.get(f"{URL}{action.id}/", {"format": "json"}).json()["moves"][0]["status"] == "warning"


def test_an_action_stands_at_one_stage_wherever_it_is(client: Client) -> None:
    action = actions.propose("demo", small.INTENT, small.plan(steps=2), small.ANN, needs_approval=True)

    def stands() -> str:
        look()
        page = Markup(client.get(f"{URL}{action.id}/"))
        (here,) = page.texts("li[@aria-current='step']")
        return here

    assert stands() == "proposed"
    actions.submit(action.id, small.ANN)
    assert stands() == "approved"
    actions.approve(action.id, small.BEN)
    assert stands() == "queued"
    held = leasing.claim(["demo"], "w1", 60.0, small.NOW)
    assert held is not None
    assert stands() == "running"
    for number in range(2):
        assert leasing.intend(held, number, small.NOW)
        assert stands().startswith("verifying: ")
        assert leasing.applied(held, number, 4711 + number, (), small.NOW)
        assert stands().startswith("verifying: ")
        assert leasing.verified(held, number, small.NOW)
        assert stands() == "running"
    assert leasing.verifying(held)
    assert stands().startswith("verifying: ")
    assert leasing.end(held, State.DONE, "", small.NOW)
    assert stands() == "done"


def test_what_is_done_and_left_is_told_with_an_end_at_that_rate(client: Client, queue: ActionQueue) -> None:
    action = reassigning()
    tree = states.healthy() | states.topic("payments", {0: [1, 3], 1: [2, 3]})
    tree["/admin/reassign_partitions"] = states.znode(
        {"version": 1, "partitions": [{"topic": "payments", "partition": 1, "replicas": [3, 1]}]}
    )
    queue.turn()
    at = small.NOW.timestamp() + 90
    states.publish(tree, queue=queue.current("demo"), as_of=at)
    page = Markup(client.get(f"{URL}{action.id}/"))
    assert "done by about 2026-11-21 12:03 UTC (1 of 2 partitions so far)" in page.text("#facts")
    assert page.texts("#moves-rows span.severity") == ["● moving", "✓ done"]


def test_a_review_names_what_checks_would_find_until_it_is_decided(client: Client) -> None:
    intent = Reassign((Move("payments", 0, (1,)),))
    state = states.load(states.healthy())
    action = actions.propose("demo", intent, planner.plan(intent, Ground(state)), small.ANN)
    look()
    person(client)
    page = Markup(client.get(f"{URL}{action.id}/"))
    (found,) = page.all("section.review ul.checks li")
    assert " ".join(found.text_content().split()) == (
        "▲ warning 1 topic has partitions with a single replica, or with different numbers of replicas "
        "payments: 1 of 2 have one replica"
    )
    assert found.xpath(".//a/@href") == ["/c/demo/checks/D15/"]
    assert "a controller decides whether they ever arrive" in page.text("section.review")
    told = client.get(f"{URL}{action.id}/", {"format": "json"}).json()["foreseen"]
    assert [(one["check"], one["status"], one["causes"]) for one in told["begun"]] == [
        ("D15", "warning", [{"name": "payments", "why": "1 of 2 have one replica"}])
    ]
    assert (told["ended"], told["begun"][0]["more_causes"]) == ([], 0)
    actions.submit(action.id, small.ANN)
    look()
    assert client.get(f"{URL}{action.id}/", {"format": "json"}).json()["foreseen"] is None
    assert "Findings that it creates" not in Markup(client.get(f"{URL}{action.id}/")).text("main")


def test_a_plan_is_reviewed_and_submitted_by_who_may(client: Client) -> None:
    action = proposed(confirm="orders")
    look()
    page = Markup(person(client).get(f"{URL}{action.id}/"))
    assert page.all("form.ask")[0].get("action") == f"{URL}{action.id}/submit/"
    assert "/admin/step0" in page.text("main")
    refused = client.post(f"{URL}{action.id}/submit/", {"confirm": "order"})
    assert refused.status_code == 409
    assert "“order” was typed, and “orders” is asked for." in refused.content.decode()
    assert small.now(action).state == State.PLANNED
    done = client.post(f"{URL}{action.id}/submit/", {"confirm": "orders"})
    assert (done.status_code, done["Location"]) == (303, f"{URL}{action.id}/")
    assert small.now(action).state == State.QUEUED
    assert small.now(action).by == "olga"


def test_a_review_tells_what_zkdash_writes_of_its_own(client: Client, settings: Settings) -> None:
    action = proposed()
    look()
    person(client)
    told = Markup(client.get(f"{URL}{action.id}/")).text("main")
    assert f"also creates a marker, {APPLIED}/{action.id}-0-… for the first, which goes 7 days" in told
    assert f"and sets {FENCE}" in told
    settings.ZKDASH_CLUSTERS = (ClusterConfig("demo", (("127.0.0.1", 1),), markers=False),)
    told = Markup(client.get(f"{URL}{action.id}/")).text("main")
    assert "Nothing else is written, as markers = false for this cluster" in told
    assert APPLIED not in told
    actions.submit(action.id, small.ANN)
    look()
    told = Markup(client.get(f"{URL}{action.id}/")).text("main")
    assert "What is written, step by step" in told
    assert "markers" not in told  # of then nobody knows


def buttons(page: Markup) -> list[str]:
    return [button.get("formaction").split("/")[-2] for button in page.all("#verbs button")]


def test_buttons_are_those_that_can_work_now(client: Client) -> None:
    person(client)
    action = queued()
    for verb, left in (("pause", ["resume", "stop"]), ("resume", ["pause", "stop"]), ("stop", ["again"])):
        assert client.post(f"{URL}{action.id}/{verb}/").status_code == 303
        look()
        assert buttons(Markup(client.get(f"{URL}{action.id}/"))) == left
    late = client.post(f"{URL}{action.id}/pause/")
    assert late.status_code == 409
    assert "is stopped and cannot be paused" in Markup(late).text("main p.note")
    assert client.get(f"{URL}{action.id}/pause/")["Location"] == f"{URL}{action.id}/"


def test_buttons_hold_no_token_and_their_form_does(client: Client) -> None:
    person(client)
    action = queued()
    look()
    page = Markup(client.get(f"{URL}{action.id}/"))
    (form,) = [form for form in page.all("form") if form.get("id") == "act"]
    assert form.xpath(".//input[@name='csrfmiddlewaretoken']")
    assert not page.all("#verbs")[0].xpath(".//input")
    assert {button.get("form") for button in page.all("#verbs button")} == {"act"}


def test_a_second_person_approves_and_never_who_asked(client: Client) -> None:
    olga = person(client, Role.APPROVER)
    user = User.objects.get(username="olga")
    action = queued(who=Actor("olga", user.pk), needs_approval=True)
    look()
    mine = Markup(olga.get(f"{URL}{action.id}/"))
    assert mine.all("div.own #verbs")
    assert olga.post(f"{URL}{action.id}/approve/").status_code == 409
    other = person(Client(), Role.APPROVER, "pete")
    assert not Markup(other.get(f"{URL}{action.id}/")).all("div.own")
    assert other.post(f"{URL}{action.id}/approve/").status_code == 303
    assert small.now(action).approved_by == "pete"


def test_who_authored_a_plan_is_offered_no_approval_of_it_whoever_submitted_it(client: Client) -> None:
    olga = person(client, Role.APPROVER)
    user = User.objects.get(username="olga")
    other = person(Client(), Role.APPROVER, "pete")
    action = small.proposed(who=Actor("olga", user.pk), needs_approval=True, cluster="demo")
    peter = User.objects.get(username="pete")
    actions.submit(action.id, Actor("pete", peter.pk))
    look()
    for one in (olga, other):
        page = Markup(one.get(f"{URL}{action.id}/"))
        assert page.all("div.own #verbs")
        assert one.post(f"{URL}{action.id}/approve/").status_code == 409
    facts = page.text("#facts dl")
    assert "Planned by olga" in facts
    assert "by somebody else than pete and olga, not yet given" in facts
    third = person(Client(), Role.APPROVER, "rosa")
    assert third.post(f"{URL}{action.id}/approve/").status_code == 303


def test_an_approver_sees_the_plan_opened_while_it_waits_for_approval(client: Client) -> None:
    action = queued(needs_approval=True)
    look()
    approver = person(client, Role.APPROVER)
    page = Markup(approver.get(f"{URL}{action.id}/")).root
    order = page.xpath("//section[@aria-label='The plan to approve'] | //section[@id='verbs']")
    assert [section.get("aria-label") for section in order] == ["The plan to approve", "What can be done"]
    assert all(one.get("open") is not None for one in order[0].xpath(".//details"))
    actions.approve(action.id, small.BEN)
    look()
    (plan,) = Markup(approver.get(f"{URL}{action.id}/")).root.xpath("//details[@id='plan']")
    assert plan.get("open") is None


def test_an_action_leads_back_to_what_it_acts_on_while_that_is_there(client: Client) -> None:
    person(client)
    action = queued()
    look()

    def ways() -> list[str]:
        found = Markup(client.get(f"{URL}{action.id}/")).root.xpath("//section[@id='facts']//dl//a/@href")
        return [str(address) for address in found]

    assert ways() == ["/c/demo/topics/orders/"]
    Action.objects.filter(id=action.id).update(state=State.DONE)
    actions.pause(queued("payments").id, small.ANN)
    look()
    assert ways() == ["/c/demo/topics/"]
    moving = reassigning()
    look()
    page = Markup(client.get(f"{URL}{moving.id}/"))
    assert "/c/demo/topics/payments/" in page.root.xpath("//section[@id='facts']//a/@href")


def test_an_operator_is_offered_no_approval_and_has_none(client: Client) -> None:
    action = queued(needs_approval=True)
    look()
    assert buttons(Markup(person(client).get(f"{URL}{action.id}/"))) == ["stop"]
    assert client.post(f"{URL}{action.id}/approve/").status_code == 403


@pytest.mark.parametrize("verb", ["submit", "approve", "stop", "pause", "resume", "settle", "undo", "again"])
def test_a_viewer_sees_no_buttons_and_may_do_nothing(client: Client, verb: str) -> None:
    action = proposed()
    before = Action.objects.values().get(id=action.id), Audit.objects.filter(action=action.id).count()
    look()
    page = Markup(person(client, Role.VIEWER).get(f"{URL}{action.id}/"))
    assert not page.all("form.ask")
    assert not page.all("#verbs")
    assert client.post(f"{URL}{action.id}/{verb}/").status_code == 403
    after = Action.objects.values().get(id=action.id), Audit.objects.filter(action=action.id).count()
    assert after == before


def test_a_token_is_asked_for(settings: Settings) -> None:
    action = queued()
    look()
    strict = person(Client(enforce_csrf_checks=True))
    assert strict.post(f"{URL}{action.id}/stop/").status_code == 403
    assert small.now(action).state == State.QUEUED


def test_a_person_settles_what_nobody_can_tell(client: Client) -> None:
    action = reassigning()
    Action.objects.filter(id=action.id).update(state=State.UNKNOWN)
    look()
    person(client)
    page = Markup(client.get(f"{URL}{action.id}/"))
    assert "unknown: a person must say" in page.text("#facts")
    assert [button.text_content() for button in page.all("#verbs button")] == [
        "",
        "It was applied",
        "It was not applied",
    ]
    silent = client.post(f"{URL}{action.id}/settle/", {"applied": "yes"})
    assert silent.status_code == 409
    sent = {"applied": "no", "sentence": "The znode is not there"}
    assert client.post(f"{URL}{action.id}/settle/", sent).status_code == 303
    assert small.now(action).state == State.FAILED


def test_what_cannot_be_planned_now_is_said_on_the_page(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No ZooKeeper is at the configured address, so that the undo's plan has nothing to stand on."""
    soon = functools.partialmethod(one_shot.OneShotReader.read, limit_s=0.1)
    monkeypatch.setattr(one_shot.OneShotReader, "read", soon)
    action = reassigning()
    actions.stop(action.id, small.ANN)
    Action.objects.filter(id=action.id).update(state=State.STOPPED, ended_at=small.NOW)
    look()
    person(client)
    assert buttons(Markup(client.get(f"{URL}{action.id}/"))) == ["undo", "again"]
    answer = client.post(f"{URL}{action.id}/undo/")
    assert answer.status_code == 409
    assert "127.0.0.1:1" in Markup(answer).text("main p.note")
    assert Action.objects.count() == 1


@pytest.mark.parametrize("number", ["77", "9223372036854775808", "0"])
def test_an_action_that_is_none_is_said_to_be_none(client: Client, number: str) -> None:
    look()
    answer = client.get(f"{URL}{number}/")
    assert answer.status_code == 404
    assert f"There is no action {number}" in answer.content.decode()
    assert person(client).post(f"{URL}{number}/stop/").status_code == 404


def test_an_action_of_another_cluster_is_not_shown_here(client: Client) -> None:
    action = actions.propose("other", small.INTENT, small.plan(), small.ANN)
    look()
    assert client.get(f"{URL}{action.id}/").status_code == 404


def test_the_page_holds_what_a_socket_would_send(client: Client) -> None:
    action = reassigning()
    snapshot = look()
    page = Markup(person(client).get(f"{URL}{action.id}/"))
    key = PageKey("demo", "action", (str(action.id),), "", "operator")
    for part in renderer.look(snapshot, key).parts:
        assert page.all(f"#{part.id}"), part.id


def test_a_change_makes_another_etag_before_the_queue_was_read_again(client: Client) -> None:
    action = queued()
    look()
    person(client)
    client.get(f"{URL}{action.id}/")  # which gives the cookie that the buttons' token must fit
    before = client.get(f"{URL}{action.id}/")["ETag"]
    again = client.get(f"{URL}{action.id}/", headers={"if-none-match": before})
    assert again.status_code == 304
    actions.pause(action.id, small.ANN)
    after = client.get(f"{URL}{action.id}/", headers={"if-none-match": before})
    assert after.status_code == 200
    assert "queued, paused" in Markup(after).text("#facts")


# The audit


def test_the_audit_is_newest_first_filtered_and_paged_by_its_ids(client: Client) -> None:
    made = [queued(f"topic-{number}") for number in range(60)]
    look()
    page = Markup(client.get(AUDIT))
    shown = [int(number) for number in page.texts("#lines th")]
    assert shown == sorted(shown, reverse=True)
    assert len(shown) == 100
    (older,) = [link for link in page.all("a") if link.get("rel") == "next"]
    second = Markup(client.get(AUDIT + older.get("href")))
    assert [int(number) for number in second.texts("#lines th")] == list(
        range(shown[-1] - 1, shown[-1] - 21, -1)
    )
    rows = client.get(f"{AUDIT}?action={made[0].id}&format=json").json()["rows"]
    assert [row["event"] for row in rows] == ["submitted", "proposed"]
    rows = client.get(AUDIT, {"event": "submitted", "who": "ann", "format": "json"}).json()["rows"]
    assert len(rows) == 60
    assert Markup(client.get(AUDIT, {"who": "nobody"})).text("#lines").startswith("No line")


@pytest.mark.parametrize(
    "query",
    ["action=x", "below=-1", "who=%00", "strange=1", "action=99999999999999999999", "&".join("a" * 30)],
)
def test_what_an_audit_query_does_not_mean_is_said(client: Client, query: str) -> None:
    queued()
    look()
    answer = client.get(f"{AUDIT}?{query}")
    assert answer.status_code == 200
    assert Markup(answer).texts("main p.note")


def test_another_clusters_lines_are_not_shown(client: Client) -> None:
    actions.propose("other", small.INTENT, small.plan(), small.ANN)
    look()
    assert client.get(AUDIT, {"format": "json"}).json()["rows"] == []


def test_the_chain_is_verified_by_who_may_act(client: Client) -> None:
    queued()
    look()
    person(client)
    answer = client.post(f"{AUDIT}verify/")
    last = Audit.objects.order_by("-id")[0]
    assert answer.status_code == 200
    assert "rows is whole. Checked in" in Markup(answer).text("main p.info")
    assert bytes(last.hash).hex() in answer.content.decode()
    assert client.get(f"{AUDIT}verify/").status_code == 405


def test_a_viewer_may_not_verify(client: Client) -> None:
    look()
    page = Markup(person(client, Role.VIEWER).get(AUDIT))
    assert not [form for form in page.all("form") if form.get("action") == f"{AUDIT}verify/"]
    assert client.post(f"{AUDIT}verify/").status_code == 403
