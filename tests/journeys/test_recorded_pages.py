"""Every page of recorded clusters, and of the hostile one, all served by one process.

One ZooKeeper holds them all, each tree under a chroot of its name: in every run those that represent what any
of them has, in full (`FULL=1`) all.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests import everywhere, recorded
from tests.fixtures import hostile, problems
from tests.serving import Answer, Served
from tests.web.markup import Markup
from zkdash.web import pages

pytestmark = pytest.mark.zk


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The trees as clusters of one process, loaded."""
    with everywhere.serving(tmp_path_factory.mktemp("recorded"), recorded.TRIED) as server:
        yield server


@pytest.mark.parametrize("tree", recorded.TRIED)
def test_every_page_answers_as_html_as_json_and_as_csv_without_a_secret(site: Served, tree: str) -> None:
    asked = list(everywhere.addresses(tree))
    assert len(asked) >= len([page for page in pages.PAGES if "<" not in page.route])
    for address in asked:
        whole = site.get(address)
        assert whole.status == 200, (address, whole.text[:300])
        assert Markup.of(whole.body).texts("h1"), address
        assert "<img" not in whole.text, address  # a name that is markup
        document = site.json(address + "?format=json")
        assert document["cluster"] == tree
        assert document["as_of"], address
        assert len(document["rows"]) <= document["total"]
        table = site.get(address + "?format=csv")
        assert table.status == 200, address
        assert len(_lines(table)) == 1 + len(document["rows"]), address
        assert hostile.CANARY not in whole.text + json.dumps(document) + table.text, address
    assert hostile.CANARY not in site.err.read_text()


def _lines(answer: Answer) -> list[list[str]]:
    return list(csv.reader(io.StringIO(answer.text, newline="")))


@pytest.mark.parametrize("tree", [tree for tree in recorded.TRIED if tree != recorded.HOSTILE])
def test_the_pages_count_what_the_raw_file_holds(site: Served, tree: str) -> None:
    counts = recorded.count(tree)
    numbers = site.json(f"/c/{tree}/?format=json")["numbers"]
    assert (numbers["brokers"], numbers["topics"], numbers["partitions"]) == counts[:3]
    topics = _all(site, tree, "topics")
    assert len(topics) == counts.topics
    assert sum(row["partitions"] for row in topics) == counts.partitions
    registered = [row for row in _all(site, tree, "brokers") if row["registered"] is not None]
    assert len(registered) == counts.brokers
    groups = _all(site, tree, "groups")
    assert len(groups) == counts.groups
    assert sum(row["owned"] for row in groups) == counts.owners
    assert sum(row["members"] for row in groups) == counts.members


@pytest.mark.parametrize("tree", recorded.TRIED)
def test_the_problems_are_exactly_the_reviewed_ones(site: Served, tree: str) -> None:
    expected = hostile.problems() if tree == recorded.HOSTILE else problems.PROBLEMS.get(tree, {})
    rows = _all(site, tree, "problems")
    assert {row["path"]: row["reason"] for row in rows} == expected
    assert len(rows) == len(expected)
    assert all(row["first_seen"] for row in rows)


def _all(site: Served, tree: str, page: str) -> list[dict[str, Any]]:
    document = site.json(f"/c/{tree}/{page}/?format=json&size=1000")
    assert document["total"] == len(document["rows"])
    rows: list[dict[str, Any]] = document["rows"]
    return rows


@pytest.mark.parametrize("tree", ["3.9.1-hand-reassign-invalid-json", "0.7.2-consumers", recorded.HOSTILE])
def test_a_query_that_makes_no_sense_falls_back_and_says_so(site: Served, tree: str) -> None:
    for address in everywhere.addresses(tree, most=1):
        answer = site.get(f"{address}?nonsense=%3Cb%3E&sort=%F0%9F%92%A9&page=x&size=7&status=%00")
        assert answer.status == 200, address
        assert Markup.of(answer.body).texts("p.note"), address
        assert site.json(f"{address}?nonsense=1&format=json")["notes"], address


def test_a_name_that_no_tree_holds_is_a_404_in_words(site: Served) -> None:
    for page in pages.PAGES:
        if "<" in page.route:
            # A session may own nothing and so be in no tree; none has the id 0.
            name = {"session": "0x0", "znodes": "/987654"}.get(page.name, "987654")
            address = everywhere.address(recorded.TRIED[0], page, name)
            answer = site.get(address)
            assert answer.status == 404, address
            assert Markup.of(answer.body).texts("p.problem"), address
