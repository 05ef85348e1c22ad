"""The pages of derived tables, on real tables, as a person and as a program get them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.history.writing import MINUTE, put
from tests.web import states
from tests.web.markup import Markup
from zkdash.history.store import derived_columns
from zkdash.web.history import table

START = 1_760_000_400_000  # 2025-10-09T09:00Z
NINE = "from=2025-10-09T09:00Z&to=2025-10-09T10:00Z"
HOSTILE = "<script>alert(1)</script>\u202e\"'{{ 7 }}"


@pytest.fixture
def history(tmp_path: Path, settings: Settings) -> Path:
    """Where the tables of the cluster demo lie."""
    settings.ZKDASH_HISTORY = tmp_path
    states.publish(states.healthy())
    return tmp_path / "demo"


def document(name: str, query: str = NINE) -> dict[str, Any]:
    answer = Client().get(f"/c/demo/tables/{name}/?{query}&format=json")
    assert answer.status_code == 200
    found: dict[str, Any] = json.loads(answer.content)
    return found


def markup(name: str, query: str = NINE) -> Markup:
    answer = Client().get(f"/c/demo/tables/{name}/?{query}")
    assert answer.status_code == 200
    return Markup(answer)


def test_a_row_is_shown_with_its_links_its_times_and_what_it_lacks(history: Path) -> None:
    intervals = {"topic": HOSTILE, "partition": 3, "from_ms": START + MINUTE, "from_zxid": 0x1F}
    broken = {"leader": -1, "isr": [], "replicas": [2, 1], "is_offline": True}
    put(history, "partition_intervals", [{**intervals, **broken, "to_ms": START + 2 * MINUTE}])
    put(history, "partition_intervals", [{**intervals, "from_ms": START, "to_ms": START + MINUTE}])
    page = markup("partition_intervals")
    assert page.all("script[not(@src)]") == []
    assert page.texts("#table-rows th bdi") == [HOSTILE, HOSTILE]
    newest, older = document("partition_intervals")["rows"]
    assert newest["from"] == "2025-10-09T09:01:00.000Z"
    assert (newest["partition"], newest["leader"], newest["replicas"]) == (3, -1, [2, 1])
    assert (newest["from_zxid"], newest["is_offline"]) == ("0x1f", "yes")
    assert (older["leader"], older["leader_reason"]) == (None, "where the state did not parse")
    assert older["replicas_reason"] == "if unknown"
    # Three ways of having no value, as everywhere.
    missing = {cell.text_content(): cell.get("title") for cell in page.all("#table-rows .missing span")}
    assert missing["?"] == "where the state did not parse"
    assert "unknown" in missing["unknown"]
    assert missing["—"] == "while it lasts"


def test_rows_are_chosen_by_name_and_what_is_no_name_is_said(history: Path) -> None:
    sessions = [
        {"broker": broker, "session": 0x100 + broker, "host": f"h{broker}", "from_ms": START, "to_ms": None}
        for broker in (1, 2, 3)
    ]
    put(history, "broker_sessions", sessions)
    assert [row["host"] for row in document("broker_sessions")["rows"]] == ["h1", "h2", "h3"]
    assert [row["host"] for row in document("broker_sessions", f"{NINE}&broker=2")["rows"]] == ["h2"]
    (row,) = document("broker_sessions", f"{NINE}&session=0x103")["rows"]
    assert (row["broker"], row["session"]) == (3, "0x103")
    assert document("broker_sessions", f"{NINE}&session=0x103&broker=1")["rows"] == []
    for query, note in (("broker=x", "“x” is no broker"), ("session=7", "“7” is no session")):
        page = markup("broker_sessions", f"{NINE}&{query}")
        assert note in page.text("body")
        assert len(page.all("#table-rows tr")) == 3


def test_a_page_leads_to_the_next_with_what_was_asked_for(history: Path) -> None:
    samples = [{"topic": "orders", "part": "0", "time": START + n, "log_end": n} for n in range(120)]
    put(history, "log_ends", samples)
    page = markup("log_ends", f"{NINE}&topic=orders")
    assert page.text("#showing") == "Showing 50 of 120 rows"
    (following,) = page.all("a[@rel='next']")
    again = Markup(Client().get("/c/demo/tables/log_ends/" + following.get("href", "")))
    assert again.text("#pager span") == "page 2 of 3"
    assert "topic=orders" in again.all("a[@rel='next']")[0].get("href", "")
    found = document("log_ends", f"{NINE}&size=200")
    assert (len(found["rows"]), found["total"], found["table"]) == (120, 120, "log_ends")
    text = Client().get(f"/c/demo/tables/log_ends/?{NINE}&size=1000&format=csv").content.decode()
    assert len(text.splitlines()) == 121


@pytest.mark.parametrize("name", table.TABLES)
def test_every_table_has_a_page_that_tells_its_columns(history: Path, name: str) -> None:
    page = markup(name)
    assert page.texts("main details dt") == [column.name for column in derived_columns.COLUMNS[name]]
    assert page.text("#table-rows") == "No row of this time, and of these names, is recorded."
    assert document(name)["rows"] == []
    assert {column.name for column in table.COLUMNS[name]} == {
        column.name.removesuffix("_ms") for column in derived_columns.COLUMNS[name]
    }


def test_what_is_no_table_is_not_found(history: Path) -> None:
    answer = Client().get("/c/demo/tables/timeline/")
    assert answer.status_code == 404
    assert "“timeline” is no derived table; there are" in answer.content.decode()


def test_a_table_that_cannot_be_read_says_so(history: Path) -> None:
    put(history, "idle_groups", [{"group": "billing"}])
    for file in history.rglob("*.parquet"):
        file.unlink()
    page = markup("idle_groups")
    assert "What was recorded cannot be read" in page.text("main *[@role='alert']")
    assert document("idle_groups")["error"].startswith("What was recorded cannot be read")
