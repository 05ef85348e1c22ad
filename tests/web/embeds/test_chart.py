"""One chart of Trends in a frame: a picture that needs no script, of real tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.history.writing import MINUTE, put, read, spoil
from tests.web.drawing import reading
from tests.web.embeds.conftest import Give
from tests.web.markup import Markup
from zkdash import live
from zkdash.history.queries import trends
from zkdash.web.serving import embeddable

START = 1_760_000_400_000 - 1_760_000_400_000 % (60 * MINUTE)
NINE = "from=2025-10-09T09%3A00Z&to=2025-10-09T09%3A05Z"
HOSTILE = "<script>alert(1)</script>\u202e\"'{{ 7 }}"
HOME = "/c/demo/trends/"


@pytest.fixture(autouse=True)
def history(tmp_path: Path, settings: Settings) -> Path:
    """Five minutes in which a leader changed twice, and nothing was read of the last one."""
    settings.ZKDASH_HISTORY = tmp_path
    below = tmp_path / "demo"
    read(below, START, START + 3 * MINUTE)
    put(below, "leader_churn", [{"minute": START + MINUTE, "topic": HOSTILE, "changes": 2}])
    return below


def framed(client: Client, token: str) -> Markup:
    answer = client.get(f"/embed/{token}/")
    assert answer.status_code == 200
    return Markup(answer)


def test_it_is_a_picture_with_its_numbers_in_words_and_no_script_is_needed(
    client: Client, give: Give
) -> None:
    page = framed(client, give("chart", "leader-churn", query=NINE))
    assert page.text("h1") == "Leader changes changes in a minute"
    [picture] = page.root.xpath("//figure//svg[@role='img']")
    assert picture.get("aria-label").endswith("from 0 to 2, last 0; not known in 1 of 5 steps")
    lines = [reading.points(path, 5, 2) for path in picture.xpath("path")]
    assert lines == [[0, 2, 0, 0, None]] * 2  # of all topics, and of the only one
    assert page.texts("figcaption span") == ["2025-10-09 09:00 UTC", "2025-10-09 09:05 UTC"]
    assert page.root.xpath("//tbody/tr[2]/td/text()") == ["0", "2", "0"]
    assert page.root.xpath("//tbody//bdi/text()")[1] == HOSTILE
    assert not page.root.xpath("//main//script | //canvas | //@style")


def test_links_lead_to_the_same_time_in_trends(client: Client, give: Give) -> None:
    page = framed(client, give("chart", "lag", query=NINE))
    assert page.root.xpath("//base/@href") == [f"{HOME}?{NINE}"]
    assert page.root.xpath("//footer/a/@href") == [f"{HOME}?{NINE}"]


def test_a_span_up_to_now_is_read_again_every_minute_and_one_with_ends_is_not(
    client: Client, give: Give
) -> None:
    again = "//body/@data-again"
    assert framed(client, give("chart", "writes", query="last=6h")).root.xpath(again) == ["60"]
    assert framed(client, give("chart", "writes")).root.xpath(again) == ["60"]
    assert framed(client, give("chart", "writes", query=NINE)).root.xpath(again) == []


def test_what_is_not_recorded_is_said_and_is_no_zero(
    client: Client, give: Give, history: Path, settings: Settings
) -> None:
    missing = framed(client, give("chart", "lag", query=NINE)).text("main")
    assert "Lag is unknown: ZooKeeper holds no log ends" in missing
    settings.ZKDASH_HISTORY = history / "nothing"
    assert "There are no charts of this cluster yet." in framed(client, give("chart", "lag")).text("main")
    spoil(history, "leader_churn")
    settings.ZKDASH_HISTORY = history.parent
    assert "cannot be read" in framed(client, give("chart", "lag", query=NINE)).text("main")


def test_the_form_offers_every_chart_with_the_times_of_trends() -> None:
    snapshot = live.current("demo")
    assert snapshot is not None
    state = snapshot.state
    offered = dict(embeddable.CHOICES)["One chart"]
    assert [choice for choice, _ in offered] == [f"chart:{name}" for name in trends.TITLES]
    view = embeddable.view("demo", "chart:lag", "", "?last=6h", state)
    assert (view.page, view.args, view.query) == ("chart", ("lag",), "last=6h")
    assert embeddable.words(view) == "One chart: Lag"
    for wrong in ("q=orders", "last=2y", "from=x&to=y"):
        with pytest.raises(embeddable.ViewError) as refusal:
            embeddable.view("demo", "chart:lag", "", wrong, state)
        assert refusal.value.about == "query"
    with pytest.raises(embeddable.ViewError):
        embeddable.view("demo", "chart:none", "", "", state)


def test_who_asks_often_asks_the_tables_once(
    client: Client, give: Give, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = give("chart", "leader-churn", query=NINE)
    framed(client, token)
    monkeypatch.setattr(trends, "look", None)
    assert "2025-10-09 09:05 UTC" in framed(client, token).text("figure")
