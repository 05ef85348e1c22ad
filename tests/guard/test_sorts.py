"""A sorted table makes no more calls than `pages.toml` says after a change, whatever the number of rows."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from bench import tree
from tests.cluster import small
from tests.guard.calls import calls
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables import topic_queries
from zkdash.cluster.tables.groups import queries as group_queries
from zkdash.cluster.tables.groups.queries import Known
from zkdash.cluster.tables.orders import Orders
from zkdash.cluster.tables.query import Query
from zkdash.web.frame import tables
from zkdash.web.groups import groups
from zkdash.web.topics import topics

LIMITS: Final = tomllib.loads(Path(__file__).with_name("pages.toml").read_text())["sort"]
SLACK: Final = 0.05
PARTITIONS: Final = 4


def _topics(state: ClusterState, orders: Orders) -> Any:
    keys = tables.keys(topics.COLUMNS)
    return topic_queries.select_topics(state, Query(sort="-changed"), keys, orders=orders)


def _groups(state: ClusterState, orders: Orders) -> Any:
    keys = tables.keys(groups.FIELDS)
    return group_queries.select_groups(Known(state, orders=orders), Query(sort="-rebalanced"), keys)


def _state() -> small.Tree:
    path = f"/brokers/topics/{tree.topic_name(7)}/partitions/1/state"
    return {path: tree.znode(tree.state(1, tree.replicas(7, 1), leader_epoch=99), zxid=9_999_999)}


def _owner() -> small.Tree:
    path = f"/consumers/group-0007/owners/{tree.topic_name(7)}/1"
    return {path: tree.znode(b"group-0007_host-1-00000000-0", zxid=9_999_999, owner=tree.SESSION)}


CASES: Final = {"topics": (_topics, _state), "groups": (_groups, _owner)}


@pytest.mark.parametrize("size", [200, 3_000])
@pytest.mark.parametrize("table", CASES)
def test_a_sort_that_is_carried_on_makes_so_many_calls(table: str, size: int) -> None:
    select, change = CASES[table]
    state = small.built(dict(tree.tree(topics=size, partitions=PARTITIONS, groups=size)))
    after, _ = small.step(state, change())

    def counted() -> int:
        orders = Orders()
        select(state, orders)
        return calls(lambda: select(after, orders))

    most = LIMITS[table]
    counted()
    count = counted()
    assert select(after, Orders()).rows[0] != select(state, Orders()).rows[0]
    assert count <= most, f"{table}: {count} calls, {most} at most: lower the cost, or raise it there"
    assert count >= most * (1 - SLACK), f"{table}: {count} calls, well below {most}: lower it there"
