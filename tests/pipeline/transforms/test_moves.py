"""Partitions that move, in the tables as on the live pages: told by the same rules."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql.pandas.types import from_arrow_schema

from zkdash.cluster.model import summary
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer.advance import advance
from zkdash.history.store import derived, schemas
from zkdash.kafka import paths
from zkdash.pipeline.transforms import events, partitions
from zkdash.znode import Batch, Stat, Znode

pytestmark = pytest.mark.spark

START = 1_795_000_000_000
CHANGES = (
    "zxid long, op_index int, time long, session long, type string, path string, data binary, "
    "ephemeral_owner long"
)
# (type, path, what it holds)
Told = tuple[str, str, Any]


def state(partition: int, leader: int, isr: list[int], kind: str = "setData") -> Told:
    fields = {"controller_epoch": 1, "leader": leader, "version": 1, "leader_epoch": 0, "isr": isr}
    return kind, paths.state("t", partition), fields


def topic(lists: dict[str, list[int]], kind: str = "setData", version: int = 1, **more: Any) -> Told:
    return kind, paths.topic("t"), {"version": version, "partitions": lists, **more}


def asked(*moves: tuple[int, list[int]], kind: str = "create") -> Told:
    entries = [{"topic": "t", "partition": number, "replicas": to} for number, to in moves]
    return kind, paths.REASSIGNMENT, {"version": 1, "partitions": entries}


BORN: list[Told] = [
    topic({"0": [1, 2, 3], "1": [2, 3, 1]}, "create"),
    state(0, 1, [1, 2, 3], "create"),
    state(1, 2, [2, 3, 1], "create"),
]
# As controllers up to 2.3 write it: while it runs, the list is that of old and new replicas together.
OF_1_1: list[Told] = [
    *BORN,
    asked((0, [4, 2, 3]), (1, [2, 3])),
    topic({"0": [4, 2, 3, 1], "1": [2, 3, 1]}),
    state(0, 2, [2, 3]),  # one of those that it had is lost
    state(0, 2, [2, 3, 1]),
    state(0, 2, [2, 3, 1, 4]),
    state(0, 4, [4, 2, 3]),
    topic({"0": [4, 2, 3], "1": [2, 3, 1]}),
    asked((1, [2, 3]), kind="setData"),
    state(1, 2, [2, 3]),
    topic({"0": [4, 2, 3], "1": [2, 3]}),
    ("delete", paths.REASSIGNMENT, None),
    state(0, 4, [4, 2]),
]
# Somebody takes the request away while the move runs: nothing tells of it any more.
TAKEN_AWAY: list[Told] = [*OF_1_1[:5], ("delete", paths.REASSIGNMENT, None)]
# From 2.4 on the topic itself tells which replicas are being added.
OF_2_4: list[Told] = [
    *BORN,
    topic(
        {"0": [4, 2, 3, 1], "1": [2, 3, 1]},
        version=2,
        adding_replicas={"0": [4]},
        removing_replicas={"0": [1]},
    ),
    state(0, 2, [2, 3]),
    state(0, 4, [4, 2, 3, 1]),
    topic({"0": [4, 2, 3], "1": [2, 3, 1]}, version=2, adding_replicas={}, removing_replicas={}),
]
STORIES = {"1.1": OF_1_1, "taken away": TAKEN_AWAY, "2.4": OF_2_4}


def data(held: Any) -> bytes | None:
    return None if held is None else json.dumps(held).encode()


def live(story: list[Told]) -> dict[tuple[int, int], bool]:
    """Whether the live pages had a partition as under-replicated after a transaction."""
    found, now = {}, ClusterState()
    for zxid, (kind, path, held) in enumerate(story, 1):
        stat = Stat(zxid, zxid, 0, 0, 0, 0, 0, 0, 0, 0, zxid)
        znode = None if kind == "delete" else Znode.of(data(held), stat)
        now, _ = advance(now, Batch({path: znode}, zxid))
        for part in now.topics["t"].partitions:
            if part.state is not None:
                found[part.id, zxid] = summary.is_under_replicated(now.topics["t"], part)
    return found


def told(rows: list[dict[str, Any]], last: int) -> dict[tuple[int, int], bool]:
    """The same from the intervals."""
    return {
        (row["partition"], zxid): row["is_under_replicated"]
        for row in rows
        for zxid in range(row["from_zxid"], row["to_zxid"] or last + 1)
    }


def derive(spark: Any, story: list[Told], cut: int) -> list[dict[str, Any]]:
    """The intervals, made in two pieces where `cut` is not 0."""
    columns = from_arrow_schema(derived.TABLES["partition_intervals"])
    rows = [
        (zxid, 0, START + zxid, 1, kind, path, data(held), 0)
        for zxid, (kind, path, held) in enumerate(story, 1)
    ]
    kept: dict[Any, dict[str, Any]] = {}
    held: list[Any] = []
    for piece in filter(None, (rows[:cut], rows[cut:])):
        carried = spark.createDataFrame(held, from_arrow_schema(schemas.HELD))
        before = carried.selectExpr("*", "'held' AS what")
        known = events.events(spark.createDataFrame(piece, CHANGES), before).persist()
        still = [
            tuple(row[name] for name in columns.names) for row in kept.values() if row["to_zxid"] is None
        ]
        made = partitions.partition_intervals(known, spark.createDataFrame(still, columns))
        kept |= {(row["partition"], row["from_zxid"]): row.asDict() for row in made.collect()}
        held = [tuple(row) for row in events.held(known).collect()]
    return list(kept.values())


@pytest.mark.parametrize("name", STORIES)
def test_what_moves_needs_as_many_in_sync_as_on_the_live_pages(spark: Any, name: str) -> None:
    story = STORIES[name]
    wanted = live(story)
    assert set(wanted.values()) == {True, False}
    found = told(derive(spark, story, 0), len(story))
    assert {key: found[key] for key in wanted} == wanted


def test_a_move_that_the_tables_were_made_in_the_middle_of_is_told_the_same(spark: Any) -> None:
    wanted = live(OF_1_1)
    for cut in (4, 6, 10):
        found = told(derive(spark, OF_1_1, cut), len(OF_1_1))
        assert {key: found[key] for key in wanted} == wanted, cut
