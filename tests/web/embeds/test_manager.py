from __future__ import annotations

import html
import json
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from tests.web.embeds.conftest import Give
from tests.web.markup import Markup
from zkdash.access import embeds, rights, tokens
from zkdash.access.models import Embed, Grant
from zkdash.access.roles import Role
from zkdash.actions.models import Audit

BACKEND = "django.contrib.auth.backends.ModelBackend"
PATH = "/c/demo/embeds/"
ORDERS = {
    "view": "topic",
    "name": "orders",
    "query": "?sort=-leader",
    "theme": "dark",
    "parents": "https://wiki.example.org/\r\nhttp://127.0.0.1:8001\nHTTPS://WIKI.example.org",
    "days": "7",
    "do": "create",
}


ORDERED = "q=broker%3A3&sort=-leader"


@pytest.fixture
def operator(client: Client, alice: User) -> Client:
    client.force_login(alice, backend=BACKEND)
    return client


def somebody(name: str, role: str) -> Client:
    user = User.objects.create_user(name)
    Grant.objects.create(user=user, role=role, clusters="demo")
    client = Client()
    client.force_login(user, backend=BACKEND)
    return client


def audited() -> list[tuple[str, str, object]]:
    rows = Audit.objects.order_by("id").values_list("event", "who", "detail")
    return [
        (event, who, json.loads(bytes(detail))) for event, who, detail in rows if event.startswith("embed-")
    ]


def test_an_operator_makes_one_and_copies_what_works(operator: Client, client: Client) -> None:
    answer = operator.post(PATH, ORDERS)
    assert answer.status_code == 200
    snippet = Markup(answer).text("#snippet")
    [address] = re.findall(r'src="http://testserver(/embed/[\w-]{43}/)"', snippet)
    assert 'sandbox="allow-scripts allow-popups allow-popups-to-escape-sandbox"' in snippet
    made = Embed.objects.get()
    assert embeds.digest(address.split("/")[2]) == made.digest
    assert embeds.view(made) == embeds.View("demo", "topic", ("orders",), "sort=-leader")
    assert made.parents == "https://wiki.example.org http://127.0.0.1:8001"
    assert (made.theme, (made.expires_at - made.made_at).days) == ("dark", 7)
    assert Client().get(address).status_code == 200
    assert Markup(answer).all("#badge") == []
    assert "No page may frame this embed" not in Markup(answer).text("main")
    assert "orders" in Markup(answer).text("tbody th")


def test_of_one_that_no_page_may_frame_that_is_said_beside_what_is_copied(operator: Client) -> None:
    answer = operator.post(PATH, ORDERS | {"parents": ""})
    assert "No page may frame this embed, as none was named" in Markup(answer).text("main")


@pytest.mark.parametrize(
    ("page", "filled"),
    [
        ("", {"view": "overview"}),
        ("topics/orders/?sort=-leader&q=broker%3A3", {"view": "topic", "name": "orders", "query": ORDERED}),
        ("groups/billing/?status=warning", {"view": "group", "name": "billing", "query": "status=warning"}),
        ("brokers/1/?q=is%3Apreferred", {"view": "broker", "name": "1", "query": "q=is%3Apreferred"}),
        ("checks/D1/", {"view": "check:D1"}),
        ("trends/?last=6h", {"view": "chart:under-replicated", "query": "last=6h"}),
    ],
)
def test_the_way_from_a_page_carries_it_and_what_it_was_asked_for(
    operator: Client, page: str, filled: dict[str, str]
) -> None:
    (link,) = [a for a in Markup(operator.get(f"/c/demo/{page}")).all("div.exports a") if a.text == "Embed"]
    assert link.get("href").startswith(PATH)
    form = Markup(operator.get(link.get("href")))
    named = {one.get("name"): one.get("value") or "" for one in form.all("form.ask input")}
    (chosen,) = form.root.xpath("//select[@name='view']//option[@selected]/@value")
    told = {"view": chosen, "name": named["name"], "query": named["query"]}
    assert told == {"name": "", "query": "", **filled}
    preview = operator.get(form.all("iframe")[0].get("src"))
    assert preview.status_code == 200


def test_a_page_that_cannot_be_embedded_offers_none(operator: Client) -> None:
    """Its filter and order would be lost on the way."""
    ways = [a.text for a in Markup(operator.get("/c/demo/topics/?q=orders")).all("div.exports a")]
    assert ways
    assert "Embed" not in ways


def test_the_token_is_told_once(operator: Client) -> None:
    token = re.findall(r"/embed/([\w-]{43})/", operator.post(PATH, ORDERS).content.decode())[0]
    assert token not in operator.get(PATH).content.decode()
    assert token not in json.dumps(audited())


def test_the_audit_tells_who_made_and_who_revoked_what(operator: Client, alice: User) -> None:
    operator.post(PATH, ORDERS)
    made = Embed.objects.get()
    assert operator.post(f"{PATH}{made.pk}/revoke/").status_code == 303
    operator.post(f"{PATH}{made.pk}/revoke/")
    detail = {
        "embed": made.pk,
        "shows": "Topic orders",
        "parents": ["https://wiki.example.org", "http://127.0.0.1:8001"],
        "expires": made.expires_at.isoformat(timespec="seconds"),
    }
    assert audited() == [("embed-made", "alice", detail), ("embed-revoked", "alice", detail)]


def test_a_check_and_a_number_come_with_a_badge(operator: Client) -> None:
    for view in ("check:D1", "number:offline"):
        badge = Markup(operator.post(PATH, {"view": view, "days": "30", "do": "create"})).text("#badge")
        assert Client().get(badge.removeprefix("http://testserver")).status_code == 200


def test_a_token_makes_none_which_would_outlive_it(alice: User) -> None:
    held = rights.of(alice, anonymous_reads=False)
    ends = timezone.now() + timedelta(days=1)
    _, text = tokens.make(alice, "ci", clusters="*", role=Role.OPERATOR, expires_at=ends, rights=held)
    shown = {"authorization": f"Bearer {text}"}
    assert Client().get(PATH, headers=shown).status_code == 200
    answer = Client().post(PATH, ORDERS, headers=shown)
    assert answer.status_code == 403
    assert "not by a token" in answer.content.decode()
    assert not Embed.objects.exists()


def test_looking_beforehand_keeps_nothing(operator: Client) -> None:
    answer = operator.post(PATH, {**ORDERS, "do": "preview"})
    [frame] = Markup(answer).all("iframe")
    assert not Embed.objects.exists()
    assert "frame-src 'self'" in answer["Content-Security-Policy"]
    shown = operator.get(html.unescape(frame.get("src")))
    assert shown.status_code == 200
    assert "frame-ancestors 'self';" in shown["Content-Security-Policy"]
    assert Markup(shown).all("script") == []
    assert Markup(shown).root.get("data-theme") == "dark"
    assert "orders" in Markup(shown).text("main")


def test_an_address_can_fill_the_form(operator: Client) -> None:
    markup = Markup(operator.get(f"{PATH}?view=check%3AD8&theme=light"))
    assert markup.root.xpath("//select[@name='view']//option[@selected]/@value") == ["check:D8"]
    assert markup.root.xpath("//iframe/@src") == ["/c/demo/embeds/preview/?view=check%3AD8&theme=light"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"view": "audit"}, "Select a valid choice"),
        ({"view": "check:D999"}, "Select a valid choice"),
        ({"name": ""}, "Name the topic that is to be shown."),
        ({"name": "nope"}, 'There is no topic "nope".'),
        ({"view": "group"}, 'There is no group "orders" in ZooKeeper.'),
        ({"view": "broker", "name": "77"}, 'There is no broker "77".'),
        ({"query": "colour=red"}, "“colour” is not a parameter of this page."),
        ({"parents": "https://wiki.example.org *"}, "“*” is not an origin."),
        ({"parents": " ".join(f"http://h{n}" for n in range(11))}, "11 origins are too many"),
        ({"days": "0"}, "greater than or equal to 1"),
        ({"days": "367"}, "less than or equal to 366"),
        ({"days": ""}, "This field is required"),
    ],
)
def test_what_cannot_be_is_said_beside_its_field(
    operator: Client, change: dict[str, str], words: str
) -> None:
    answer = operator.post(PATH, {**ORDERS, **change})
    assert answer.status_code == 422
    assert any(words in one for one in Markup(answer).texts(".fault"))
    assert not Embed.objects.exists()
    assert operator.get(f"{PATH}preview/", {**ORDERS, **change}).status_code in {200, 400}


def test_who_may_only_see_makes_none_but_sees_and_revokes_own_ones(give: Give, alice: User) -> None:
    give("overview")
    alice.grants.update(role="viewer")
    viewer = Client()
    viewer.force_login(alice, backend=BACKEND)
    markup = Markup(viewer.get(PATH))
    assert markup.texts("tbody th") == ["Overview"]
    assert markup.all("#id_view") == []
    assert viewer.post(PATH, ORDERS).status_code == 403
    assert viewer.post(f"{PATH}{Embed.objects.get().pk}/revoke/").status_code == 303
    assert Embed.objects.get().revoked_at is not None


def test_others_are_listed_and_revoked_by_the_clusters_admin_alone(give: Give) -> None:
    give("overview")
    bob, root = somebody("bob", "approver"), somebody("root", "admin")
    number = Embed.objects.get().pk
    assert Markup(bob.get(PATH)).texts("tbody th") == []
    assert bob.post(f"{PATH}{number}/revoke/").status_code == 404
    assert Embed.objects.get().revoked_at is None
    assert Markup(root.get(PATH)).texts("tbody th") == ["Overview"]
    assert "alice" in Markup(root.get(PATH)).text("tbody")
    assert root.post(f"/c/other/embeds/{number}/revoke/").status_code == 404
    assert root.post(f"{PATH}{number}/revoke/").status_code == 303
    assert Embed.objects.get().revoked_at is not None


def test_the_list_says_how_each_stands(operator: Client, give: Give) -> None:
    for view in ("overview", "overview", "overview"):
        give(view)
    used, gone, ended = Embed.objects.order_by("id")
    Embed.objects.filter(pk=used.pk).update(last_used_at=timezone.now())
    Embed.objects.filter(pk=gone.pk).update(revoked_at=timezone.now())
    Embed.objects.filter(pk=ended.pk).update(expires_at=timezone.now())
    found = {one.pk: Markup(operator.get(PATH)).text(f"#embed-{one.pk}") for one in (used, gone, ended)}
    assert "in use" in found[used.pk]
    assert "never" not in found[used.pk]
    assert "revoked" in found[gone.pk]
    assert "expired" in found[ended.pk]
    assert "never" in found[ended.pk]
    buttons = Markup(operator.get(PATH)).root.xpath("//form[@class='revoke']/@action")
    assert buttons == [f"{PATH}{used.pk}/revoke/"]


def test_every_page_leads_there(operator: Client) -> None:
    for path in ("/c/demo/", "/c/demo/topics/orders/", "/c/demo/groups/billing/"):
        ways = Markup(operator.get(path)).root.xpath("//div[@class='exports']//a/@href")
        assert any(way.startswith(PATH) for way in ways), path
