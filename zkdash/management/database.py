"""zkdash's own database, brought up to date at every start."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from django.core.management import call_command
from django.core.management.base import CommandError
from django.core.management.sql import emit_post_migrate_signal, emit_pre_migrate_signal
from django.db import DatabaseError, connection, connections, transaction
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from zkdash import databases, program, version

# Any number, as long as nothing else that shares the database takes it too.
_LOCK = 5_929_274_316
_held: sqlite3.Connection | None = None


def prepare() -> None:
    """Make or change the tables, and forget sessions that expired.

    Processes that start side by side do it one after the other; one that is ended amid it leaves nothing
    half made.
    Raises CommandError where the database cannot be had, or a newer zkdash changed it.
    """
    try:
        with _alone():
            _migrate()
            call_command("clearsessions")
    except (DatabaseError, OSError) as error:
        why = " ".join(str(error).split()).rstrip(".?")
        raise CommandError(
            f"The database {_name()} cannot be used: {why}. Set ZKDASH_DATA to a writable directory, or "
            f"{databases.VARIABLE} to a PostgreSQL that answers."
        ) from error
    finally:
        connections.close_all()


def newer(loader: MigrationLoader, applied: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those of the applied migrations, each an app and a name, that this zkdash does not have, in order."""
    return sorted(set(applied) - set(loader.disk_migrations))


def told_newer(loader: MigrationLoader, migrations: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """What happened to a database that a newer zkdash changed by these migrations, and what to do."""
    names = ", ".join(".".join(migration) for migration in migrations)
    last = {app: _last(loader, app) for app, _ in migrations}
    undoing = ", ".join(f"`{program.line(f'migrate {app} {name}')}`" for app, name in last.items())
    return (
        f"was changed by a newer zkdash than this one, {version.version()}: {names}.",
        (
            "Start that version, or restore a copy from before. Or stop all of zkdash and undo it by that "
            f"version: {undoing}; what only the newer one keeps is lost then."
        ),
    )


def _last(loader: MigrationLoader, app: str) -> str:
    """The migration that an app ends with here, as `migrate` takes it."""
    return next((name for _, name in loader.graph.leaf_nodes(app)), "zero")


def hold() -> None:
    """Keep SQLite's file open until the process ends, so that it can be read while the disk is full.

    Whoever opens it first makes two files beside it, which the last one to close it deletes.
    """
    global _held  # noqa: PLW0603 - one a process
    if connection.vendor == "sqlite":
        _held = sqlite3.connect(str(connection.settings_dict["NAME"]), check_same_thread=False)
        _held.execute("SELECT count(*) FROM sqlite_master").fetchall()


def use(directory: Path) -> None:
    """Keep everything of this process in a database file below a directory instead of the configured one."""
    connections.close_all()
    with contextlib.suppress(AttributeError):  # none was opened yet
        del connections["default"]
    chosen = connections.configure_settings({"default": databases.sqlite(directory)})
    connections.settings.update(chosen)


class _WholeMigrations(MigrationExecutor):
    """Applies and records each migration in one transaction.

    Django's own records one that defers SQL (an index, a constraint) after its transaction: a process that is
    ended between the two leaves tables that the next start would make again, and fails.
    """

    def apply_migration(
        self, state: ProjectState, migration: Migration, fake: bool = False, fake_initial: bool = False
    ) -> ProjectState:
        # SQLite's tables change only while it checks no foreign keys, which is settled before a transaction.
        with connection.constraint_checks_disabled(), transaction.atomic():
            return super().apply_migration(state, migration, fake, fake_initial)


def _migrate() -> None:
    """What `manage.py migrate` does, with migrations that are whole or not there."""
    executor = _WholeMigrations(connection)
    if beyond := newer(executor.loader, executor.loader.applied_migrations):
        what, remedy = told_newer(executor.loader, beyond)
        raise CommandError(f"The database {_name()} {what} {remedy}")
    executor.loader.check_consistent_history(connection)
    targets = executor.loader.graph.leaf_nodes()
    plan = executor.migration_plan(targets)
    emit_pre_migrate_signal(0, False, connection.alias, plan=plan)
    executor.migrate(targets, plan)
    emit_post_migrate_signal(0, False, connection.alias, plan=plan)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Hold the lock of who changes tables: PostgreSQL's own, or one on a file beside SQLite's."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        yield  # closing the connection lets go
        return
    file = Path(str(connection.settings_dict["NAME"]))
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # What is in it is nobody else's: SQLite gives its other files the same mode.
        os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
        yield


def _name() -> str:
    values = connection.settings_dict
    host = f" at {values['HOST']}" if values["HOST"] else ""
    return f"{values['NAME']}{host}"
