"""The Trends page, on real tables, as a person and as a program get it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.history.writing import MANIFESTS, MINUTE, put, read, spoil
from tests.lab.s3 import Bucket
from tests.web import states
from tests.web.drawing import reading
from tests.web.markup import Markup
from zkdash.history.places.location import Remote
from zkdash.history.store.tables import QueryError, Tables
from zkdash.web.history import recorded

START = 1_760_000_400_000 - 1_760_000_400_000 % (60 * MINUTE)
URL = "/c/demo/trends/"
NINE = "from=2025-10-09T09:00Z&to=2025-10-09T09:05Z"
HOSTILE = "<script>alert(1)</script>\u202e\"'{{ 7 }}"


@pytest.fixture
def history(tmp_path: Path, settings: Settings) -> Path:
    """Where the tables of the cluster demo lie; it is on the board."""
    settings.ZKDASH_HISTORY = tmp_path
    states.publish(states.healthy())
    return tmp_path / "demo"


@pytest.fixture
def told(history: Path) -> Path:
    """Five minutes in which a leader changed twice, and nothing was read of the last one."""
    read(history, START, START + 3 * MINUTE)
    put(history, "leader_churn", [{"minute": START + MINUTE, "topic": HOSTILE, "changes": 2}])
    return history


def document(query: str = NINE) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Client().get(f"{URL}?{query}&format=json").content)
    return found


def markup(query: str = NINE) -> Markup:
    response = Client().get(f"{URL}?{query}")
    assert response.status_code == 200
    return Markup(response)


def test_without_tables_the_page_says_so_and_where_they_come_from(history: Path) -> None:
    page = markup("")
    assert page.text("main h2") == "There are no charts of this cluster yet"
    assert "ZKDASH_CONFIG" in page.text("main .card")
    assert page.texts("main .chart") == page.texts("main table") == []


def test_every_number_is_in_json_and_unknown_is_no_zero(told: Path) -> None:
    found = document()
    churn = [row for row in found["rows"] if row["chart"] == "leader-churn" and row["line"] == HOSTILE]
    assert [row["value"] for row in churn] == [0, 2, 0, 0, None]
    assert churn[1]["at"] == "2025-10-09T09:01:00.000Z"
    assert churn[1]["unit"] == "changes in a minute"
    assert "value_reason" in churn[4]
    assert "value_reason" not in churn[3]
    assert found["known"] == [{"from": "2025-10-09T09:00:00.000Z", "to": "2025-10-09T09:03:00.000Z"}]
    assert found["hot_paths"] == [{"prefix": "/a", "writes": 4, "bytes": 40}]
    assert (found["step_s"], found["writes"]) == (60, 4)


def test_of_tables_in_an_object_store_the_page_tells_the_same_and_of_one_that_is_gone_why(
    told: Path, settings: Settings, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = document()
    settings.ZKDASH_HISTORY = root = bucket.fresh()
    assert document()["rows"] == []
    read(root / "demo", START, START + 3 * MINUTE)
    put(root / "demo", "leader_churn", [{"minute": START + MINUTE, "topic": HOSTILE, "changes": 2}])
    assert document() | {"as_of": 0} == here | {"as_of": 0}
    settings.ZKDASH_HISTORY = Remote(
        f"{root.url}-gone", root.beside, root.options | {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}
    )
    page = markup()
    assert "What was recorded cannot be read: " in page.text("main")
    assert "see that the store answers" in page.text("main")
    assert root.options["AWS_SECRET_ACCESS_KEY"] not in page.text("html")
    settings.ZKDASH_HISTORY = bucket.fresh()
    monkeypatch.setattr(recorded, "LIMIT_S", 0.5)
    with bucket.hung():
        assert "did not answer within 0.5 s" in markup().text("main")


def test_the_picture_the_numbers_and_what_a_script_reads_say_the_same(told: Path) -> None:
    page = markup()
    cells = page.root.xpath("//h2[@id='leader-churn']/..//details//tr[@data-at]/td[2]")
    assert [cell.get("data-value") for cell in cells] == ["0", "2", "0", "0", ""]
    assert [cell.text for cell in cells] == ["0", "2", "0", "0", "unknown"]
    (picture,) = page.root.xpath("//h2[@id='leader-churn']/..//svg[@role='img']")
    (line,) = picture.xpath("path[@class='line-2']")
    assert reading.points(line, 5, float(picture.get("data-top"))) == [0, 2, 0, 0, None]
    assert picture.get("aria-label").endswith("from 0 to 2, last 0; not known in 1 of 5 steps")


def test_a_name_of_somebody_runs_nowhere(told: Path) -> None:
    body = Client().get(f"{URL}?{NINE}").content.decode()
    assert "<script>alert" not in body
    assert "&lt;script&gt;alert" in body


def test_the_csv_has_a_line_for_each_number(told: Path) -> None:
    lines = Client().get(f"{URL}?{NINE}&format=csv").content.decode().splitlines()
    assert lines[0] == "chart,line,unit,at,value,value_reason"
    assert len(lines) == document()["total"] + 1


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("last=2h", "“2h” is no span of time; there are 1h, 6h, 1d, 7d, 30d."),
        ("from=x&to=y", "“x” to “y” is not a time to look at"),
        ("from=2025-10-09T09:00Z&to=2025-10-09T09:00Z", "is not a time to look at"),
        ("from=2001-10-09&to=2025-10-09", "is not a time to look at"),
        ("to=2025-10-09", "The parameter “to” needs a “from”."),
        ("sort=x", "“sort” is not a parameter of this page."),
        ("&".join(f"a{at}=1" for at in range(30)), "none of them is read"),
    ],
)
def test_what_is_not_understood_is_said(history: Path, query: str, said: str) -> None:
    (note, *_) = document(query)["notes"]
    assert said in note


@pytest.mark.parametrize(
    ("last", "step_s"), [("1h", 60), ("6h", 300), ("1d", 900), ("7d", 3600), ("30d", 21600)]
)
def test_the_last_hours_and_days_can_be_chosen(history: Path, last: str, step_s: int) -> None:
    assert document(f"last={last}")["step_s"] == step_s
    assert markup(f"last={last}").texts("a[@aria-current='true']") == [f"last {last}"]


def test_all_that_is_recorded_is_one_link_away(told: Path) -> None:
    (link,) = [a for a in markup("").all("form a") if a.text == "all that is recorded"]
    assert link.get("href") == "?from=2025-10-09T09%3A00Z&to=2025-10-09T09%3A04Z"
    assert document(link.get("href")[1:])["writes"] == 4


def test_an_answer_is_remembered_until_a_table_changes(told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = document()
    with monkeypatch.context() as patched:
        patched.setattr(Tables, "query", _fails)
        assert document()["rows"] == before["rows"]
    put(told, "leader_churn", [{"minute": START, "topic": "orders", "changes": 9}])
    assert document()["rows"] != before["rows"]


def test_a_page_that_a_browser_has_is_not_sent_again_until_a_table_changes(told: Path) -> None:
    etag = Client().get(f"{URL}?{NINE}")["ETag"]
    assert Client().get(f"{URL}?{NINE}", headers={"If-None-Match": etag}).status_code == 304
    put(told, "leader_churn", [{"minute": START, "topic": "orders", "changes": 9}])
    assert Client().get(f"{URL}?{NINE}", headers={"If-None-Match": etag}).status_code == 200


def _fails(*_: object) -> None:
    raise QueryError("the query took longer than 8 s: ask for less of it")


def test_a_question_that_fails_is_a_sentence_on_the_page(told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tables, "query", _fails)
    assert "took longer than 8 s: ask for less of it" in markup().text("p.problem")
    assert "took longer" in document()["error"]


def test_a_damaged_table_is_a_sentence_on_the_page(told: Path) -> None:
    for path in (told / "hot_paths" / "data").rglob("*.parquet"):
        path.write_bytes(b"no Parquet at all")
    assert "What was recorded cannot be read" in markup().text("p.problem")
    spoil(told, "covered_times")
    assert "restore it" in markup().text("p.problem")


def test_tables_of_an_earlier_release_are_told_with_what_to_run(history: Path) -> None:
    shutil.copytree(MANIFESTS / "shop", history)
    assert "run `zkdash pipeline convert --cluster demo`" in markup().text("p.problem")


def test_who_comes_while_others_ask_much_is_told_so(told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Taken:
        def acquire(self, timeout: float) -> bool:
            return False

    monkeypatch.setattr(recorded, "_turns", Taken())
    assert "others are asking much" in markup().text("p.problem")
