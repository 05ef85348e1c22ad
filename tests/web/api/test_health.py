"""What a supervisor is told, and what it is not."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client
from pytest_django.fixtures import Settings

from tests.web import states
from zkdash import live
from zkdash.access.models import Grant
from zkdash.live import engine
from zkdash.web.serving import renderer
from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.session import Phase

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _serving(settings: Settings) -> Iterator[None]:
    settings.ZKDASH_ANONYMOUS_READ = False
    settings.ZKDASH_CLUSTERS = tuple(ClusterConfig(name, (("127.0.0.1", 1),)) for name in ("demo", "other"))
    engine.configure(engine.Engine((), renderer.Renderer()))
    yield
    engine.configure(None)


def test_a_process_that_answers_is_alive_whatever_else_is_wrong(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content, answer["Content-Type"]) == (
        200,
        b"ok\n",
        "text/plain; charset=utf-8",
    )
    assert "no-store" in answer["Cache-Control"]


def test_it_is_ready_when_every_cluster_is_loaded_and_followed(client: Client) -> None:
    for name in ("demo", "other"):
        states.publish(states.healthy(), name=name)
    assert client.get("/readyz").content == b"ready\n"
    answer = client.get("/readyz?format=json")
    assert (answer.status_code, json.loads(answer.content)) == (200, {"ready": True, "reasons": []})


def test_what_is_not_ready_is_no_error_of_the_log(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    states.publish(None, phase=Phase.CONNECTING)
    assert client.get("/readyz").status_code == 503
    assert [record for record in caplog.records if record.name == "django.request"] == []


def test_what_is_not_ready_is_named_to_who_may_see_it_and_counted_for_others(client: Client) -> None:
    states.publish(states.healthy(), name="other", as_of=1.0, phase=Phase.SUSPENDED)
    states.publish(None, phase=Phase.CONNECTING)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.content.decode()) == (503, "2 of 2 clusters cannot be relied on.\n")
    user = User.objects.create_user("alice")
    Grant.objects.create(user=user, role="viewer", clusters="demo")
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    reasons = json.loads(client.get("/readyz?format=json").content)["reasons"]
    assert reasons == ["“demo” is not loaded (connecting).", "1 of 2 clusters cannot be relied on."]
    User.objects.update(is_superuser=True)
    live.clear()
    states.publish(states.healthy(), name="other", as_of=1.0, phase=Phase.SUSPENDED)
    reasons = json.loads(client.get("/readyz?format=json").content)["reasons"]
    assert reasons == ["“demo” is not watched here.", "“other” is stale (suspended)."]


def test_a_database_that_does_not_answer_is_said(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("disk I/O error")

    for name in ("demo", "other"):
        states.publish(states.healthy(), name=name)
    monkeypatch.setattr(connection, "cursor", refuse)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.content) == (503, b"The database does not answer.\n")
    assert client.get("/healthz").status_code == 200


def test_a_process_without_watchers_is_not_ready(client: Client) -> None:
    engine.configure(None)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.content) == (503, b"Nothing watches clusters in this process.\n")
