"""The ways from tables to forms: for who may act, and for nobody else."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.web import states
from tests.web.markup import Markup
from zkdash.access.models import Grant
from zkdash.access.roles import Role
from zkdash.cluster.model.findings import Finding
from zkdash.cluster.model.severity import Severity

PATHS = [
    "topics/",
    "topics/orders/",
    "brokers/",
    "brokers/1/",
    "groups/",
    "groups/billing/",
    "",
    "actions/",
]
pytestmark = pytest.mark.django_db


def signed_in(role: Role) -> Client:
    user = User.objects.create_user(role.value)
    Grant.objects.create(user=user, role=role.value, clusters="*")
    client = Client()
    client.force_login(user)
    return client


def ways(client: Client, path: str) -> list[str]:
    """The forms that a page leads to."""
    page = Markup(client.get(f"/c/demo/{path}"))
    found = page.root.xpath("//@href | //@formaction")
    return [address for address in found if "/actions/new/" in address]


@pytest.mark.parametrize("path", PATHS)
def test_who_may_act_finds_the_forms_and_others_do_not(path: str) -> None:
    states.publish(states.healthy() | states.group("billing", {"c1": ["orders"]}))
    assert ways(signed_in(Role.OPERATOR), path)
    assert not ways(signed_in(Role.VIEWER), path)
    assert not ways(Client(), path)


@pytest.mark.parametrize("path", ["topics/", "brokers/", "groups/"])
def test_rows_have_boxes_for_who_may_act_and_data_have_none(path: str) -> None:
    states.publish(states.healthy() | states.group("billing", {"c1": ["orders"]}))
    operator, viewer = signed_in(Role.OPERATOR), signed_in(Role.VIEWER)
    boxes = Markup(operator.get(f"/c/demo/{path}")).root.xpath("//tbody//input[@type='checkbox']")
    rows = operator.get(f"/c/demo/{path}", {"format": "json"}).json()["rows"]
    assert len(boxes) == len(rows)
    assert {box.get("form") for box in boxes} == {"pick"}
    assert "pick" not in rows[0]
    assert not Markup(viewer.get(f"/c/demo/{path}")).root.xpath("//tbody//input")


def test_a_hostile_name_is_only_the_value_of_its_box() -> None:
    name = '"><script>alert(1)'
    states.publish(states.brokers(1) | states.topic(name, {0: [1]}))
    page = Markup(signed_in(Role.OPERATOR).get("/c/demo/topics/"))
    (box,) = page.root.xpath("//tbody//input")
    assert box.get("value") == name


def test_a_check_that_fails_leads_to_the_action_that_may_help() -> None:
    finding = Finding(
        check="D2",
        severity=Severity.CRITICAL,
        sentence="A leader is dead",
        count=1,
        since=1.0,
        remedy="Look.",
        page="topics",
        query="",
    )
    states.publish(states.healthy(), findings=(finding,))
    page = Markup(signed_in(Role.OPERATOR).get("/c/demo/"))
    (link,) = page.all("#checks")[0].xpath(".//span[@class='more']/a")
    assert link.get("href") == "/c/demo/actions/new/reelect-controller/"
