"""The Timeline page, and the way to it from a topic, a broker and a group."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.history.writing import put
from tests.web import states
from tests.web.markup import Markup

URL = "/c/demo/timeline/"
TIME = 1_760_000_400_000


@pytest.fixture(autouse=True)
def history(tmp_path: Path, settings: Settings) -> Path:
    """Where the tables of the cluster demo lie; it is on the board."""
    settings.ZKDASH_HISTORY = tmp_path
    states.publish({**states.healthy(), **states.group("billing", {"billing_h-1-00000000": ["orders"]})})
    return tmp_path / "demo"


def said(at: int, **of: Any) -> dict[str, Any]:
    told = {"time": TIME + at, "zxid": at, "op_index": 0, "area": "topics", "path": "/brokers/topics/orders"}
    return {**told, "what": f"change {at}", "before": None, "after": "1, 2", **of}


def document(query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Client().get(f"{URL}?{query}&format=json").content)
    return found


def whats(query: str = "") -> list[str]:
    return [row["what"] for row in document(query)["rows"]]


def test_without_a_table_it_says_where_changes_come_from(history: Path) -> None:
    page = Markup(Client().get(URL))
    assert page.text("#recorded-rows") == "Nothing is recorded of this cluster yet."
    assert document()["recorded_up_to"] is None


def test_each_thing_has_its_changes_and_how_far_they_are_recorded_is_said(history: Path) -> None:
    put(history, "timeline", [said(1, topic="orders"), said(2, broker=1), said(3, group="billing")])
    assert whats("topic=orders") == ["change 1"]
    assert whats("broker=1") == ["change 2"]
    assert whats("group=billing") == ["change 3"]
    assert whats("topic=none") == []
    assert document("topic=orders")["recorded_up_to"] == "2025-10-09T09:00:00.003Z"
    page = Markup(Client().get(f"{URL}?topic=none"))
    assert page.text("#recorded-rows") == "Nothing of it changed in what is recorded."
    assert "Recorded up to 2025-10-09 09:00:00" in page.text("#recorded")


def test_older_ones_are_a_page_further_until_there_are_none(history: Path) -> None:
    put(history, "timeline", [said(at, topic="orders") for at in range(1, 121)])
    seen, address = [], f"{URL}?topic=orders"
    for _ in range(3):
        page = Markup(Client().get(address))
        seen += page.texts("#recorded-rows tr")
        older = [link for link in page.all("nav.pager a") if link.text == "Older"]
        address = older[0].get("href") if older else ""
    assert address == ""
    assert len(seen) == 120
    assert "change 120—" in seen[0]
    assert "change 1—" in seen[-1]


@pytest.mark.parametrize(
    ("address", "of"),
    [("topics/orders/", "topic=orders"), ("brokers/1/", "broker=1"), ("groups/billing/", "group=billing")],
)
def test_a_page_leads_to_the_timeline_of_what_it_is_about(address: str, of: str) -> None:
    page = Markup(Client().get(f"/c/demo/{address}"))
    (box,) = page.root.xpath("//*[@hx-get]")
    assert box.get("hx-get") == f"{URL}?{of}&most=20"
    (link,) = box.xpath(".//a")
    assert link.get("href") == f"{URL}?{of}"


def test_the_newest_part_is_short(history: Path) -> None:
    put(history, "timeline", [said(at, topic="orders") for at in range(1, 60)])
    assert len(whats("topic=orders&most=20")) == 20
    assert "most=" not in document("topic=orders&most=20")["older"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("broker=x", "“x” is no broker’s id."),
        ("before=9", "“9” is no place in the timeline"),
        ("most=9", "“9” is no length of this page"),
        ("q=1", "“q” is no parameter of this page."),
        ("&".join(f"a{at}=1" for at in range(30)), "none of them is read"),
    ],
)
def test_what_is_not_understood_is_said(query: str, said: str) -> None:
    assert said in document(query)["notes"][0]


@pytest.mark.parametrize("name", ["%00", "%ED%A0%80", "%3Cb%3E", "a'%20OR%20true--"])
def test_a_hostile_name_finds_nothing(history: Path, name: str) -> None:
    put(history, "timeline", [said(1, topic="orders")])
    assert whats(f"topic={name}") == []
    assert whats(f"group={name}") == []
