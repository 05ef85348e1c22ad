"""`manage.py notices`: what others wait to be told of, by the command itself and once by a real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from pytest_django.fixtures import Settings

from tests.databases import Database
from zkdash.notices import outbox
from zkdash.notices.models import Delivery
from zkdash.notices.outbox import Notice
from zkdash.zk.config import ClusterConfig

ROOT = Path(__file__).resolve().parents[2]


def listed(*arguments: str) -> list[dict[str, Any]]:
    """What the command prints in this process."""
    out = StringIO()
    call_command("notices", *arguments, stdout=out)
    return read(out.getvalue())


def listed_apart(database: Database, *arguments: str) -> list[dict[str, Any]]:
    """What a process of its own prints."""
    done = subprocess.run(
        [sys.executable, "manage.py", "notices", *arguments],
        cwd=ROOT,
        env={**os.environ, **database.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return read(done.stdout)


def read(printed: str) -> list[dict[str, Any]]:
    assert "very-secret" not in printed
    return [json.loads(line) for line in printed.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Nothing waits (test"),
        (("--all",), "Nothing waits, and nothing was told within the last 30 days (test"),
    ],
)
def test_that_there_is_nothing_is_said_aside(
    database: Database, arguments: tuple[str, ...], says: str
) -> None:
    out, err = StringIO(), StringIO()
    call_command("notices", *arguments, stdout=out, stderr=err)
    assert out.getvalue() == ""
    assert err.getvalue().startswith(says)


def test_what_waits_is_listed_with_why_and_the_rest_on_demand(database: Database, settings: Settings) -> None:
    hooks = ("https://ops.example.org/very-secret",)
    settings.ZKDASH_CLUSTERS = tuple(
        ClusterConfig(name, (("127.0.0.1", 1),), webhooks=hooks) for name in ("shop", "other")
    )
    assert listed() == []
    for number, name in enumerate(("shop", "shop", "other"), 1):
        outbox.enqueue(Notice("action-ended", name, f"action {number}", "Done."))
    first, second, _ = Delivery.objects.order_by("id")
    now = timezone.now()
    for one in (first, second):
        assert outbox.claim(one, now)
    outbox.taken(first, now)
    outbox.refused(second, "it answered 503", now)
    [waits] = listed("--cluster", "shop")
    assert (waits["about"], waits["state"], waits["attempts"]) == ("action 2", "waiting", 1)
    assert waits["last_error"] == "it answered 503"
    assert waits["target"].startswith("https://ops.example.org (")
    assert waits["next_at"] > waits["made_at"]
    assert [one["about"] for one in listed()] == ["action 3", "action 2"]
    assert [one["state"] for one in listed_apart(database, "--all")] == ["waiting", "waiting", "taken"]
