"""A database of an earlier release is brought up with what it holds; one that a newer release changed is
refused, with the commands that bring it back.

The earlier release has the first migrations of ours, by which its tables are made and filled.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.test import override_settings

from tests.databases import using
from zkdash import databases, version
from zkdash.access import rights
from zkdash.access.roles import Role
from zkdash.actions import audit
from zkdash.actions.actor import Actor
from zkdash.actions.models import Action, Audit
from zkdash.alarms.models import Occurrence
from zkdash.management import database
from zkdash.management.verifying import storage
from zkdash.management.verifying.finding import State

# By app, how many migrations the earlier release has; None: it does not have the app.
EARLIER: dict[str, int | None] = {"access": 4, "actions": 2, "alarms": 1, "notices": None}
BACK = [
    "migrate access 0004_embeds",
    "migrate actions 0002_one_order_of_changes",
    "migrate alarms 0001_initial",
    "migrate notices zero",
]
AT = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)


@pytest.fixture
def empty(request: pytest.FixtureRequest, tmp_path: Path, django_db_blocker: Any) -> Iterator[str]:
    """Django's database is one without tables, of the vendor that the test names."""
    url = ""
    if request.param == "postgresql":
        server = request.getfixturevalue("postgresql")
        with psycopg.connect(server, autocommit=True) as opened:
            opened.execute("DROP DATABASE IF EXISTS upgraded")
            opened.execute("CREATE DATABASE upgraded")
        url = urlsplit(server)._replace(path="/upgraded").geturl()
    with django_db_blocker.unblock(), using(databases.load({databases.VARIABLE: url}, tmp_path)):
        yield request.param


@pytest.fixture
def earlier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """A context in which this is the earlier release, as far as its migrations go."""
    modules: dict[str, str | None] = {}
    for app, many in EARLIER.items():
        modules[app] = None
        if many is None:
            continue
        modules[app] = name = f"{tmp_path.name.replace('-', '_')}_{app}"
        package = tmp_path / "earlier" / name
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        ours = Path(apps.get_app_config(app).path, "migrations")
        for file in sorted(ours.glob("0*.py"))[:many]:
            shutil.copy(file, package)
    monkeypatch.syspath_prepend(str(tmp_path / "earlier"))

    @contextmanager
    def release() -> Iterator[None]:
        with override_settings(MIGRATION_MODULES=modules):
            yield

    return release


@pytest.mark.parametrize("empty", ["sqlite", "postgresql"], indirect=True)
@pytest.mark.usefixtures("empty")
def test_what_an_earlier_release_kept_is_brought_up_and_back(earlier: Callable[[], Any]) -> None:
    with earlier():
        database.prepare()
        _filled()
    database.prepare()
    _is_whole(rows=1)
    audit.append("signed-in", Actor("alice"))
    _is_whole(rows=2)

    with earlier():
        before = _tables()
        with pytest.raises(CommandError) as refused:
            database.prepare()
        assert _tables() == before
        finding = storage._judged("SQLite", MigrationLoader(connection).applied_migrations)
    sentence = str(refused.value)
    assert f"was changed by a newer zkdash than this one, {version.version()}: access.0005_" in sentence
    assert finding.state is State.WRONG
    assert finding.remedy in sentence
    commands = re.findall(r"`zkdash ([^`]+)`", sentence)
    assert commands == BACK
    for command in commands:
        call_command(*command.split(), verbosity=0)

    with earlier():
        database.prepare()
        state = MigrationExecutor(connection).loader.project_state().apps
        assert state.get_model("alarms", "Occurrence").objects.get().tone == "critical"
        assert state.get_model("actions", "Audit").objects.count() == 2
    database.prepare()
    _is_whole(rows=2)
    audit.append("signed-out", Actor("alice"))
    _is_whole(rows=3)


def _filled() -> None:
    """Rows as the earlier release has them: somebody, a grant, a plan that waits, its audit, a finding."""
    old = MigrationExecutor(connection).loader.project_state().apps
    alice = old.get_model("auth", "User").objects.create(username="alice", is_active=True)
    old.get_model("access", "Grant").objects.create(user=alice, role="operator", clusters="shop")
    action = old.get_model("actions", "Action").objects.create(
        cluster="shop", kind="elect-preferred", intent=b"{}", state="pending", by="bob", requested_at=AT
    )
    row = old.get_model("actions", "Audit")(
        id=1, at=AT, who="alice", event="proposed", cluster="shop", action=action.id, previous=b""
    )
    row.hash = audit.digest(row)
    row.save()
    old.get_model("actions", "Order").objects.create(id=1, revision=1, audit=1, hash=row.hash)
    old.get_model("alarms", "Occurrence").objects.create(
        cluster="shop", check_id="D1", number=1, first_seen=AT, opened_at=AT, tone="critical", sentence="Out"
    )


def _is_whole(rows: int) -> None:
    """All of it is there as this release has it."""
    found = rights.of(User.objects.get(username="alice"), anonymous_reads=False)
    assert found.role("shop") is Role.OPERATOR
    action = Action.objects.get()
    assert (action.state, [author.name for author in action.authors.all()]) == ("pending", ["alice"])
    assert Occurrence.objects.get().severity == "critical"
    verdict = audit.verify()
    assert (verdict.rows, verdict.broken) == (rows, None)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Audit.objects.filter(id=1).update(who="mallory")


def _tables() -> list[str]:
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        return [
            f"{name}.{column.name}"
            for name in sorted(names)
            for column in connection.introspection.get_table_description(cursor, name)
        ]
