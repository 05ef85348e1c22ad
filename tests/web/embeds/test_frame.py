from __future__ import annotations

import logging
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from tests.web import states
from tests.web.embeds.conftest import Give
from tests.web.markup import Markup
from zkdash import live
from zkdash.access.embeds import View
from zkdash.access.models import Embed
from zkdash.cluster import checks
from zkdash.history.queries import trends
from zkdash.web.serving import embeddable
from zkdash.web.serving.renderer import Renderer

WIKI, BOARD = "https://wiki.example.org", "http://127.0.0.1:8001"
EVERY_VIEW = (
    ("overview",),
    ("topic", "orders"),
    ("group", "billing"),
    ("broker", "1"),
    *(("check", one) for one in checks.TITLES),
    *(("number", one) for one in embeddable.NUMBERS),
    *(("chart", one) for one in trends.TITLES),
)


def policy(response: object) -> dict[str, str]:
    parts = [part.strip() for part in response["Content-Security-Policy"].split(";")]  # type: ignore[index]
    return {name: rest for name, _, rest in (part.partition(" ") for part in parts)}


@pytest.mark.parametrize("view", EVERY_VIEW, ids="-".join)
def test_a_view_shows_without_signing_in_and_leaves_nothing_behind(
    client: Client, give: Give, view: tuple[str, ...]
) -> None:
    answer = client.get(f"/embed/{give(*view)}/")
    assert answer.status_code == 200
    assert not answer.cookies
    assert "Set-Cookie" not in answer
    assert "Cookie" not in answer.get("Vary", "")
    text = answer.content.decode()
    assert "csrf" not in text
    assert "<form" not in text
    assert [one.get("id") for one in Markup(answer).all("nav")] in ([], ["pager"])
    assert answer["Cache-Control"] == "no-store"
    assert answer["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize("view", EVERY_VIEW, ids="-".join)
def test_nothing_is_sent_to_a_frame_that_it_does_not_draw(
    client: Client, give: Give, view: tuple[str, ...]
) -> None:
    """Its socket gets what its room renders: a part of the page that the frame lacks would be given away."""
    drawn = client.get(f"/embed/{give(*view)}/").content.decode()
    key = embeddable.key(View("demo", view[0], view[1:]))
    parts = Renderer().parts(key).parts
    assert parts
    assert [part.id for part in parts if f'id="{part.id}"' not in drawn] == []
    assert not key.only or {part.id for part in parts} <= set(key.only)


def test_a_person_who_is_signed_in_gets_the_same_as_anybody(client: Client, alice: User, give: Give) -> None:
    token = give("topic", "orders")
    before = client.get(f"/embed/{token}/").content
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    answer = client.get(f"/embed/{token}/")
    assert answer.content == before
    assert b"alice" not in before
    assert b"actions/new" not in before  # an operator's deeds


def test_only_the_parents_that_were_named_may_frame_it(client: Client, give: Give) -> None:
    found = policy(client.get(f"/embed/{give('overview', parents=(WIKI, BOARD))}/"))
    assert found["frame-ancestors"] == f"{WIKI} {BOARD}"
    assert found["default-src"] == "'none'"
    assert found["script-src"] == "'self'"
    assert found["form-action"] == "'none'"
    assert found["sandbox"] == "allow-scripts allow-popups allow-popups-to-escape-sandbox"


def test_without_parents_nobody_may_frame_it(client: Client, give: Give) -> None:
    answer = client.get(f"/embed/{give('overview')}/")
    assert policy(answer)["frame-ancestors"] == "'none'"
    assert "X-Frame-Options" not in answer


def test_links_lead_to_the_whole_page_in_a_tab_of_their_own(client: Client, give: Give) -> None:
    markup = Markup(client.get(f"/embed/{give('topic', 'orders', query='sort=-leader')}/"))
    [base] = markup.all("base")
    assert dict(base.attrib) == {"href": "/c/demo/topics/orders/?sort=-leader", "target": "_blank"}
    assert not [link for link in markup.all("a") if link.get("target") not in {None, "_blank"}]
    [home] = [link for link in markup.all("a") if link.get("rel") == "noopener"]
    assert home.get("href") == "/c/demo/topics/orders/?sort=-leader"


def test_its_query_is_the_embeds_own(client: Client, give: Give) -> None:
    token = give("topic", "orders", query="q=broker%3A2&sort=-partition")
    first = Markup(client.get(f"/embed/{token}/")).texts("#partitions-rows th")
    assert first == ["2", "1", "0"]
    assert (
        Markup(client.get(f"/embed/{token}/?q=nothing&sort=partition&format=json")).texts(
            "#partitions-rows th"
        )
        == first
    )


def test_a_link_shows_one_view_and_no_other(client: Client, give: Give) -> None:
    token = give("check", "D1")
    for path in ("topics/", "topics/orders/", "actions/", "badge.png", "../c/demo/"):
        assert client.get(f"/embed/{token}/{path}").status_code == 404, path
    for path in ("/c/demo/", f"/c/demo/?token={token}", "/live/embed/x/"):
        answer = client.get(path, headers={"authorization": f"Bearer {token}"})
        assert answer.status_code in {401, 404}, path
    assert "orders" not in client.get(f"/embed/{token}/").content.decode()


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_it_is_read_only(client: Client, give: Give, method: str) -> None:
    for path in ("", "badge.svg"):
        assert getattr(client, method)(f"/embed/{give('check', 'D1')}/{path}").status_code == 405


@pytest.mark.parametrize("theme", ["light", "dark", ""])
def test_it_has_the_theme_that_was_chosen(client: Client, give: Give, theme: str) -> None:
    [page] = Markup(client.get(f"/embed/{give('overview', theme=theme)}/")).root.xpath("/html")
    assert page.get("data-theme", "") == theme


def _revoke() -> None:
    Embed.objects.update(revoked_at=timezone.now())


def _expire() -> None:
    Embed.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def _blind() -> None:
    User.objects.get().grants.all().delete()


@pytest.mark.parametrize(
    ("end", "words"),
    [(_revoke, "was revoked"), (_expire, "has expired"), (_blind, "who made it may not see the cluster")],
)
def test_one_that_ended_says_so_to_its_parents_and_shows_nothing(
    client: Client, give: Give, end: object, words: str
) -> None:
    token = give("topic", "orders", parents=(WIKI,), theme="dark")
    assert callable(end)
    end()
    answer = client.get(f"/embed/{token}/")
    assert answer.status_code == 410
    assert words in Markup(answer).text("main")
    assert "orders" not in answer.content.decode()
    assert policy(answer)["frame-ancestors"] == WIKI
    assert not answer.cookies


def test_of_a_token_that_is_none_nothing_is_told(client: Client, give: Give) -> None:
    token = give("topic", "orders")
    for other in ("none", token[:-1], token + "x", token.swapcase(), "%00", "a" * 3000):
        answer = client.get(f"/embed/{other}/")
        assert answer.status_code == 404
        assert "no such embed" in Markup(answer).text("main")
        assert policy(answer)["frame-ancestors"] == "'none'"


def test_it_works_after_a_rotation_of_the_secret_key(client: Client, give: Give, settings: Settings) -> None:
    token = give("number", "offline")
    settings.SECRET_KEY = "rotated"
    assert Markup(client.get(f"/embed/{token}/")).text("#strip") == "Offline ✕ 1"


def test_what_is_not_there_is_said(client: Client, give: Give) -> None:
    answer = client.get(f"/embed/{give('topic', 'nope')}/")
    assert answer.status_code == 404
    assert "No topic named “nope” is in ZooKeeper." in answer.content.decode()


def test_of_a_cluster_that_nothing_watches_that_is_said(client: Client, give: Give) -> None:
    token = give("overview")
    live.clear()
    answer = client.get(f"/embed/{token}/")
    assert answer.status_code == 503
    assert "No watcher runs" in Markup(answer).text("main")


def test_of_a_cluster_that_is_not_configured_any_more_that_is_said(
    client: Client, give: Give, settings: Settings
) -> None:
    token = give("overview")
    live.clear()
    settings.ZKDASH_CLUSTERS = settings.ZKDASH_CLUSTERS[1:]
    answer = client.get(f"/embed/{token}/")
    assert answer.status_code == 404
    assert Markup(answer).text("main").endswith("The cluster of this embed is not configured any more.")


def test_before_the_first_load_nothing_is_well(client: Client, give: Give) -> None:
    check, number = give("check", "D1"), give("number", "offline")
    states.publish(None)
    said = Markup(client.get(f"/embed/{check}/")).text("#checks")
    assert said.startswith("? unknown")
    assert "Nothing is checked before the first load" in said
    assert "unknown" in Markup(client.get(f"/embed/{number}/")).text("#strip")


def test_its_use_is_noted_and_its_token_never_logged(
    client: Client, give: Give, caplog: pytest.LogCaptureFixture
) -> None:
    token = give("overview")
    with caplog.at_level(logging.DEBUG):
        client.get(f"/embed/{token}/")
    assert Embed.objects.get().last_used_at is not None
    ours = [one.getMessage() for one in caplog.records if one.name.startswith("zkdash")]
    assert not [line for line in ours if token in line]


def test_our_own_files_may_be_loaded_without_an_origin_and_pages_may_not(client: Client) -> None:
    for name in ("style/base.css", "embed.css", "embed.js"):
        answer = client.get(f"/static/{name}")
        assert (answer.status_code, answer["Cross-Origin-Resource-Policy"]) == (200, "cross-origin"), name
    assert client.get("/sign-in/")["Cross-Origin-Resource-Policy"] == "same-origin"
