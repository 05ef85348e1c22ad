"""A report, saved from a real `serve` and read by itself: whole, without a script, of these two moments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from lxml import html

from tests.conftest import Chroot
from tests.live.past import story
from tests.live.past.story import Dump
from tests.serving import Served

pytestmark = pytest.mark.zk

CLUSTER: Final = "default"
HOME: Final = f"/c/{CLUSTER}/"
Told = tuple[Served, list[Dump]]


@pytest.fixture(scope="module")
def told(shared_chroot: Chroot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    with story.served(shared_chroot, tmp_path_factory.mktemp("report"), CLUSTER) as (server, dumps):
        yield server, dumps


def moments(told: Told) -> str:
    zxids = {dump.name: dump.zxid for dump in told[1]}
    return f"from=zxid:{zxids['group came']}&at=zxid:{zxids['elected anew']}"


def saved(told: Told, more: str = "") -> Any:
    answer = told[0].get(f"{HOME}report/?{moments(told)}{more}")
    assert answer.status == 200
    assert re.fullmatch(
        rf'attachment; filename="{CLUSTER}-20[-\dT]+Z\.html"', answer.headers["content-disposition"]
    )
    return html.fromstring(answer.text)


def test_it_tells_what_its_pages_tell(told: Told) -> None:
    report = saved(told)
    words = report.text_content()
    page = json.loads(told[0].get(f"{HOME}differences/?{moments(told)}&format=json").body)
    rows = report.xpath("//*[@id='differences-rows']/tr")
    assert len(rows) == page["total"] == 5
    for row, shown in zip(page["rows"], rows, strict=True):
        assert row["what"] in shown.text_content()
    assert "Broker 2 is gone" in words
    assert report.xpath("//svg[contains(@class, 'changes')]//rect[@class='flag gone']")
    assert re.search(r"from 20[-\d]+ [:\d]+ to 20[-\d]+ [:\d]+ UTC", words)


def test_it_needs_no_script_and_nothing_from_elsewhere(told: Told) -> None:
    report = saved(told)
    assert not report.xpath("//script | //link | //img | //form | //iframe")
    (styles,) = report.xpath("//style/text()")
    assert "--info" in styles
    assert "url(" not in styles
    assert report.xpath("//base/@href") == [f"{told[0].address}{HOME}differences/"]
    hrefs = report.xpath("//a/@href")
    assert hrefs
    assert all(href.startswith(("/c/", "?from=")) for href in hrefs)


def test_a_note_stands_above_it_as_text(told: Told) -> None:
    report = saved(told, "&note=<script>alert(1)</script>%20Thursday")
    assert not report.xpath("//script")
    assert "<script>alert(1)</script> Thursday" in report.xpath("//main/p")[0].text_content()
    assert "x" * 4000 in saved(told, f"&note={'x' * 4001}").xpath("//main/p")[0].text_content()
    assert "x" * 4001 not in saved(told, f"&note={'x' * 4001}").text_content()


def test_without_two_moments_it_asks_for_them(told: Told) -> None:
    answer = told[0].get(f"{HOME}report/?at=-15m", Accept="application/json")
    assert answer.status == 400
    assert "from=… and at=…" in json.loads(answer.body)["error"]


def test_the_page_of_differences_leads_to_it(told: Told) -> None:
    page = html.fromstring(told[0].get(f"{HOME}differences/?{moments(told)}").text)
    (form,) = page.xpath("//form[@aria-label='Report']")
    fields = {field.get("name"): field.get("value") for field in form.xpath(".//input")}
    assert form.get("action") == f"{HOME}report/"
    assert fields["from"] in moments(told)
    assert int(fields["at"].removeprefix("zxid:"), 0) == int(moments(told).rpartition(":")[2])
