from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone
from lxml import etree

from tests.web import states
from tests.web.embeds.conftest import Give
from zkdash.access.embeds import View
from zkdash.access.models import Embed
from zkdash.cluster.model.findings import Finding
from zkdash.cluster.model.severity import Severity
from zkdash.web.embeds import badges
from zkdash.zk.connection.session import Phase

GREEN = "#176b34"
SVG = "{http://www.w3.org/2000/svg}"


def finding(check: str, count: int, severity: Severity = Severity.CRITICAL) -> Finding:
    return Finding(check, severity, "It fails.", count, "topics", "", 1_795_000_000.0, "Look.")


def said(client: Client, token: str) -> tuple[list[str], str]:
    """The words of a badge, and its markup."""
    answer = client.get(f"/embed/{token}/badge.svg")
    assert answer["Content-Type"] == "image/svg+xml; charset=utf-8"
    return [
        one.text or "" for one in etree.fromstring(answer.content).iter(f"{SVG}text")
    ], answer.content.decode()


def test_a_check_that_passes_is_ok(client: Client, give: Give) -> None:
    states.publish(states.healthy(), passing=("D1",))
    words, markup = said(client, give("check", "D1"))
    assert words == ["demo partitions", "ok"]
    assert GREEN in markup


def test_a_check_that_fails_says_how_often(client: Client, give: Give) -> None:
    states.publish(states.sick(), findings=(finding("D1", 3),), passing=("D2",))
    words, markup = said(client, give("check", "D1"))
    assert words == ["demo partitions", "3 offline"]
    assert GREEN not in markup


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.LIVE])
def test_what_is_not_known_now_is_unknown_and_not_green(client: Client, give: Give, phase: Phase) -> None:
    check, number = give("check", "D1"), give("number", "brokers")
    states.publish(states.healthy(), passing=("D1",), phase=phase)
    for token in (check, number):
        words, markup = said(client, token)
        assert words[1] == "unknown"
        assert GREEN not in markup


def test_a_check_that_says_nothing_and_a_cluster_without_a_load_are_unknown(
    client: Client, give: Give
) -> None:
    token = give("check", "D18")
    states.publish(states.healthy())
    assert said(client, token)[0][1] == "unknown"
    states.publish(None, passing=("D18",))
    assert said(client, token)[0][1] == "unknown"


def test_what_zookeeper_has_not_confirmed_for_long_is_unknown(client: Client, give: Give) -> None:
    states.publish(states.healthy(), passing=("D1",), as_of=1.0)
    assert said(client, give("check", "D1"))[0][1] == "unknown"


def test_a_number_is_shown_as_it_is(client: Client, give: Give) -> None:
    assert said(client, give("number", "offline"))[0] == ["demo offline", "1"]
    assert said(client, give("number", "brokers"))[0] == ["demo brokers", "2"]


def test_a_check_without_words_of_its_own_is_told_by_its_id(client: Client, give: Give) -> None:
    states.publish(states.sick(), findings=(finding("D17", 3),))
    assert said(client, give("check", "D17"))[0] == ["demo check D17", "3 found"]


def test_it_may_be_shown_anywhere_and_does_nothing(client: Client, give: Give) -> None:
    answer = client.get(f"/embed/{give('check', 'D1')}/badge.svg")
    assert answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    assert answer["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cache-Control"] == "max-age=3, must-revalidate"
    assert not answer.cookies
    again = client.get(f"/embed/{give('check', 'D1')}/badge.svg", headers={"if-none-match": answer["ETag"]})
    assert (again.status_code, again["Cross-Origin-Resource-Policy"]) == (304, "cross-origin")
    assert Embed.objects.filter(last_used_at=None).count() == 0


def test_a_view_that_is_more_has_none(client: Client, give: Give) -> None:
    answer = client.get(f"/embed/{give('topic', 'orders')}/badge.svg")
    assert answer.status_code == 404
    assert b"orders" not in answer.content
    assert b"no badge" in answer.content


def test_one_that_ended_shows_nothing_of_the_cluster(client: Client, give: Give) -> None:
    token = give("check", "D1")
    Embed.objects.update(revoked_at=timezone.now())
    answer = client.get(f"/embed/{token}/badge.svg")
    assert answer.status_code == 410
    assert b"demo" not in answer.content
    assert b"embed: revoked" in answer.content
    assert client.get("/embed/none/badge.svg").status_code == 404


def test_names_are_text_and_nothing_else() -> None:
    badge = badges.Badge("<script>\"&'" * 20, "</text><script>1</script>", Severity.OK)
    content = badges.picture(badge).content
    root = etree.fromstring(content)
    assert b"<script" not in content
    assert {one.tag for one in root.iter()} == {
        f"{SVG}{tag}" for tag in ("svg", "title", "rect", "path", "g", "text")
    }
    [about, says] = root.iter(f"{SVG}text")
    assert says.text == "</text><script>1</script>"
    assert about.text is not None
    assert len(about.text) == 60


def test_a_cluster_that_nothing_watches_is_unknown() -> None:
    assert badges.of(View("demo", "check", ("D1",)), None).says == "unknown"
