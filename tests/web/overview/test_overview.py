from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from django.test import Client

from tests.narrowing import sure
from tests.web import states
from tests.web.markup import Markup
from zkdash import live
from zkdash.actions.reading.entries import Entry
from zkdash.actions.states import State
from zkdash.cluster.changes import Change
from zkdash.cluster.checks import CHECKS, TITLES
from zkdash.cluster.incidents import Incidents, fold
from zkdash.cluster.incidents.causes import ELECTING_MS, causes
from zkdash.cluster.model.findings import Finding
from zkdash.cluster.model.severity import Severity
from zkdash.history.queries.density import Density
from zkdash.history.queries.instants import Around
from zkdash.history.queries.neighbours import Instant
from zkdash.history.queries.window import Window
from zkdash.live.parts import Block, PageKey
from zkdash.live.queue import Queue
from zkdash.live.snapshot import Past, Snapshot
from zkdash.web.frame import times
from zkdash.web.overview import overview
from zkdash.zk.connection.session import Phase

URL = "/c/demo/"
OFFLINE = Finding(
    check="D1",
    severity=Severity.CRITICAL,
    sentence="1 partition has no leader",
    count=1,
    page="topics",
    query="q=is%3Aoffline",
    since=1_795_171_327.0,
    remedy="restart a broker",
)
CHANGE = Change(
    when=states.TIME,
    area="topics",
    what="partition orders-3 lost replica 2 from ISR",
    before="1, 2",
    after=None,
    path="/brokers/topics/orders/partitions/3/state",
    zxid=None,
)


def test_where_nothing_happened_before_a_moment_of_the_past_it_is_told_how_far_was_looked() -> None:
    states.publish(states.healthy())
    now = sure(Snapshot, live.current("demo"))
    around = Around("watch", 0, 2_000, "", None, None)
    past = Past(Instant(7, 1_000), around, Density(Window(0, 60_000, 60_000), {}, ()))
    for snapshot, sentence in (
        (now, "Nothing has changed since zkdash began to watch this cluster."),
        (msgspec.structs.replace(now, past=past), "10 minutes, or 2,000 changes where there were more"),
    ):
        parts = overview.look(snapshot, PageKey("demo", overview.NAME)).parts
        (happened,) = (part for part in parts if isinstance(part, Block) and part.id == "happened")
        assert sentence in happened.values[1]


def test_failing_checks_are_sentences_that_lead_to_their_table(client: Client) -> None:
    states.publish(states.sick(), findings=(OFFLINE,), passing=("D2", "D8"))
    page = Markup(client.get(URL))
    (link,) = page.all("#checks .what a")
    assert link.get("href") == "/c/demo/topics/?q=is%3Aoffline"
    assert link.text_content() == "1 partition has no leader"
    (own,) = page.all("#checks .since a")
    assert own.get("href") == "/c/demo/checks/D1/"
    assert page.text("#passing summary") == "✓ ok 2 checks pass"
    assert page.texts("#passing li") == [TITLES["D2"], TITLES["D8"]]
    assert page.text("title").startswith("✕ 1 · ")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_what_each_check_links_to_exists_and_understands_it(client: Client, check: Any) -> None:
    states.publish(states.sick())
    if check.page == "topics":
        response = client.get(f"/c/demo/topics/?{check.query}")
        assert response.status_code == 200
        assert Markup(response).texts("p.note") == []


def test_the_numbers_lead_with_what_should_be_none(client: Client) -> None:
    states.publish(states.sick())
    page = Markup(client.get(URL))
    numbers = dict(zip(page.texts("#strip dt"), page.texts("#strip dd"), strict=True))
    assert list(numbers) == [
        "Under-replicated",
        "Offline",
        "Lag, all groups",
        "Leader changes / min",
        "Partitions",
        "ZooKeeper writes / s",
        "Brokers",
        "Controller",
        "Topics",
    ]
    assert [numbers[name] for name in ("Brokers", "Topics", "Partitions")] == ["2", "3", "6"]
    assert (numbers["Under-replicated"], numbers["Offline"]) == ("▲ 4", "✕ 1")
    assert numbers["Controller"].startswith("2 epoch 12")
    assert numbers["Lag, all groups"] == "unknown no group is known"


def test_the_strip_of_layout_07_holds_what_07_has(client: Client) -> None:
    znodes = {"/brokers/ids/0": states.znode("h-1:10.0.0.5:9092"), "/brokers/topics/o/0": states.znode("4")}
    states.publish({"/brokers/topics/o": states.znode()} | znodes)
    page = Markup(client.get(URL))
    assert page.texts("#strip dt") == [
        "Lag, all groups",
        "Partitions",
        "ZooKeeper writes / s",
        "Brokers",
        "Topics",
    ]


def dead_broker() -> tuple[Any, ...]:
    """What a watcher holds after broker 3 went, whose session is known: the incident, and the findings."""
    gone = Change(
        states.TIME,
        "brokers",
        "broker 3 went away",
        "PLAINTEXT://h:9092",
        None,
        "/brokers/ids/3",
        None,
        0x1A3,
    )
    lost = msgspec.structs.replace(CHANGE, before="1, 3", after="1")
    incidents = fold(Incidents(), (gone, *(lost for _ in range(30))))
    findings = tuple(
        msgspec.structs.replace(OFFLINE, check=check, since=states.TIME / 1000 + 1)
        for check in ("D1", "D8", "D30")
    )
    return incidents, findings


def test_a_dead_broker_is_the_headline_and_what_follows_is_folded_under_it(client: Client) -> None:
    incidents, findings = dead_broker()
    state = states.load(states.sick())
    found = causes(state, incidents, findings, states.TIME)
    states.publish(states.sick(), incidents=incidents, causes=found, findings=findings)
    page = Markup(client.get(URL))
    assert page.text("#causes h2") == "✕ critical: Broker 3 is gone"
    assert "0x1a3" in page.text("#causes .where")
    assert page.texts("#causes .chips li")[0] == "4 under-replicated"
    (listing, helps) = page.all("#causes .doors a")
    assert (listing.text, listing.get("href")) == ("The 5 partitions", "/c/demo/brokers/3/")
    assert helps.get("href") == "/c/demo/checks/D1/"
    assert page.text("#causes summary") == "2 checks fail because of this"
    assert [item.get("data-check") for item in page.all("#checks li.critical")] == ["D30"]
    document = json.loads(client.get(URL, {"format": "json"}).content)
    assert document["causes"][0]["checks"] == ["D1", "D8"]
    assert len(document["rows"]) == 3


def test_what_happened_is_a_line_an_incident_that_unfolds_to_its_changes(client: Client) -> None:
    incidents, _ = dead_broker()
    incidents = fold(
        incidents,
        (msgspec.structs.replace(CHANGE, path="/brokers/topics/new", what="topic new was created"),),
    )
    states.publish(states.sick(), incidents=incidents)
    page = Markup(client.get(URL))
    assert [title.split(" ", 2)[2] for title in page.texts("#happened .headline")] == [
        "Broker 3 is gone",
        "Topic new was created",
    ]
    assert page.texts("#happened .took") == ["still open", ""]
    assert page.text("#happened summary") == "31 changes"
    assert len(page.all("#happened .rows li")) == 20
    assert len(page.ids()) == len(set(page.ids()))
    (more,) = page.all("#happened details p a")
    assert more.get("href").startswith("/c/demo/timeline/?from=")
    (row,) = json.loads(client.get(URL, {"format": "json"}).content)["incidents"]
    assert (row["title"], row["changes"], row["left_isr"]) == ("Broker 3 is gone", 31, 30)


def test_what_happened_stands_by_the_time_that_it_shows_and_names_our_action(client: Client) -> None:
    """Replicas that leave their ISRs before their broker's session ends do not move its death back."""
    second = 1000
    left = msgspec.structs.replace(CHANGE, before="1, 3", after="1")
    made = msgspec.structs.replace(
        CHANGE,
        when=states.TIME + 4 * second,
        path="/brokers/topics/new",
        what="topic new was created",
        zxid=77,
    )
    gone = Change(
        states.TIME + 8 * second, "brokers", "broker 3 went away", "h", None, "/brokers/ids/3", None, 0x1A3
    )
    asked = Entry(41, 9, "demo", "create-topic", "new", State.DONE, "alice", states.TIME, zxids=(77,))
    incidents = fold(Incidents(), (left, made, gone))
    states.publish(states.sick(), incidents=incidents, queue=Queue(entries=(asked,), read=True))
    page = Markup(client.get(URL))
    assert page.root.xpath("//li[@class='story']/span[@class='at']/time/@datetime") == [
        times.utc_text(states.TIME + 8 * second),
        times.utc_text(states.TIME + 4 * second),
    ]
    (row,) = json.loads(client.get(URL, {"format": "json"}).content)["incidents"]
    assert row["prelude"] == times.utc_text(states.TIME)
    assert "first signs 8 s before" in page.texts("#happened .followed span")
    assert page.texts("#happened .headline")[1].endswith("Topic new was created by alice (action 41)")
    (link,) = page.all("#happened .headline a")
    assert link.get("href") == "/c/demo/actions/41/"


def test_a_controller_that_is_being_elected_is_no_trouble_of_its_own_yet() -> None:
    gone = Change(states.TIME, "brokers", "broker 2 went away", "x", None, "/brokers/ids/2", None)
    left = Change(states.TIME, "controller", "the controller is gone", "2", None, "/controller", None)
    incidents = fold(Incidents(), (gone, left))
    tree = {
        path: read for path, read in states.healthy().items() if path not in {"/brokers/ids/2", "/controller"}
    }
    finding = msgspec.structs.replace(OFFLINE, check="D18", since=states.TIME / 1000)
    (now,) = causes(states.load(tree), incidents, (finding,), states.TIME + ELECTING_MS)
    (later,) = causes(states.load(tree), incidents, (finding,), states.TIME + ELECTING_MS + 1)
    assert (now.checks, later.checks) == (("D18",), ())


def test_json_holds_findings_and_numbers(client: Client) -> None:
    states.publish(states.sick(), findings=(OFFLINE,))
    document = json.loads(client.get(URL, {"format": "json"}).content)
    assert document["rows"] == [
        {
            "check": "D1",
            "status": "critical",
            "sentence": "1 partition has no leader",
            "count": 1,
            "since": "2026-11-20T10:42:07.000Z",
            "acknowledged": False,
            "remedy": "restart a broker",
        }
    ]
    assert document["numbers"] == {
        "brokers": 2,
        "controller": 2,
        "controller_epoch": 12,
        "topics": 3,
        "partitions": 6,
        "under_replicated": 4,
        "offline": 1,
    }


def test_before_the_first_load_numbers_are_unknown_and_not_zero(client: Client) -> None:
    states.publish(None, phase=Phase.CONNECTING)
    assert Markup(client.get(URL)).texts("#strip dd")[0].startswith("unknown")
    numbers = json.loads(client.get(URL, {"format": "json"}).content)["numbers"]
    assert numbers["brokers"] is None
    assert numbers["brokers_reason"] == "not loaded from ZooKeeper yet"


def test_a_missing_and_a_malformed_controller_differ(client: Client) -> None:
    tree = {**states.healthy(), "/controller": states.znode("{nope")}
    states.publish(tree)
    assert Markup(client.get(URL)).texts("#strip dd")[7].startswith("? ?")
    del tree["/controller"]
    states.publish(tree)
    assert Markup(client.get(URL)).texts("#strip dd")[7].startswith("✕ none")


@pytest.mark.parametrize(
    ("phase", "tree", "sentence", "words"),
    [
        (Phase.LIVE, states.healthy(), "", ""),
        (Phase.CONNECTING, None, "", "▲ Connecting to ZooKeeper at 127.0.0.1:2181/kafka."),
        (Phase.CONNECTING, states.healthy(), "", "✕ No connection to ZooKeeper."),
        (Phase.SUSPENDED, states.healthy(), "", "▲ Reconnecting to ZooKeeper. Data as of"),
        (Phase.LOST, states.healthy(), "", "✕ Session lost."),
        (Phase.REFUSED, None, "has no znode /kafka", "✕ has no znode /kafka"),
        (Phase.LOADING, states.healthy(), "", "● Catching up: 0 znodes."),
    ],
)
def test_the_banner_says_what_became_of_the_connection(
    client: Client, phase: Phase, tree: states.Tree | None, sentence: str, words: str
) -> None:
    states.publish(tree, phase=phase, sentence=sentence)
    said = Markup(client.get(URL)).text("#banner")
    assert said.startswith(words)
    assert bool(said) == bool(words)


def test_old_data_is_marked_even_where_the_connection_looks_well(client: Client) -> None:
    states.publish(states.healthy(), as_of=1.0)
    assert Markup(client.get(URL)).text("#banner").startswith("▲ ZooKeeper has not answered for over 3 s")
    assert json.loads(client.get(URL, {"format": "json"}).content)["stale"] is True


def test_an_unknown_cluster_is_a_404_that_names_the_known_ones(client: Client) -> None:
    states.publish(states.healthy())
    response = client.get("/c/prod/")
    assert response.status_code == 404
    assert Markup(response).text("p.problem") == "No cluster named “prod” is configured. Configured: demo."
