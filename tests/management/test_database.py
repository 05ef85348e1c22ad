"""zkdash's own tables are made whole or not at all, whenever the process that makes them is ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.core.management.base import CommandError
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from tests.databases import using
from zkdash import databases
from zkdash.management import database

# Each defers SQL to the end of its migration: an index or a constraint.
DEFERRING = [("auth", "0001_initial"), ("access", "0001_initial"), ("actions", "0001_initial")]


@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_a_start_that_is_ended_amid_a_migration_leaves_nothing_half_made(
    vendor: str, tmp_path: Path, django_db_blocker: Any, request: pytest.FixtureRequest
) -> None:
    url = "" if vendor == "sqlite" else _empty(request.getfixturevalue("postgresql"))
    with django_db_blocker.unblock(), using(databases.load({databases.VARIABLE: url}, tmp_path)):
        for ended_at in DEFERRING:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(MigrationRecorder, "record_applied", _ending_at(ended_at))
                with pytest.raises(CommandError, match="ended here"):
                    database.prepare()
            assert _tables_of(ended_at[0]) == [], "what was not recorded was not made"
        database.prepare()
        recorded = MigrationRecorder(connection).applied_migrations()
        assert set(DEFERRING) <= recorded.keys()
        assert all(_tables_of(label) for label, _ in DEFERRING)
        database.prepare()  # and once more, with nothing to do
        assert MigrationRecorder(connection).applied_migrations().keys() == recorded.keys()


def _ending_at(migration: tuple[str, str]) -> Any:
    record = MigrationRecorder.record_applied

    def recording(recorder: MigrationRecorder, app: str, name: str) -> None:
        if (app, name) == migration:
            raise OperationalError("ended here")
        record(recorder, app, name)

    return recording


def _tables_of(label: str) -> list[str]:
    return [table for table in connection.introspection.table_names() if table.startswith(f"{label}_")]


def _empty(server: str) -> str:
    """The address of a database of this test's own."""
    with psycopg.connect(server, autocommit=True) as opened:
        opened.execute("DROP DATABASE IF EXISTS started")
        opened.execute("CREATE DATABASE started")
    return urlsplit(server)._replace(path="/started").geturl()
