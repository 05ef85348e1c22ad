"""What the log and the audit tell of requests, and what they never do."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from pytest_django.fixtures import Settings

from tests.actions import small
from tests.web import states
from zkdash import logs
from zkdash.access import administrators
from zkdash.access.models import Grant
from zkdash.actions.models import Audit

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines() -> Iterator[Lines]:
    """What is logged meanwhile, as JSON lines."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.JsonFormatter())
    logging.getLogger().addHandler(handler)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logging.getLogger().removeHandler(handler)


@pytest.fixture
def vera(client: Client) -> Client:
    """Signed in as a viewer."""
    states.publish(states.healthy())
    user = User.objects.create_user("vera")
    Grant.objects.create(user=user, role="viewer", clusters="demo")
    client.force_login(user, backend=BACKEND)
    return client


def test_each_answer_has_an_id_of_its_own_whatever_was_sent(vera: Client) -> None:
    found = {vera.get("/c/demo/", headers={"X-Request-ID": "mine"})["X-Request-ID"] for _ in range(3)}
    assert len(found) == 3
    assert all(len(one) == 32 for one in found)


def test_files_and_errors_have_one_too(client: Client) -> None:
    for path in ("/static/style/base.css", "/nowhere/"):
        assert client.get(path)["X-Request-ID"]
    assert asyncio.run(AsyncClient().get("/nowhere/"))["X-Request-ID"]


def test_what_was_refused_tells_who_where_and_what(vera: Client, lines: Lines) -> None:
    action = small.proposed("demo")
    answer = vera.post(f"/c/demo/actions/{action.pk}/submit/")
    assert answer.status_code == 403
    [line] = lines()
    expected = {
        "level": "INFO",
        "message": "POST /c/<cluster:cluster>/actions/<int:number>/submit/",
        "request": answer["X-Request-ID"],
        "user": "vera",
        "cluster": "demo",
        "action": action.pk,
        "status": 403,
    }
    assert expected.items() <= line.items()
    assert line["ms"] > 0


def test_reading_is_no_line_and_an_action_that_is_not_there_is_one(vera: Client, lines: Lines) -> None:
    assert vera.get("/c/demo/topics/").status_code == 200
    assert vera.get("/c/demo/topics/none/").status_code == 404
    assert lines() == []
    assert vera.get("/c/demo/actions/999/").status_code == 404
    assert [line["status"] for line in lines()] == [404]


def test_who_may_not_act_but_tries_is_in_the_audit(vera: Client) -> None:
    action = small.proposed("demo")
    before = Audit.objects.count()
    vera.get("/c/demo/actions/new/create-topic/")  # only looked at
    assert Audit.objects.count() == before
    vera.post(f"/c/demo/actions/{action.pk}/submit/")
    told = Audit.objects.order_by("id").last()
    assert told is not None
    assert (told.event, told.who, told.cluster) == ("not-allowed", "vera", "demo")
    assert json.loads(bytes(told.detail)) == {
        "asked": "POST /c/<cluster:cluster>/actions/<int:number>/submit/",
        "from": "127.0.0.1",
    }
    Client().post(f"/c/demo/actions/{action.pk}/submit/")  # nobody
    assert Audit.objects.count() == before + 1


def test_a_one_time_link_is_in_no_line(client: Client, lines: Lines, settings: Settings) -> None:
    token = administrators.invite("root")
    forged = Client(enforce_csrf_checks=True)
    assert forged.post(f"/welcome/{token}/").status_code == 403
    settings.ROOT_URLCONF = "tests.web.failing_urls"
    broken = Client(raise_request_exception=False)
    assert broken.get(f"/welcome/{token}/").status_code == 500
    told = lines()
    assert len(told) == 3
    assert token not in json.dumps(told)
    assert any("<hidden>" in line["message"] for line in told)


def test_a_form_from_elsewhere_is_told_so_in_a_page_of_ours(lines: Lines) -> None:
    answer = Client(enforce_csrf_checks=True).post("/sign-in/", {"username": "a", "password": "b"})
    assert answer.status_code == 403
    assert "does not seem to come from a page of zkdash" in answer.content.decode()
    assert "<style" not in answer.content.decode()


def test_a_host_with_a_line_break_forges_no_line(client: Client, lines: Lines) -> None:
    assert client.get("/", headers={"host": "evil\nINFO zkdash: forged"}).status_code == 400
    [line] = lines()
    assert line["logger"] == "django.security.DisallowedHost"


def test_a_number_of_something_else_is_no_action(vera: Client, lines: Lines) -> None:
    vera.post("/c/demo/embeds/7/revoke/")
    [line] = lines()
    assert line["cluster"] == "demo"
    assert "action" not in line
