from __future__ import annotations

import pytest

from tests.web import states
from zkdash.cluster.tables import search

STATE = states.load(
    states.healthy()
    | states.topic("order-items", {0: [1]})
    | states.topic("back-orders", {0: [1]})
    | {"/consumers/orders": states.znode(), "/consumers/Orderly": states.znode()}
)


def names(hits: tuple[search.Hit, ...]) -> list[str]:
    return [hit.name for hit in hits]


def test_exact_names_come_first_then_those_that_begin_so() -> None:
    found = search.find(STATE, "orders")
    assert names(found.topics) == ["orders", "back-orders"]
    assert names(search.find(STATE, "ORDER").topics) == ["orders", "order-items", "back-orders"]


def test_topics_groups_and_brokers_are_looked_through() -> None:
    found = search.find(STATE, "2")
    assert (names(found.topics), names(found.groups), names(found.brokers)) == ([], [], ["2"])
    assert found.brokers[0].about == "host-2"
    assert names(search.find(STATE, "HOST").brokers) == ["1", "2", "3"]
    assert names(search.find(STATE, "order").groups) == ["orders", "Orderly"]


@pytest.mark.parametrize(
    ("text", "only"),
    [("payments", "payments"), ("2", "2"), ("host-3", "3"), ("orders", None), ("payment", None), ("", None)],
)
def test_one_exact_name_is_the_only_one(text: str, only: str | None) -> None:
    hit = search.find(STATE, text).only
    assert (hit and hit.name) == only


def test_no_more_than_fifty_of_a_kind_but_all_are_counted() -> None:
    many: states.Tree = {}
    for number in range(120):
        many |= states.topic(f"t{number}", {0: [1]})
    found = search.find(states.load(many), "t")
    assert (len(found.topics), found.totals) == (search.MOST, (120, 0, 0))
