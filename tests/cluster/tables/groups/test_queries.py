"""Groups: their status, and which of them a query shows in which order."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import immutables
import pytest

from tests import recorded
from tests.cluster import small
from zkdash.cluster import checks
from zkdash.cluster.checks import Silence
from zkdash.cluster.model.brokers.kafka_groups import KafkaGroup, KafkaGroups
from zkdash.cluster.model.brokers.lags import GroupLag, Lags
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables.groups import queries as group_queries
from zkdash.cluster.tables.groups.queries import Known, LagKey
from zkdash.cluster.tables.groups.rows import GroupRow
from zkdash.cluster.tables.query import Keys, Query, Selection
from zkdash.znode import Unreadable

WILD = small.json_(version=1, subscription={"ord.*": 1}, pattern="white_list", timestamp="1")


_MINUS = "minus_host-1-00000000"


def _offset(group: str, value: bytes | str, topic: str = "orders", part: str = "0") -> small.Tree:
    return {f"/consumers/{group}/offsets/{topic}/{part}": small.znode(value)}


STATE = small.built(
    small.topic("orders", {0: [1], 1: [1]}),
    small.topic("audit", {0: [1]}),
    small.group("whole", {"whole_host-1-00000000": ["orders"]}, {"orders": [0, 1]}),
    small.group("short", {"short_host-1-00000000": ["orders", "audit"]}, {"orders": [0]}),
    small.group("Ghost", {}, {"audit": [0]}),
    small.group("wild", {}),
    {"/consumers/wild/ids/wild_host-1-00000000": WILD},
    small.group("dead", {}) | _offset("dead", "12"),
    small.group("empty", {}),
    small.group("torn", {}) | {"/consumers/torn/ids/c": small.znode("{")},
    small.group("minus", {_MINUS: ["audit"]}, {"audit": [0]}) | _offset("minus", "-3", "audit"),
    {"/consumers/shut/ids/c": Unreadable("no right to read it")},
)
_STORED_FIRST = ["dead", "minus", "Ghost", "empty", "short", "shut", "torn", "whole", "wild"]
KEYS: Keys[GroupRow] = {
    "status": lambda group: group.severity.rank,
    "name": lambda group: group.name,
    "owned": lambda group: group.owned,
    "unowned": lambda group: group.summary and group.summary.known_unowned,
    "stored": lambda group: not (group.summary and group.summary.stored),
}
CASES = [
    (Query(), ["short", "Ghost", "minus", "torn", "shut", "dead", "empty", "wild", "whole"]),
    (Query(q="GHO"), ["Ghost"]),
    (Query(q="status:warn"), ["Ghost", "minus", "torn"]),
    (Query(q="topic:aud"), ["short", "Ghost", "minus"]),
    (Query(q="topic:aud topic:ord"), ["short"]),
    (Query(q="is:unowned"), ["short"]),
    (Query(q="is:unregistered"), ["Ghost"]),
    (Query(q="is:bad-offset"), ["minus"]),
    (Query(q="is:wildcard"), ["wild"]),
    (Query(q="is:dead"), ["Ghost", "dead", "empty"]),
    (Query(q="is:happy"), []),
    (Query(status=("info", "ok")), ["dead", "empty", "wild", "whole"]),
    (Query(sort="name"), ["Ghost", "dead", "empty", "minus", "short", "shut", "torn", "whole", "wild"]),
    (Query(sort="-owned", q="w"), ["whole", "wild"]),
    (Query(sort="-unowned", status=("critical", "info")), ["short", "dead", "empty", "wild"]),
    (
        Query(sort="stored"),
        _STORED_FIRST,
    ),
]


@pytest.mark.parametrize(("query", "names"), CASES, ids=[repr(query)[6:-1] for query, _ in CASES])
def test_groups_are_selected(query: Query, names: list[str]) -> None:
    found = group_queries.select_groups(Known(STATE), query, KEYS)
    assert [row.name for row in found.rows] == names
    assert (found.total, found.matched, found.page, found.pages) == (9, len(names), 1, 1)


@pytest.mark.parametrize("sort", KEYS)
@pytest.mark.parametrize("falls", [False, True])
def test_every_column_sorts_all_groups(sort: str, falls: bool) -> None:
    rows = group_queries.select_groups(Known(STATE), Query(sort=f"-{sort}" if falls else sort), KEYS).rows
    assert sorted(row.name for row in rows) == sorted(STATE.groups)


def _made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the rows that are made from now on."""
    made: list[str] = []

    def row(name: str, *fields: Any) -> GroupRow:
        made.append(name)
        return GroupRow(name, *fields)

    monkeypatch.setattr(group_queries, "GroupRow", row)
    return made


def test_a_sort_by_lag_is_that_of_rows_and_makes_those_of_the_page_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where several lags are alike, unknown or of nobody that ZooKeeper holds."""
    numbers = range(60)
    trees = [small.group(f"g{number:02}", {}) | _offset(f"g{number:02}", "1") for number in numbers]
    state = small.built(*trees, small.group("torn", {}) | {"/consumers/torn/ids/c": small.znode("{")})
    modern = {name: KafkaGroup(name, "Stable") for name in ("modern", "g00")}
    found = {f"g{number:02}": GroupLag(number % 7 or None) for number in numbers} | {"modern": GroupLag(5)}
    known = Known(
        state, KafkaGroups.of(immutables.Map(modern), state.groups), Lags(groups=immutables.Map(found))
    )
    made = _made(monkeypatch)

    def select(query: Query, key: Callable[[GroupRow], Any]) -> Selection[GroupRow]:
        made.clear()
        return group_queries.select_groups(known, query, {"lag": key})

    for query in (Query(sort="lag"), Query(sort="-lag", page=2), Query(sort="-lag", status=("info", "ok"))):
        by_lag = select(query, LagKey(lambda lag: lag.lag))
        assert made == [chosen.name for chosen in by_lag.rows]
        assert by_lag == select(query, lambda row: row.lag.lag)


def test_a_filter_of_lags_makes_rows_of_those_alone_that_are_so_far_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = immutables.Map(
        {"whole": GroupLag(2_000, least=2_000, as_of=1.0), "short": GroupLag(5, as_of=1.0)}
    )
    made = _made(monkeypatch)
    chosen = group_queries.select_groups(Known(STATE, lags=Lags(groups=found)), Query(q="lag:>1000 hol"))
    assert [row.name for row in chosen.rows] == made == ["whole"]
    assert chosen.total == len(STATE.groups)


def test_each_status_says_why() -> None:
    rows = group_queries.select_groups(Known(STATE), Query()).rows
    assert {row.name: (row.severity, row.words) for row in rows} == {
        "short": (Severity.CRITICAL, "2 unowned"),
        "Ghost": (Severity.WARNING, "1 owner not registered, no members"),
        "minus": (Severity.WARNING, "1 bad offset"),
        "torn": (Severity.WARNING, "1 unparsable, only members"),
        "shut": (Severity.UNKNOWN, "1 unreadable, only members"),
        "dead": (Severity.INFO, "only offsets"),
        "empty": (Severity.INFO, "empty"),
        "wild": (Severity.INFO, "only members"),
        "whole": (Severity.OK, "ok"),
    }


def test_what_a_pattern_leaves_open_is_not_a_number() -> None:
    (row,) = group_queries.select_groups(Known(STATE), Query(q="wild")).rows
    assert row.summary is not None
    assert (row.summary.known_expected, row.summary.known_unowned, row.owned) == (None, None, 0)


def test_a_groups_row() -> None:
    (row,) = group_queries.select_groups(Known(STATE), Query(q="short")).rows
    owner = STATE.groups["short"].owners["orders"]["0"].znode
    assert owner is not None
    assert (row.members, sorted(row.topics)) == (1, ["audit", "orders"])
    assert row.summary is not None
    assert (row.owned, row.summary.known_expected, row.summary.known_unowned) == (1, 3, 2)
    assert (row.summary.stored, row.summary.rebalanced) == (False, owner.ctime)


def test_an_offset_that_goes_bad_shows_though_its_group_is_not_summed_up_for_others() -> None:
    state = small.built(small.topic("orders", {0: [1]}), small.group("g", {}), _offset("g", "1"))
    for value, words in (("2", "only offsets"), ("x", "1 bad offset, only offsets"), ("3", "only offsets")):
        state, _ = small.step(state, _offset("g", value))
        assert state.group_summaries["g"].words == words
    state, _ = small.step(state, _offset("g", "-1", part="1"), _offset("g", "y"))
    assert state.group_summaries["g"].bad_offsets == 2
    state, _ = small.step(state, small.gone("/consumers/g/offsets/orders/1"), _offset("g", "4"))
    assert state.groups["g"].bad_offsets == 0


def test_the_finding_about_owners_lists_just_the_groups_that_it_counts() -> None:
    (check,) = [check for check in checks.CHECKS if check.id == "D40"]
    assert (check.page, check.query) == ("groups", "q=is%3Aunowned")
    found = group_queries.select_groups(Known(STATE), Query(q="is:unowned"))
    causes = check.causes(checks.CheckContext(STATE))
    assert not isinstance(causes, Silence)
    assert {row.name: row.summary and row.summary.known_unowned for row in found.rows} == {
        name: cause.count for name, cause in causes.items()
    }


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_the_rows_of_a_recorded_cluster_count_what_its_file_holds(name: str) -> None:
    state, tree = small.built(recorded.load(name)), recorded.raw(name)
    rows = group_queries.select_groups(Known(state), Query(size=1000)).rows
    below = recorded.children(tree)
    assert sorted(row.name for row in rows) == below.get("/consumers", [])
    for row in rows:
        root = f"/consumers/{row.name}"
        owned = below.get(f"{root}/owners", [])
        kept = [topic for topic in below.get(f"{root}/offsets", []) if below[f"{root}/offsets/{topic}"]]
        assert row.members == len(below.get(f"{root}/ids", []))
        assert row.owned == sum(len(below[f"{root}/owners/{topic}"]) for topic in owned)
        assert row.summary is not None
        assert row.summary.stored == bool(kept)
        times = [
            tree[f"{root}/owners/{topic}/{part}"]["stat"]["ctime"]
            for topic in owned
            for part in below[f"{root}/owners/{topic}"]
        ]
        assert row.summary.rebalanced == max(times, default=0)
        assert row.summary.known_expected == _expected(tree, below, root)


def _expected(tree: dict[str, Any], below: dict[str, list[str]], root: str) -> int | None:
    """The partitions of the topics that the members name, straight from the file."""
    names: set[str] = set()
    for member in below.get(f"{root}/ids", []):
        text = tree[f"{root}/ids/{member}"]["text"]
        if text[0] in "*!":
            return None
        found = json.loads(text)
        if found.get("pattern", "static") != "static":
            return None
        names.update(found.get("subscription", found))
    total = 0
    for topic in names:
        path = f"/brokers/topics/{topic}"
        if path not in tree or f"/admin/delete_topics/{topic}" in tree:
            continue
        text = tree[path].get("text")
        total += len(json.loads(text)["partitions"]) if text else 0
        total += sum(int(tree[f"{path}/{child}"]["text"]) for child in below[path] if child.isdigit())
    return total
