from __future__ import annotations

import pytest

from tests.web import states
from zkdash.cluster.checks import CHECKS, Observations
from zkdash.cluster.tables import path_completions, search

STATE = states.load(
    states.healthy()
    | states.topic("order-items", {0: [1]}, config={"retention.ms": "1000"})
    | states.topic("back-orders", {0: [1]}, config={"retention.ms": "2000", "x.y": "1"})
    | {"/consumers/orders": states.znode(), "/consumers/Orderly": states.znode()}
)


def find(text: str) -> dict[str, list[str]]:
    found = search.find(STATE, Observations(), text)
    return {kind: [hit.name for hit in hits.shown] for kind, hits in found.items()}


def test_exact_names_come_first_then_those_that_begin_so() -> None:
    assert find("orders")["topic"] == ["orders", "back-orders"]
    assert find("ORDER")["topic"] == ["orders", "order-items", "back-orders"]


def test_topics_groups_and_brokers_are_looked_through() -> None:
    found = search.find(STATE, Observations(), "2")
    assert (found["topic"].shown, found["group"].shown) == ((), ())
    assert [(hit.name, hit.about) for hit in found["broker"].shown] == [("2", "host-2")]
    assert find("HOST")["broker"] == ["1", "2", "3"]
    assert find("order")["group"] == ["orders", "Orderly"]


def test_a_check_is_found_by_its_number_and_by_its_words() -> None:
    assert find("d9")["check"][0] == "D9"
    assert find("D5")["check"][:2] == ["D5", "D50"]
    assert find("under-replicated")["check"][0] == "D8"
    assert set(find("isr")["check"]) >= {"D5", "D7", "D10"}


def test_an_option_is_found_with_how_many_set_it_whether_or_not_any_does() -> None:
    found = {hit.name: hit.about for hit in search.find(STATE, Observations(), "retention")["option"].shown}
    assert found["retention.ms"].endswith("set on 3 entities")
    assert found["retention.bytes"].endswith("set nowhere")
    assert find("x.y")["option"] == ["x.y"]


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("payments", ["payments"]),
        ("2", ["2"]),
        ("host-3", ["3"]),
        ("orders", ["orders", "orders"]),
        ("d9", ["D9"]),
        ("retention.ms", ["retention.ms"]),
        ("payment", []),
        ("", []),
    ],
)
def test_what_is_just_of_that_name_is_told(text: str, exact: list[str]) -> None:
    found = search.find(STATE, Observations(), text)
    assert [hit.name for hits in found.values() for hit in hits.shown if hit.exact] == exact


def test_no_more_of_a_kind_than_are_wanted_but_all_are_counted() -> None:
    many: states.Tree = {}
    for number in range(120):
        many |= states.topic(f"t{number}", {0: [1]})
    state = states.load(many)
    assert len(search.find(state, Observations(), "t")["topic"].shown) == search.MOST
    found = search.find(state, Observations(), "t", 5)
    assert [hit.name for hit in found["topic"].shown] == ["t0", "t1", "t2", "t3", "t4"]
    assert (found["topic"].total, len(found["check"].shown)) == (120, 5)
    assert found["check"].total > len(CHECKS) / 2


@pytest.mark.parametrize(
    ("begun", "paths"),
    [
        ("/broke", ["/brokers"]),
        ("/brokers/", ["/brokers/ids", "/brokers/topics", "/brokers/seqid"]),
        ("/brokers/ids/", ["/brokers/ids/1", "/brokers/ids/2", "/brokers/ids/3"]),
        ("/config/topics/back", ["/config/topics/back-orders"]),
        ("/brokers/topics/order-items/partitions/", ["/brokers/topics/order-items/partitions/0"]),
        (
            "/brokers/topics/order-items/partitions/0/s",
            ["/brokers/topics/order-items/partitions/0/state"],
        ),
        ("/consumers/Or", ["/consumers/Orderly"]),
        ("/consumers/orders/o", ["/consumers/orders/owners", "/consumers/orders/offsets"]),
        ("/nowhere/", []),
        ("/brokers/topics/gone/partitions/", []),
    ],
)
def test_a_path_goes_on_by_what_the_state_knows(begun: str, paths: list[str]) -> None:
    assert sorted(path_completions.completions(STATE, begun)) == sorted(paths)
