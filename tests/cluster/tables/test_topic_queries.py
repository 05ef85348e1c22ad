"""What a table shows: each case is a query and the names that must come, in their order."""

from __future__ import annotations

import pytest

from bench import tree
from tests.cluster import small
from tests.narrowing import known
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables import topic_queries
from zkdash.cluster.tables.query import Keys
from zkdash.cluster.tables.topic_queries import Query
from zkdash.cluster.tables.topic_rows import TopicRow
from zkdash.kafka.values import Unparsable

STATE = small.built(
    small.broker(1, rack="North"),
    small.broker(2, rack="south"),
    small.topic("orders", {0: [1, 2], 1: [2, 1]}),
    small.topic("Orders.v2", {0: [1]}) | small.config("Orders.v2", a="1", b="2"),
    small.topic("audit", {0: [1, 2]}) | small.state("audit", 0, -1, []),
    small.topic("billing", {0: [2, 1]}) | small.state("billing", 0, 2, [2]),
    small.topic("old", {0: [2]}) | {"/admin/delete_topics/old": small.znode(None)},
    {"/brokers/topics/torn": small.znode("{")},
    small.group("g", {"c": ["orders", "billing"]}, {"orders": [0, 1], "billing": [0]}),
    small.group("h", {}, {"orders": [0]}),
    small.controller(1),
)

KEYS: Keys[TopicRow] = {
    "status": lambda row: row.summary.severity.rank,
    "name": lambda row: row.summary.name,
    "partitions": lambda row: row.summary.partitions,
}

CASES = [
    (Query(q="is:internal"), []),
    (Query(q="not:offline not:deleting"), ["billing", "Orders.v2", "torn", "orders"]),
    (Query(q="not:happy"), []),
    (Query(), ["audit", "billing", "Orders.v2", "torn", "old", "orders"]),
    (Query(q="ORD"), ["Orders.v2", "orders"]),
    (Query(q="ord v2"), ["Orders.v2"]),
    (Query(q="status:crit"), ["audit"]),
    (Query(q="status:critical o"), []),
    (Query(q="broker:2"), ["audit", "billing", "old", "orders"]),
    (Query(q="broker:2 broker:1"), ["audit", "billing", "orders"]),
    (Query(q="rack:SOUTH"), ["audit", "billing", "old", "orders"]),
    (Query(q="rack:east"), []),
    (Query(q="is:offline"), ["audit"]),
    (Query(q="is:under-replicated"), ["audit", "billing"]),
    (Query(q="is:deleting"), ["old"]),
    (Query(q="is:happy"), []),
    (Query(q="nobody:here"), []),
    (Query(status=("warning", "unknown")), ["billing", "Orders.v2", "torn"]),
    (Query(status=("nonsense",)), ["audit", "billing", "Orders.v2", "torn", "old", "orders"]),
    (Query(q="o", status=("ok",)), ["orders"]),
    (Query(sort="name"), ["Orders.v2", "audit", "billing", "old", "orders", "torn"]),
    (Query(sort="-name"), ["torn", "orders", "old", "billing", "audit", "Orders.v2"]),
    (Query(sort="-partitions"), ["orders", "Orders.v2", "audit", "billing", "old", "torn"]),
    (Query(sort="partitions"), ["Orders.v2", "audit", "billing", "old", "orders", "torn"]),
    (Query(sort="-status"), ["orders", "old", "torn", "Orders.v2", "billing", "audit"]),
    (Query(sort="status"), ["audit", "billing", "Orders.v2", "torn", "old", "orders"]),
    (Query(sort="__class__"), ["audit", "billing", "Orders.v2", "torn", "old", "orders"]),
]


@pytest.mark.parametrize(("query", "names"), CASES, ids=[repr(query)[6:-1] for query, _ in CASES])
def test_topics_are_selected(query: Query, names: list[str]) -> None:
    found = topic_queries.select_topics(STATE, query, KEYS)
    assert [row.summary.name for row in found.rows] == names
    assert (found.total, found.matched, found.page, found.pages) == (6, len(names), 1, 1)


def test_each_status_says_how_many_it_would_show() -> None:
    everything = {"critical": 1, "warning": 2, "unknown": 1, "info": 1, "ok": 1}
    assert topic_queries.select_topics(STATE, Query()).counts == everything
    assert topic_queries.select_topics(STATE, Query(status=("ok",))).counts == everything
    matching = {"critical": 0, "warning": 1, "unknown": 0, "info": 0, "ok": 1}
    assert topic_queries.select_topics(STATE, Query(q="orders", status=("critical",))).counts == matching


def test_pages_are_cut_from_the_default_order_and_from_a_sorted_one_alike() -> None:
    state = small.built(dict(tree.tree(topics=120, partitions=1, groups=0)))
    named = [tree.topic_name(number) for number in range(120)]
    crowded = [name for name in named if state.summaries[name].severity is Severity.WARNING]
    assert len(crowded) == 40
    ranked = [*crowded, *(name for name in named if name not in crowded)]
    for sort, order in (("", ranked), ("name", named)):
        pages = [topic_queries.select_topics(state, Query(sort=sort, page=page), KEYS) for page in (1, 2, 3)]
        assert [page.pages for page in pages] == [3, 3, 3]
        assert [len(page.rows) for page in pages] == [50, 50, 20]
        shown = [row.summary.name for page in pages for row in page.rows]
        assert shown == order


@pytest.mark.parametrize(("asked", "given"), [(0, 1), (-3, 1), (9, 3), (10**30, 3)])
def test_a_page_that_is_not_there_is_the_nearest(asked: int, given: int) -> None:
    state = small.built(dict(tree.tree(topics=120, partitions=1, groups=0)))
    assert topic_queries.select_topics(state, Query(page=asked)).page == given
    assert topic_queries.select_topics(state, Query(page=asked, sort="name"), KEYS).page == given


def test_a_size_that_is_not_offered_is_the_smallest() -> None:
    assert len(topic_queries.select_topics(STATE, Query(size=10**9)).rows) == 6
    state = small.built(dict(tree.tree(topics=60, partitions=1, groups=0)))
    assert len(topic_queries.select_topics(state, Query(size=3)).rows) == 50


def test_an_empty_cluster_has_one_empty_page() -> None:
    found = topic_queries.select_topics(small.built(), Query())
    assert (found.rows, found.total, found.matched, found.page, found.pages) == ((), 0, 0, 1, 1)


def test_a_row_holds_the_reason_where_there_is_no_value() -> None:
    (row,) = topic_queries.select_topics(STATE, Query(q="torn")).rows
    assert isinstance(row.partitions, Unparsable)
    assert isinstance(row.replication, Unparsable)
    assert row.preferred_percent is None


def test_a_topics_row() -> None:
    (row,) = topic_queries.select_topics(STATE, Query(q="billing")).rows
    summary = row.summary
    assert (summary.severity, summary.words) == (Severity.WARNING, "1 under-replicated, 1 at min ISR")
    assert (row.partitions, row.replication, row.groups, row.overrides) == (1, (2, 2), 1, 0)
    assert (summary.under_replicated, summary.offline, summary.leader_dead, row.marks) == (1, 0, 0, ())
    assert row.preferred_percent == 100.0
    assert summary.changed == known(STATE.topics["billing"].partitions[0].znode).mtime


PARTITIONS = small.built(
    small.broker(1),
    small.broker(2),
    small.topic("t", {0: [1, 2], 1: [2, 1], 10: [9, 1]})
    | small.state("t", 1, 2, [2])
    | {"/brokers/topics/t/partitions/0/state": small.znode("{")}
    | small.state("t", 7, 1, [1]),
)


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        (Query(), [0, 1, 7, 10]),
        (Query(sort="-partition"), [10, 7, 1, 0]),
        (Query(sort="status"), [10, 1, 7, 0]),
        (Query(sort="-leader"), [10, 1, 7, 0]),
        (Query(q="1"), [1, 10]),
        (Query(q="broker:2"), [0, 1]),
        (Query(q="status:unknown"), [0]),
        (Query(status=("critical", "unknown")), [0, 10]),
    ],
)
def test_partitions_are_selected(query: Query, ids: list[int]) -> None:
    found = topic_queries.select_partitions(PARTITIONS, PARTITIONS.topics["t"], query)
    assert [row.partition for row in found.rows] == ids
    assert found.total == 4


@pytest.mark.parametrize("sort", topic_queries.PARTITION_SORTS)
def test_every_column_sorts_all_partitions(sort: str) -> None:
    found = topic_queries.select_partitions(PARTITIONS, PARTITIONS.topics["t"], Query(sort=sort))
    assert sorted(row.partition for row in found.rows) == [0, 1, 7, 10]


def test_a_partitions_row() -> None:
    rows = topic_queries.select_partitions(PARTITIONS, PARTITIONS.topics["t"], Query()).rows
    torn, behind, orphan, dead = rows
    assert isinstance(torn.leader, Unparsable)
    assert torn.isr is torn.leader
    assert (behind.leader, behind.leader_live, behind.replicas, behind.isr) == (2, True, (2, 1), (2,))
    assert behind.out_of_sync == (1,)
    assert behind.path == "/brokers/topics/t/partitions/1/state"
    assert (behind.leader_epoch, behind.controller_epoch, behind.version) == (0, 1, 0)
    assert (orphan.words, orphan.replicas) == ("not assigned", None)
    assert (dead.words, dead.leader_live, dead.dead) == ("leader 9 is dead", False, frozenset({9}))


def test_the_brokers_of_a_07_topic_are_selected() -> None:
    root = "/brokers/topics/old"
    tree_ = {root: small.znode(None), f"{root}/1": small.znode("2"), f"{root}/0": small.znode("x")}
    state = small.built({"/brokers/ids/1": small.znode("h-1:h:9092")}, tree_)
    found = topic_queries.select_counts(state, state.topics["old"], Query(sort="-broker"))
    assert [(row.broker, row.status, row.live) for row in found.rows] == [
        (1, Severity.OK, True),
        (0, Severity.UNKNOWN, False),
    ]


def test_what_stands_against_a_topic_is_in_its_status_wherever_it_is_listed() -> None:
    marked = {"/admin/delete_topics/b": small.znode(None)}
    state = small.built(small.broker(1), *(small.topic(name, {0: [1]}) for name in "abc"), marked)
    standing = {
        "b": ((Severity.WARNING, "deletion stuck"),),
        "c": ((Severity.CRITICAL, "shares its topic_id"),),
    }

    def shown(query: Query) -> list[tuple[str, str]]:
        found = topic_queries.select_topics(state, query, KEYS, standing=standing)
        return [(row.summary.name, row.summary.words) for row in found.rows]

    every = [("c", "shares its topic_id"), ("b", "deletion stuck, deleting"), ("a", "ok")]
    assert shown(Query()) == every
    assert shown(Query(sort="status")) == every
    assert shown(Query(q="status:critical")) == shown(Query(status=("critical",))) == every[:1]
    assert [name for name, _ in shown(Query(sort="-status"))] == ["a", "b", "c"]
    found = topic_queries.select_topics(state, Query(status=("ok",)), KEYS, standing=standing)
    assert [row.summary.name for row in found.rows] == ["a"]
    assert found.matched == 1
    assert {severity: count for severity, count in found.counts.items() if count} == {
        "critical": 1,
        "warning": 1,
        "ok": 1,
    }
