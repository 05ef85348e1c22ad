"""Which brokers are shown, and which of a broker's partitions: a query, and what must come in its order."""

from __future__ import annotations

import pytest

from bench import tree
from tests import recorded
from tests.cluster import small
from tests.narrowing import known
from zkdash.cluster.analysis import kraft
from zkdash.cluster.evaluation import evaluator, partitions
from zkdash.cluster.model import summary
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables.brokers import queries as broker_queries
from zkdash.cluster.tables.brokers import rows as broker_rows
from zkdash.cluster.tables.brokers.rows import BrokerRow
from zkdash.cluster.tables.query import STATUSES, Keys, Query
from zkdash.kafka.values import PartitionState, Unparsable
from zkdash.znode import Unreadable

STATE = small.built(
    small.broker(1, rack="North"),
    small.broker(2, rack="south"),
    small.broker(11),
    {"/brokers/ids/4": small.znode("{"), "/brokers/ids/5": Unreadable("no right to read it")},
    small.topic("a", {0: [1, 2], 1: [2, 1], 10: [2, 9]}) | small.state("a", 1, 1, [1]),
    small.topic("B", {0: [1, 2]}) | small.state("B", 0, -1, []),
    small.topic("c", {0: [2, 1]}) | {"/brokers/topics/c/partitions/0/state": small.znode("{")},
    small.topic("d", {0: [2, 1]}) | {"/admin/delete_topics/d": small.znode(None)},
    small.controller(2),
)

KEYS: Keys[BrokerRow] = {
    "id": lambda row: row.id,
    "status": lambda row: row.status.rank,
    "controller": lambda row: not row.is_controller,
    "leaders": lambda row: row.load.leaders,
    "leader_skew_percent": lambda row: row.leader_skew_percent,
}


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        (Query(), [1, 2, 4, 5, 9, 11]),
        (Query(sort="id"), [1, 2, 4, 5, 9, 11]),
        (Query(sort="-id"), [11, 9, 5, 4, 2, 1]),
        (Query(sort="status"), [9, 1, 2, 4, 5, 11]),
        (Query(sort="controller"), [2, 1, 4, 5, 9, 11]),
        (Query(sort="-leaders"), [1, 2, 4, 5, 9, 11]),
        (Query(sort="-leader_skew_percent"), [1, 2, 4, 5, 9, 11]),
        (Query(sort="__class__"), [1, 2, 4, 5, 9, 11]),
        (Query(q="host-1"), [1, 11]),
        (Query(q="NORTH"), [1]),
        (Query(q="rack:south"), [2]),
        (Query(q="broker:9"), [9]),
        (Query(q="status:crit"), [9]),
        (Query(status=("unknown",)), [4, 5]),
        (Query(q="nobody"), []),
    ],
)
def test_brokers_are_selected(query: Query, ids: list[int]) -> None:
    found = broker_queries.select_brokers(STATE, query, KEYS)
    assert [row.id for row in found.rows] == ids
    assert (found.total, found.matched) == (6, len(ids))


def test_each_broker_says_what_is_wrong() -> None:
    words = {row.id: (row.status, row.words) for row in broker_queries.select_brokers(STATE, Query()).rows}
    assert words == {
        1: (Severity.WARNING, "1 under-replicated"),
        2: (Severity.WARNING, "2 under-replicated"),
        4: (Severity.UNKNOWN, "unparsable"),
        5: (Severity.UNKNOWN, "unreadable"),
        9: (Severity.CRITICAL, "not registered"),
        11: (Severity.OK, "ok"),
    }


def test_a_brokers_row() -> None:
    row = broker_rows.broker(STATE, 2)
    assert (row.host_port, row.is_controller, row.session) == ("host-2:9092", True, small.SESSION)
    znode = known(STATE.brokers[2].znode)
    assert (row.registered, row.czxid) == (znode.ctime, znode.czxid)
    assert row.leader_skew_percent == 50.0
    gone = broker_rows.broker(STATE, 9)
    assert (gone.broker, gone.host_port, gone.registered, gone.session, gone.czxid) == (None,) * 5
    assert isinstance(broker_rows.broker(STATE, 4).broker, Unparsable)


def test_a_kraft_controller_is_no_broker() -> None:
    fields = {"version": 2, "brokerid": 1, "timestamp": "1", "kraftControllerEpoch": 0}
    state = small.built(small.broker(1), {"/controller": small.json_(**fields)})
    assert kraft.controller(state) is None
    state, _ = small.step(state, {"/controller": small.json_(**fields | {"kraftControllerEpoch": -1})})
    assert kraft.controller(state) == 1


@pytest.mark.parametrize(
    ("query", "places"),
    [
        (Query(), ["B0", "a0", "a1", "c0", "d0"]),
        (Query(sort="topic"), ["B0", "a0", "a1", "c0", "d0"]),
        (Query(sort="-topic"), ["d0", "c0", "a1", "a0", "B0"]),
        (Query(sort="-partition"), ["a1", "B0", "a0", "c0", "d0"]),
        (Query(sort="role"), ["a0", "a1", "B0", "d0", "c0"]),
        (Query(sort="preferred"), ["B0", "a0", "a1", "c0", "d0"]),
        (Query(sort="-in_sync"), ["B0", "a0", "a1", "d0", "c0"]),
        (Query(sort="status"), ["B0", "a1", "c0", "d0", "a0"]),
        (Query(sort="changed"), ["B0", "a0", "a1", "c0", "d0"]),
        (Query(q="A"), ["a0", "a1"]),
        (Query(q="role:lead"), ["a0", "a1"]),
        (Query(q="role:follower"), ["B0", "d0"]),
        (Query(q="role:nothing"), []),
        (Query(q="is:out-of-sync"), ["B0"]),
        (Query(q="is:under-replicated"), ["B0"]),
        (Query(q="is:preferred"), ["B0", "a0"]),
        (Query(q="is:not-leading"), ["B0"]),
        (Query(q="is:unheard-of"), []),
        (Query(q="role:leader status:warn"), ["a1"]),
        (Query(q="broker:2"), ["B0", "a0", "a1", "c0", "d0"]),
        (Query(q="rack:south a role:leader"), ["a0", "a1"]),
        (Query(q="broker:9"), []),
        (Query(status=("critical", "info")), ["B0", "d0"]),
        (Query(status=("ok",)), ["a0"]),
        (Query(sort="-partition", status=("unknown", "warning")), ["a1", "c0"]),
    ],
)
def test_a_brokers_partitions_are_selected(query: Query, places: list[str]) -> None:
    found = broker_queries.select_replicas(STATE, 1, query)
    assert [f"{row.topic}{row.partition}" for row in found.rows] == places
    assert (found.total, found.matched) == (5, len(places))


@pytest.mark.parametrize("sort", broker_queries.REPLICA_SORTS)
def test_every_column_sorts_all_partitions(sort: str) -> None:
    for asked in (sort, f"-{sort}"):
        rows = broker_queries.select_replicas(STATE, 2, Query(sort=asked)).rows
        assert sorted(f"{row.topic}{row.partition}" for row in rows) == ["B0", "a0", "a1", "a10", "c0", "d0"]


def test_a_partitions_row_says_what_the_broker_is_to_it() -> None:
    offline, led, unled, torn, deleted = broker_queries.select_replicas(STATE, 1, Query()).rows
    assert (offline.role, offline.in_sync, offline.preferred, offline.words) == (
        "follower",
        False,
        True,
        "offline, under-replicated",
    )
    assert (led.role, led.in_sync, led.preferred, led.status) == ("leader", True, True, Severity.OK)
    assert (unled.role, unled.preferred, unled.words) == ("leader", False, "under-replicated, at min ISR")
    assert isinstance(torn.role, Unparsable)
    assert torn.in_sync is torn.role
    assert deleted.words == "deleting"


def test_a_broker_that_nothing_speaks_of_holds_nothing() -> None:
    found = broker_queries.select_replicas(STATE, 77, Query())
    assert (found.rows, found.total, found.matched, found.pages) == ((), 0, 0, 1)


def test_pages_are_cut_from_the_default_order_and_from_a_filtered_one_alike() -> None:
    nodes = dict(tree.tree(topics=45, partitions=7, groups=0, brokers=5))
    state = small.built(nodes, *(small.broker(number) for number in range(1, 6)))
    held = [
        (tree.topic_name(topic), part)
        for topic in range(45)
        for part in range(7)
        if 2 in tree.replicas(topic, part, 5)
    ]
    for query in (Query(), Query(q="topic"), Query(status=("ok",)), Query(q="topic", status=("ok",))):
        shown = []
        for page in range(1, 5):
            found = broker_queries.select_replicas(state, 2, Query(query.q, query.status, page=page))
            assert (found.pages, found.matched, found.page) == (4, len(held), page)
            shown += [(row.topic, row.partition) for row in found.rows]
        assert shown == held


@pytest.mark.parametrize("name", recorded.TREES)
def test_the_default_page_and_the_counts_are_those_of_looking_at_everything(name: str) -> None:
    """The short way through the sums, against every partition of every topic."""
    state = small.built(recorded.load(name))
    ground = evaluator.ground_of(state)
    for number in broker_rows.ids(state):
        every = [
            (topic.name, part.id, partitions.status(topic, part, ground)[0])
            for _, topic in sorted(state.topics.items())
            for part in summary.assigned(topic)
            if number in (part.replicas or ())
            or (isinstance(part.state, PartitionState) and part.state.leader == number)
        ]
        for status in ((), *((status,) for status in STATUSES)):
            found = broker_queries.select_replicas(state, number, Query(status=status, size=1000))
            wanted = [one for one in every if not status or one[2].value in status]
            assert [(row.topic, row.partition, row.status) for row in found.rows] == wanted[:1000]
            assert (found.total, found.matched) == (len(every), len(wanted))
            assert sum(found.counts.values()) == len(every)
            sorted_ = broker_queries.select_replicas(
                state, number, Query(sort="-topic", status=status, size=1000)
            )
            assert sorted((row.topic, row.partition, row.status.value) for row in sorted_.rows) == sorted(
                (topic, part, severity.value) for topic, part, severity in wanted
            )
            assert (sorted_.counts, sorted_.matched) == (found.counts, found.matched)
        load = broker_rows.broker(state, number).load
        for q, count in (
            ("role:leader", load.leaders),
            ("is:under-replicated", load.under_replicated),
            ("is:not-leading", load.unled),
        ):
            assert broker_queries.select_replicas(state, number, Query(q=q)).matched == count


@pytest.mark.parametrize("name", recorded.TREES)
def test_no_partition_is_worse_than_its_topic(name: str) -> None:
    state = small.built(recorded.load(name))
    ground = evaluator.ground_of(state)
    for topic_name, topic in state.topics.items():
        for part in summary.assigned(topic):
            severity, _ = partitions.status(topic, part, ground)
            assert severity.rank >= state.summaries[topic_name].severity.rank


def test_what_a_07_broker_holds_is_selected() -> None:
    root = "/brokers/topics"
    state = small.built(
        {"/brokers/ids/1": small.znode("h-1:h:9092")},
        {f"{root}/a": small.znode(None), f"{root}/a/1": small.znode("2"), f"{root}/a/0": small.znode("7")},
        {f"{root}/b": small.znode(None), f"{root}/b/1": small.znode("x")},
        {f"{root}/c": small.znode(None), f"{root}/c/0": small.znode("1")},
    )
    found = broker_queries.select_held(state, 1, Query())
    assert [(row.topic, row.status, row.path) for row in found.rows] == [
        ("a", Severity.OK, "/brokers/topics/a/1"),
        ("b", Severity.UNKNOWN, "/brokers/topics/b/1"),
    ]
    assert [row.topic for row in broker_queries.select_held(state, 1, Query(sort="-topic")).rows] == [
        "b",
        "a",
    ]
    assert [row.topic for row in broker_queries.select_held(state, 1, Query(q="status:ok")).rows] == ["a"]
    for sort in broker_queries.HELD_SORTS:
        assert broker_queries.select_held(state, 1, Query(sort=sort)).matched == 2
    row: BrokerRow = broker_rows.broker(state, 0)
    assert (row.words, row.load.partitions_07) == ("not registered", 8)
