from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from tests import recorded
from tests.narrowing import sure
from tests.web import states
from tests.web.markup import MOST_BYTES, Markup
from zkdash.kafka.values import Broker
from zkdash.live.departures import Departure
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import ChangedAreas
from zkdash.web.serving import renderer
from zkdash.zk.connection.session import Phase
from zkdash.znode import Unreadable, Znode

URL = "/c/demo/brokers/"
HOSTILE = ["<script>alert(1)", '"><img src=x onerror=alert(1)>', "\u202egnp.exe", "{{ 7 }}", "日本"]


def test_every_broker_says_what_it_carries(client: Client) -> None:
    states.publish(states.sick())
    page = Markup(client.get(URL))
    assert [row.get("id") for row in page.all("#brokers-rows tr")] == ["broker-1", "broker-2", "broker-3"]
    assert page.texts("#brokers-rows span.severity") == [
        "✓ ok",
        "✓ ok",
        "✕ not registered, 4 under-replicated",
    ]
    assert [crown.get("aria-label") for crown in page.all("#broker-2 th span")] == ["controller"]
    assert [cell.get("title") for cell in page.all("#broker-2 td") if cell.get("title")] == [
        "−20 % against the mean",
        "+11 % against the mean",
    ]
    assert page.texts("#broker-2 td")[1:] == [
        "host-2:9092",
        "rack-2",
        "2",
        "5",
        "2",
        "0",
        "0",
        "2026-11-20 10:42:07",
        "0x100 Copy",
    ]
    assert page.text("#showing") == "Showing 3 of 3 brokers"
    assert page.text("#count-critical") == "1"


def test_a_broker_that_is_not_registered_keeps_its_numbers(client: Client) -> None:
    states.publish(states.sick())
    page = Markup(client.get(URL))
    assert page.texts("#broker-3 td")[1:] == ["—", "—", "0", "5", "0", "100", "4", "—", "—"]
    links = [link.get("href") for link in page.all("#broker-3 a")]
    assert links == ["/c/demo/brokers/3/", "/c/demo/brokers/3/?q=is%3Aunder-replicated"]
    (row,) = json.loads(client.get(URL, {"q": "broker:3", "format": "json"}).content)["rows"]
    assert (row["host_port"], row["host_port_reason"]) == (None, "the broker is not registered")


def test_one_that_went_while_somebody_watched_keeps_host_rack_and_since(client: Client) -> None:
    last = sure(Broker, states.load(states.brokers(3)).brokers[3].value)
    states.publish(states.sick(), departed={3: Departure(last, states.TIME)})
    page = Markup(client.get(URL))
    assert page.texts("#broker-3 td")[1:3] == ["host-3:9092", "rack-0"]
    assert page.texts("#broker-3 td.when") == ["gone 2026-11-20 10:42:07"]
    facts = Markup(client.get(f"{URL}3/")).text("#facts")
    assert all(word in facts for word in ("host-3:9092", "rack-0", "2026-11-20 10:42:07"))
    (row,) = json.loads(client.get(URL, {"q": "broker:3", "format": "json"}).content)["rows"]
    assert (row["host_port"], row["rack"], row["registered"]) == (None, None, None)


def test_json_has_the_same_rows_with_plain_values(client: Client) -> None:
    states.publish(states.sick())
    document = json.loads(client.get(URL, {"format": "json"}).content)
    assert (document["page"], document["total"]) == ("brokers", 3)
    assert document["rows"][1] == {
        "status": "ok",
        "id": 2,
        "host_port": "host-2:9092",
        "endpoints": ["PLAINTEXT://host-2:9092"],
        "rack": "rack-2",
        "controller": True,
        "leaders": 2,
        "leaders_over_mean_percent": -20,
        "replicas": 5,
        "replicas_over_mean_percent": 11,
        "preferred_led": 2,
        "leader_skew_percent": 0.0,
        "under_replicated": 0,
        "version": 4,
        "registered": "2026-11-20T10:42:07.123Z",
        "session": "0x100",
    }


def test_csv_has_the_same_rows(client: Client) -> None:
    states.publish(states.healthy())
    response = client.get(URL, {"format": "csv", "q": "host-1"})
    assert response["Content-Disposition"] == 'attachment; filename="demo-brokers.csv"'
    head, line = response.content.decode().splitlines()
    assert head.startswith("status,id,host_port,endpoints,rack,controller,leaders,leaders_over_mean_percent,")
    assert line == (
        "ok,1,host-1:9092,PLAINTEXT://host-1:9092,rack-1,False,2,0,5,0,2,0.0,0,4,2026-11-20T10:42:07.123Z,0x100"
    )


def test_a_negative_session_is_written_as_zookeeper_writes_it(client: Client) -> None:
    tree = states.brokers(1)
    (registration,) = tree.values()
    tree["/brokers/ids/1"] = states.znode(sure(Znode, registration).data, owner=-2)
    states.publish(tree)
    (row,) = json.loads(client.get(URL, {"format": "json"}).content)["rows"]
    assert row["session"] == "0xfffffffffffffffe"


def test_absent_unparsable_and_unreadable_are_three_things(client: Client) -> None:
    tree = states.brokers(1)
    tree["/brokers/ids/2"] = states.znode("{nope")
    tree["/brokers/ids/3"] = Unreadable("no right to read it")
    tree["/brokers/ids/4"] = states.znode(
        {"version": 4, "host": None, "port": -1, "endpoints": ["SSL://h:1"]}
    )
    states.publish(tree)
    page = Markup(client.get(URL))
    assert [page.texts(f"#broker-{n} td")[1] for n in (2, 3, 4)] == [
        "?",
        "not readable",
        "SSL://h:1",
    ]
    assert page.texts("#brokers-rows span.severity") == ["✓ ok", "? unparsable", "? unreadable", "✓ ok"]
    (problem,) = {link.get("href") for link in page.all("#broker-2 a") if "problems" in link.get("href")}
    assert problem == "/c/demo/problems/?q=%2Fbrokers%2Fids%2F2"
    rows = json.loads(client.get(URL, {"format": "json"}).content)["rows"]
    assert rows[2]["rack_reason"] == "no right to read it"
    assert rows[3]["host_port_reason"] == "no listener without encryption: see the endpoints"
    assert rows[3]["session_reason"].startswith("the registration is not ephemeral")


def test_what_registrations_say_together_stands_above(client: Client) -> None:
    states.publish(states.healthy())
    assert Markup(client.get(URL)).texts("#notes li") == []
    tree = states.healthy()
    tree["/brokers/ids/3"] = states.znode({"version": 4, "host": "h", "port": 1, "endpoints": ["SSL://h:1"]})
    states.publish(tree)
    assert Markup(client.get(URL)).texts("#notes li") == [
        "▲ warning Brokers differ in their listeners: PLAINTEXT on 1 and 2; SSL on 3.",
        "▲ warning Broker 3 has no rack while others have one: replicas are not spread over racks.",
    ]


def test_columns_that_layout_07_cannot_fill_are_not_drawn(client: Client) -> None:
    states.publish(
        {
            "/brokers/ids/1": states.znode("h-1:h:9092", owner=1),
            "/brokers/topics/t": states.znode(),
            "/brokers/topics/t/1": states.znode("4", owner=1),
            "/brokers/topics/t/2": states.znode("2", owner=1),
        }
    )
    page = Markup(client.get(URL))
    assert page.texts("thead th") == ["Status", "Id ▲", "Host:port", "Partitions", "Registered", "Session"]
    assert page.texts("#broker-1 td")[:3] == ["✓ ok", "h:9092", "4"]
    assert page.texts("#broker-2 td")[:3] == ["✕ not registered", "—", "2"]


def test_there_are_three_ways_of_being_empty(client: Client) -> None:
    states.publish({})
    assert Markup(client.get(URL)).text("#brokers-rows") == (
        "No brokers in ZooKeeper yet. They register under /brokers/ids."
    )
    states.publish(states.healthy())
    assert Markup(client.get(URL, {"q": "7"})).text("#brokers-rows") == (
        "No broker matches q=7. Clear filter"
    )
    states.publish(None, phase=Phase.LOADING, loaded=8400, expected=21000)
    assert Markup(client.get(URL)).text("#brokers-rows") == (
        "Brokers are not known before the first load from ZooKeeper."
    )


def test_filter_sort_and_page_live_in_the_address(client: Client) -> None:
    states.publish(states.sick())
    page = Markup(client.get(URL, {"status": "ok", "sort": "-replicas"}))
    assert page.texts("#brokers-rows th") == ["♛ 2", "1"]
    assert page.text("#showing") == "Showing 2 of 2 that match, 3 brokers in all"
    (heading,) = [th for th in page.all("thead th") if th.get("aria-sort") == "descending"]
    assert heading[0].get("href") == "?status=ok&sort=replicas"


def test_a_bad_query_falls_back_and_says_so(client: Client) -> None:
    states.publish(states.healthy())
    response = client.get(URL, {"sort": "<b>", "size": "7", "nonsense": "1"})
    assert response.status_code == 200
    assert Markup(response).texts("p.note") == [
        "“nonsense” is not a parameter of this page.",
        "“<b>” is no column to sort by; sorted by id.",
        "“7” is not a page size; there are 50, 200, 1000.",
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_registration_says_is_shown_escaped(client: Client, text: str) -> None:
    fields = {"version": 4, "host": text, "port": 1, "endpoints": [f"{text}://{text}:1"], "rack": text}
    states.publish({"/brokers/ids/1": states.znode(fields)})
    response = client.get(URL)
    page = Markup(response)
    assert (response.status_code, page.all("img"), len(page.all("#brokers-rows tr"))) == (200, [], 1)
    assert page.texts("#broker-1 td")[2] == text
    assert client.get(f"{URL}1/").status_code == 200
    assert client.get(URL, {"format": "csv"}).status_code == 200


def test_the_navigation_leads_there_with_a_key_and_a_count(client: Client) -> None:
    states.publish(states.sick())
    page = Markup(client.get("/c/demo/"))
    (entry,) = [link for link in page.all("#nav a") if link.get("href") == URL]
    assert (entry.get("data-go"), " ".join(entry.text_content().split())) == ("b", "Brokers 2")
    links = [link.get("href") for link in page.all("#strip a")]
    assert links[-3:-1] == [URL, f"{URL}2/"]


def test_what_brokers_carry_touches_the_page_and_other_topics_do_not() -> None:
    key = PageKey("demo", "brokers")
    told = ChangedAreas(frozenset({"topics"}), frozenset({"orders"}))
    asked = renderer.Renderer()
    states.publish(states.healthy())
    asked.parts(key)
    states.publish(states.healthy(), revision=6)
    assert not asked.is_affected(key, "demo", told)
    states.publish(states.sick(), revision=7)
    assert asked.is_affected(key, "demo", told)
    assert asked.is_affected(key, "demo", ChangedAreas(frozenset({"controller"})))


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_every_recorded_tree_is_counted_as_its_file_says(client: Client, name: str) -> None:
    states.publish(dict(recorded.load(name)))
    document = json.loads(client.get(URL, {"format": "json"}).content)
    expected = recorded.loads(name)
    registered = recorded.count(name).brokers
    assert sum(row["registered"] is not None for row in document["rows"]) == registered
    for row in document["rows"]:
        leaders, replicas, preferred, unled, held = expected.get(row["id"], (0, 0, 0, 0, 0))
        if name.startswith("0.7"):
            assert row["partitions"] == held
            continue
        assert (row["leaders"], row["replicas"]) == (leaders, replicas)
        share = row["leader_skew_percent"]
        assert share == (unled * 1000 // preferred / 10 if preferred else None)


def test_fifty_rows_fit_into_the_budget_and_every_id_is_unique(client: Client) -> None:
    tree = states.brokers(*range(1, 120))
    for number in range(119):
        tree |= states.topic(f"t{number}", {0: [number + 1, 1]}, isr={0: [1]}, leader={0: 1})
    states.publish(tree)
    response = client.get(URL)
    page = Markup(response)
    assert len(page.all("#brokers-rows tr")) == 50
    assert len(response.content) <= MOST_BYTES + 8 * 1024  # of bars
    assert len(page.ids()) == len(set(page.ids()))


@pytest.mark.parametrize("name", [name for name in recorded.TRIED if not name.startswith("0.7")])
def test_the_bars_in_its_cells_are_as_long_as_their_numbers(client: Client, name: str) -> None:
    states.publish(recorded.load(name))
    rows = json.loads(client.get(URL, {"format": "json", "size": "1000"}).content)["rows"]
    page = Markup(client.get(URL, {"size": "1000"}))
    headings = page.texts("thead th")
    registered = [row for row in rows if row.get("host_port_reason") != "the broker is not registered"]
    for row in rows:
        cells = page.root.xpath(f"//tr[@id='broker-{row['id']}']/*")
        for column, heading in (("leaders", "Leaders"), ("replicas", "Replicas")):
            total = sum(one[column] for one in registered)
            shares = [row[column] * len(registered) / total / 2] if total else []
            assert _shares(cells[headings.index(heading)]) == [
                pytest.approx(min(1, share), abs=1e-4) for share in shares
            ]
        out = [row["under_replicated"] / row["replicas"]] if row["under_replicated"] else []
        assert _shares(cells[headings.index("Under-replicated")]) == [
            pytest.approx(share, abs=1e-4) for share in out
        ]


def _shares(cell: Any) -> list[float]:
    """How full the bars of a cell are."""
    return [float(width.removesuffix("%")) / 100 for width in cell.xpath(".//svg/rect/@width")]
