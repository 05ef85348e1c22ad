"""Columns of lists: each sorts by what it shows, and only where a layout can fill it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.test import Client

from tests.web import states
from zkdash.cluster.model.severity import Severity
from zkdash.kafka.values import Layout
from zkdash.web.brokers import brokers
from zkdash.web.checks import problems
from zkdash.web.configs import configs
from zkdash.web.frame import cells, tables
from zkdash.web.frame.tables import ListColumn
from zkdash.web.groups import groups
from zkdash.web.topics import topics

LISTS: dict[str, Sequence[ListColumn[Any]]] = {
    "topics": topics.COLUMNS,
    "brokers": tables.of_layout(brokers.COLUMNS, Layout.V08),
    "groups": groups.COLUMNS,
    "problems": problems.COLUMNS,
    "configs": configs.COLUMNS,
}
SORTS = [(page, column.name) for page, columns in LISTS.items() for column in columns if column.is_sortable]
# What is shown of these stands in another order: the worst, the controller first; ids are hexadecimal.
_ORDERS: dict[str, Callable[[Any], Any]] = {
    "status": lambda word: Severity(word).rank,
    "controller": lambda holds: not holds,
    "session": lambda shown: int(shown, 16),
    "settings": len,
}


def _tree() -> states.Tree:
    """Topics, brokers and groups of which some lack each of what others have."""
    return {
        **states.sick(),
        **states.topic("empty", {}, config={"retention.ms": "1", "cleanup.policy": "compact"}),
        "/config/topics/torn": states.znode("{"),
        "/brokers/topics/torn": states.znode("{"),
        "/brokers/ids/7": states.znode("{"),
        **states.group("billing", {"billing_h-1-00000000": ["payments"]}, owners={"payments": [0, 1]}),
        **states.group("audit", {"audit_h-1-00000000": ["orders"]}, owners={"orders": [0]}),
        **states.group("mirror", {"mirror_h-1-00000000": ["ord.*"]}, pattern="white_list"),
        **states.group("old", {}, offsets={"clicks": {0: 12}}),
    }


@pytest.mark.parametrize(("page", "name"), SORTS)
@pytest.mark.parametrize("falls", [False, True])
def test_a_column_sorts_by_what_it_shows(client: Client, page: str, name: str, falls: bool) -> None:
    states.publish(_tree())
    every, found = (
        json.loads(client.get(f"/c/demo/{page}/", {"format": "json", **query}).content)["rows"]
        for query in ({}, {"sort": f"-{name}" if falls else name})
    )
    assert sorted(map(str, found)) == sorted(map(str, every))
    known = [row[name] for row in found if row[name] is not None]
    if not (name == "in_zookeeper" and falls):  # where not being there is the value
        assert [row[name] for row in found[: len(known)]] == known
    assert known == sorted(known, key=_ORDERS.get(name), reverse=falls)


def test_a_column_of_a_list_says_what_it_sorts_by() -> None:
    with pytest.raises(TypeError, match="'size' has a key where it sorts"):
        ListColumn[str]("size", "Size", lambda one: cells.Text(one[1]))
    with pytest.raises(TypeError, match="'size' has a key where it sorts"):
        ListColumn[str]("size", "Size", lambda one: cells.Text(one[1]), is_sortable=False, key=len)


def test_what_a_layout_cannot_fill_is_neither_a_column_nor_a_key() -> None:
    def named(name: str, layouts: frozenset[Layout]) -> ListColumn[str]:
        return ListColumn(name, name, lambda one: cells.Text(one[1]), key=len, layouts=layouts)

    columns = (
        named("every", tables.EVERY_LAYOUT),
        named("new", tables.FROM_08),
        named("old", tables.ONLY_07),
    )
    found = {layout: [*tables.keys(tables.of_layout(columns, layout))] for layout in Layout}
    assert found == {
        Layout.V07: ["every", "old"],
        Layout.V08: ["every", "new"],
        Layout.MIXED: ["every", "new", "old"],
        Layout.NONE: ["every", "new"],
    }
