"""The views of forms, planned on a real ZooKeeper and stored as proposals."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator

import msgspec
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from tests import full
from tests.conftest import Chroot
from tests.web import states
from tests.web.markup import Markup
from tests.world import World
from zkdash import live
from zkdash.access.roles import Role
from zkdash.actions import documents
from zkdash.actions.models import Action
from zkdash.actions.states import State
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import registry
from zkdash.cluster.plans.intents import Reassign
from zkdash.cluster.reducer import advance
from zkdash.kafka import paths
from zkdash.live.snapshot import Snapshot
from zkdash.web.actions import forms
from zkdash.zk.config import ClusterConfig, parse_address
from zkdash.zk.connection.session import Phase
from zkdash.zk.reader import one_shot

NEW = "/c/demo/actions/new/"


@pytest.fixture
def world(chroot: Chroot, settings: Settings) -> Iterator[ClusterConfig]:
    """Three brokers and two topics in a real ZooKeeper, published as the cluster "demo"."""
    made = World(chroot.client, chroot.address)
    chroot.client.ensure_path("/config/changes")
    for number in (1, 2, 3):
        made.broker(number, controller=number == 1)
    made.topic("orders", {0: [1, 2], 1: [2, 3], 2: [3, 1]})
    made.topic("payments", {0: [1, 2]})
    config = ClusterConfig("demo", *parse_address(chroot.address), ask_brokers=False)
    settings.ZKDASH_CLUSTERS = (config,)
    publish(config)
    yield config
    made.close()


def publish(config: ClusterConfig) -> None:
    """What a watcher would publish of the cluster now."""
    state, _ = advance.advance(ClusterState(), one_shot.load(config, paths.ROOTS))
    made = msgspec.structs.replace(states.snapshot(), state=state, as_of=1.0, stale=False)
    live.publish("demo", made)


def test_a_form_suggests_names_and_tells_options_with_their_defaults(
    operator: Client, settings: Settings
) -> None:
    settings.ZKDASH_CLUSTERS = (ClusterConfig("demo", (("127.0.0.1", 1),)),)
    states.publish(states.healthy())
    page = Markup(operator.get(f"{NEW}reassign/"))
    assert [box.get("list") for box in page.all("#id_brokers")] == ["known-brokers"]
    assert [option.get("value") for option in page.all("#known-brokers option")] == ["1", "2", "3"]
    assert [box.get("data-list") for box in page.all("#id_topics")] == ["known-topics"]
    rows = Markup(operator.get(f"{NEW}create-topic/")).texts("table tbody tr")
    assert any("retention.ms" in row and "604800000 (7 d)" in row for row in rows)


@pytest.mark.parametrize(
    ("phase", "sentence", "why"),
    [
        (Phase.LOADING, "", "The cluster is still being read from ZooKeeper. Try again in a moment."),
        (Phase.LOST, "The session with ZooKeeper expired.", "The session with ZooKeeper expired."),
    ],
)
def test_nothing_is_proposed_while_zookeeper_is_not_followed(
    operator: Client, settings: Settings, phase: Phase, sentence: str, why: str
) -> None:
    settings.ZKDASH_CLUSTERS = (ClusterConfig("demo", (("127.0.0.1", 1),)),)
    states.publish(states.healthy(), phase=phase, sentence=sentence)
    shown = operator.get(f"{NEW}create-topic/")
    assert (shown.status_code, Markup(shown).text("main p.note")) == (200, f"Not now: {why}")
    sent = operator.post(f"{NEW}create-topic/", {"do": "propose", "topic": "new"})
    assert (sent.status_code, sent["Retry-After"]) == (503, "5")
    page = Markup(sent)
    assert f"Nothing was planned: {why}" in page.texts("main p.fault")
    assert [box.get("value") for box in page.all("#id_topic")] == ["new"]
    assert not Action.objects.exists()


# Proposals


@pytest.mark.zk
def test_a_proposal_is_stored_as_planned_and_leads_to_its_review(
    operator: Client, world: ClusterConfig
) -> None:
    data = {
        "do": "propose",
        "way": "drain",
        "brokers": "3",
        "throttle": "1 MB/s",
        "reason": "It is old.",
        "not_before": "2030-01-01T10:00",
    }
    answer = operator.post(f"{NEW}reassign/", data)
    action = Action.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/c/demo/actions/{action.id}/")
    assert (action.state, action.cluster, action.kind) == (State.PLANNED, "demo", "reassign")
    assert (action.by, action.source, action.reason) == ("a-operator", "web", "It is old.")
    assert str(action.not_before) == "2030-01-01 10:00:00+00:00"
    assert not action.needs_approval
    intent = documents.intent(bytes(action.intent))
    assert isinstance(intent, Reassign)
    assert intent.throttle == 1_000_000
    assert all(3 not in move.replicas for move in intent.moves)
    plan = operator.get(f"/c/demo/actions/{action.id}/plan.json")
    assert json.loads(plan.content)["target"] == "orders"
    assert "attachment" in plan["Content-Disposition"]


@pytest.mark.zk
def test_nothing_is_written_by_a_proposal(operator: Client, world: ClusterConfig, chroot: Chroot) -> None:
    operator.post(f"{NEW}create-topic/", {"do": "propose", "topic": "new"})
    assert Action.objects.count() == 1
    assert chroot.client.exists("/brokers/topics/new") is None


@pytest.mark.zk
def test_a_second_person_is_asked_for_where_the_cluster_wants_one(
    operator: Client, world: ClusterConfig, settings: Settings
) -> None:
    settings.ZKDASH_CLUSTERS = (ClusterConfig("demo", world.servers, world.chroot, approval=True),)
    assert "a second person must approve" in operator.get(f"{NEW}create-topic/").content.decode()
    operator.post(f"{NEW}create-topic/", {"do": "propose", "topic": "new"})
    assert Action.objects.get().needs_approval


@pytest.mark.zk
def test_what_the_plan_refuses_is_said_on_the_form_and_nothing_is_stored(
    operator: Client, world: ClusterConfig
) -> None:
    answer = operator.post(f"{NEW}reassign/", {"do": "propose", "way": "lists", "moves": "orders-0: 1, 9"})
    assert answer.status_code == 422
    page = Markup(answer)
    assert page.texts("li.fault") == [
        "orders-0: broker 9 is not registered; the move would wait for it for ever."
    ]
    assert page.text("textarea#id_moves") == "orders-0: 1, 9"
    assert not Action.objects.exists()


@pytest.fixture
def unbalanced(world: ClusterConfig, chroot: Chroot) -> ClusterConfig:
    """payments-0 is led by its second replica."""
    state = {"version": 1, "leader": 2, "isr": [1, 2], "leader_epoch": 1, "controller_epoch": 1}
    chroot.client.set("/brokers/topics/payments/partitions/0/state", json.dumps(state).encode())
    publish(world)
    return world


@pytest.mark.zk
def test_an_election_may_be_repeated(operator: Client, unbalanced: ClusterConfig) -> None:
    data = {"do": "propose", "which": "all", "repeat": "86400"}
    assert operator.post(f"{NEW}elect-preferred/", data).status_code == 303
    assert Action.objects.get().repeat_s == 86_400


@pytest.mark.zk
def test_what_the_queue_does_not_take_is_said_on_the_form(
    operator: Client, unbalanced: ClusterConfig, settings: Settings
) -> None:
    approved = msgspec.structs.replace(unbalanced, approval=True)
    settings.ZKDASH_CLUSTERS = (approved,)
    data = {"do": "propose", "which": "all", "repeat": "86400"}
    answer = operator.post(f"{NEW}elect-preferred/", data)
    assert answer.status_code == 422
    assert "must be approved by a second person" in Markup(answer).text("p.fault")
    assert not Action.objects.exists()


@pytest.mark.zk
def test_several_topics_become_several_proposals_or_none(operator: Client, world: ClusterConfig) -> None:
    data = {"do": "propose", "topics": "orders\npayments", "reason": "Both are old."}
    preview = Markup(operator.post(f"{NEW}delete-topic/", {**data, "do": "preview"}))
    assert preview.texts("h3") == ["orders", "payments"]
    told = preview.text("main section")
    assert told.count("also creates a marker below /zkdash/applied, which goes 7 days") == 1
    assert len(preview.ids()) == len(set(preview.ids()))
    answer = operator.post(f"{NEW}delete-topic/", data)
    assert (answer.status_code, answer["Location"]) == (303, "/c/demo/actions/?q=state%3Aplanned")
    assert [documents.unpack(bytes(one.target)) for one in Action.objects.order_by("id")] == [
        "orders",
        "payments",
    ]


@pytest.mark.zk
def test_where_one_of_several_is_refused_none_is_stored(
    operator: Client, world: ClusterConfig, chroot: Chroot
) -> None:
    chroot.client.create("/admin/delete_topics/orders")
    publish(world)
    answer = operator.post(f"{NEW}delete-topic/", {"do": "propose", "topics": "*"})
    assert answer.status_code == 422
    assert Markup(answer).texts("li.fault") == ['orders: "orders" is marked for deletion already.']
    assert not Action.objects.exists()


@pytest.mark.zk
def test_a_preview_counts_and_stores_nothing(operator: Client, world: ClusterConfig) -> None:
    answer = operator.post(f"{NEW}reassign/", {"do": "preview", "way": "drain", "brokers": "3"})
    assert answer.status_code == 200
    page = Markup(answer)
    assert page.texts("h2")[:2] == ["Both placements", "Preview: nothing is stored yet"]
    assert "create /admin/reassign_partitions must be absent" in " ".join(page.texts("div.write"))
    assert page.all("main form")[0].get("action") == f"{NEW}reassign/"
    assert len(page.all("main form")) == 1
    assert not Action.objects.exists()


@pytest.mark.zk
def test_a_pasted_plan_of_a_file_goes_through(operator: Client, world: ClusterConfig) -> None:
    plan = b'{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[3,2]}]}'
    data = {"do": "propose", "way": "paste", "upload": SimpleUploadedFile("plan.json", plan)}
    assert operator.post(f"{NEW}reassign/", data).status_code == 303


def test_what_zookeeper_does_not_answer_is_said(
    operator: Client, demo: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = functools.partialmethod(one_shot.OneShotReader.read, limit_s=0.2)
    monkeypatch.setattr(one_shot.OneShotReader, "read", patient)
    answer = operator.post(f"{NEW}create-topic/", {"do": "propose", "topic": "new"})
    assert answer.status_code == 422
    assert Markup(answer).texts("p.fault")[0].startswith("Nothing was planned: ")
    assert not Action.objects.exists()


@pytest.mark.zk
def test_a_review_leads_to_the_plan_which_viewers_may_keep_too(
    operator: Client, signed_in: Callable[[Role], Client], world: ClusterConfig, settings: Settings
) -> None:
    page = Markup(operator.post(f"{NEW}create-topic/", {"do": "propose", "topic": "new"}, follow=True))
    number = Action.objects.get().id
    address = f"/c/demo/actions/{number}/plan.json"
    assert address in page.root.xpath("//main//a/@href")
    viewer = signed_in(Role.VIEWER)
    assert viewer.get(address).json()["kind"] == "create-topic"
    Action.objects.update(plan=b"")
    assert viewer.get(address).status_code == 404
    assert viewer.get(address.replace(str(number), "999")).status_code == 404


# Rights


@pytest.mark.parametrize("path", ["", "reassign/", "nonsense/"])
def test_a_viewer_may_not_propose(signed_in: Callable[[Role], Client], demo: Snapshot, path: str) -> None:
    viewer = signed_in(Role.VIEWER)
    assert viewer.get(NEW + path).status_code == 403
    assert viewer.post(NEW + "reelect-controller/", {"do": "propose"}).status_code == 403
    assert not Action.objects.exists()


def test_who_is_not_signed_in_is_sent_to_the_sign_in_page(client: Client, db: None, demo: Snapshot) -> None:
    answer = client.get(f"{NEW}delete-topic/?topic=orders")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/?next=")


def test_a_form_takes_no_post_without_its_token(demo: Snapshot, operator: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = operator.cookies
    assert strict.post(f"{NEW}reelect-controller/", {"do": "propose"}).status_code == 403


def test_a_kind_that_is_none_is_a_404_in_words(operator: Client, demo: Snapshot) -> None:
    answer = operator.get(f"{NEW}reasign/")
    assert answer.status_code == 404
    assert "“reasign” is not a kind of action." in Markup(answer).text("p.problem")


# The pages


@pytest.mark.parametrize("kind", forms.BY_KIND)
def test_every_form_has_labels_and_no_script(operator: Client, demo: Snapshot, kind: str) -> None:
    page = Markup(operator.get(f"{NEW}{kind}/"))
    assert page.text("h1") == forms.BY_KIND[kind].title()
    ids = page.ids()
    assert len(ids) == len(set(ids))
    for field in page.root.xpath("//main//form//*[self::input or self::textarea or self::select]"):
        if field.get("type") != "hidden":
            assert page.root.xpath(f"//label[@for='{field.get('id')}']"), field.get("name")
        for described in (field.get("aria-describedby") or "").split():
            assert described in ids
    assert page.root.xpath("//main//script | //main//*[@onclick]") == []


def test_every_kind_is_listed_with_the_reason_why_not(operator: Client, demo: Snapshot) -> None:
    page = Markup(operator.get(NEW))
    links = page.root.xpath("//main//ul/li/a/@href")
    assert links == [f"{NEW}{kind}/" for kind in forms.BY_KIND]
    assert page.texts("main li a") == [form.title() for form in forms.BY_KIND.values()]
    notes = [" ".join(note.text_content().split()) for note in page.root.xpath("//main//li/p")]
    reasons = {kind: registry.why_not(kind, demo.state) for kind in forms.BY_KIND}
    assert notes == [f"Not now: {reason}" for reason in reasons.values() if reason]
    assert (
        reasons
        | {
            "reassign": "",
            "clear-configs": "No absent topic has a configuration.",
            "clear-stuck": (
                "Neither /admin/reassign_partitions nor /admin/preferred_replica_election is there, "
                "nor the mark of an absent topic."
            ),
            "revert-stuck": "/admin/reassign_partitions is absent: no move is stuck in it.",
            "clean-up-topic": "No topic is marked for deletion.",
        }
        == reasons
    )


def test_kafka_0_7_takes_only_what_needs_no_controller(operator: Client, demo: Snapshot) -> None:
    states.publish(
        {
            "/brokers/ids/1": states.znode("host-1-1:host-1:9092", owner=1),
            "/brokers/topics/t/1": states.znode("2"),
        }
    )
    page = Markup(operator.get(NEW))
    told = page.texts("p.note")
    assert len(told) == len(forms.BY_KIND) - 2
    assert set(told) == {"Not now: Kafka 0.7 has no controller: nothing there acts on what would be written."}
    form = Markup(operator.get(f"{NEW}reassign/"))
    assert form.texts("p.note") == [told[0]]


def test_many_selected_rows_fill_the_form_by_a_post_too(operator: Client, demo: Snapshot) -> None:
    page = Markup(operator.post(f"{NEW}elect-preferred/", {"topic": ["orders", "clicks"]}))
    assert page.text("textarea#id_topics") == "orders clicks"
    assert page.texts("p.fault") == []


def test_ten_thousand_topics_are_no_ten_thousand_options(operator: Client, demo: Snapshot) -> None:
    tree = {**states.brokers(1, 2), **states.controller(1)}
    for number in range(2000):
        tree |= states.topic(f"topic-{number}", {0: [1, 2]})
    states.publish(tree)
    for kind in forms.BY_KIND:
        answer = operator.get(f"{NEW}{kind}/?topic=topic-1*")
        assert len(answer.content) < 40_000
    assert "1111 of 2000 topics match now." in operator.get(f"{NEW}reassign/?topic=topic-1*").content.decode()


HOSTILE = [
    "<img src=x onerror=alert(1)>",
    '"><script>alert(1)</script>',
    "a\u202eb",
    "x\0y",
    "’;--",
    "%00",
    "../..",
]


@pytest.mark.parametrize("kind", forms.BY_KIND)
def test_a_hostile_name_is_only_ever_text(operator: Client, demo: Snapshot, kind: str) -> None:
    tree = states.healthy()
    for name in HOSTILE:
        tree |= states.topic(name, {0: [1]}, config={"retention.ms": name})
        tree |= states.group(name, {})
        tree[f"/admin/delete_topics/{name}"] = states.znode()
    states.publish(tree)
    answers = [operator.get(f"{NEW}{kind}/")]
    for name in HOSTILE:
        query = {"topic": name, "group": name, "partition": f"{name}-0", "broker": name, name: name}
        answers += [operator.get(f"{NEW}{kind}/", query), operator.post(f"{NEW}{kind}/", query)]
    for answer in answers:
        assert answer.status_code == 200
        assert Markup(answer).root.xpath("//main//img | //main//script") == []


TREE = states.healthy()
fields = sorted({name for form in forms.BY_KIND.values() for name in (*form.base_fields, *form.names)})
values = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["orders", "orders-0", "*", "1", "1-3", "99999999999999999999", "drain", "50 MB/s", "-1"]
    ),
)


@settings(max_examples=full.pick(60, 200))
@given(
    st.sampled_from(sorted(forms.BY_KIND)),
    st.lists(st.tuples(st.one_of(st.sampled_from(fields), st.text(max_size=8)), values), max_size=8),
)
def test_no_query_makes_a_form_fail(kind: str, pairs: list[tuple[str, str]]) -> None:
    asked: dict[str, list[str]] = {}
    for name, value in pairs:
        asked.setdefault(name, []).append(value)
    snapshot = states.snapshot(TREE)
    form = forms.BY_KIND[kind](snapshot, asked)
    for name in form.fields:
        form[name].as_widget()
    form.facts()
    # and typed: it is valid and has an intent, or says what is wrong
    bound = forms.BY_KIND[kind](snapshot, {}, {form.field_of(name): value for name, value in pairs})
    assert bound.errors or bound.intents()


@pytest.mark.parametrize(
    "raw",
    [
        "%",
        "=&=&",
        "topic=%FF%FE",
        "a" * 20_000,
        "&".join(["topic=orders"] * 6000),
        "topic=%00",
        "%00=%00",
        "🙂",
    ],
)
def test_no_address_makes_a_form_answer_500(operator: Client, demo: Snapshot, raw: str) -> None:
    for kind in forms.BY_KIND:
        assert operator.get(f"{NEW}{kind}/", QUERY_STRING=raw).status_code == 200
