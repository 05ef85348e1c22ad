"""Where zkdash keeps its own: the data directory, the database, the tables of the history."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from zkdash import databases
from zkdash.history.places import location
from zkdash.history.places.location import Remote
from zkdash.history.store import directories
from zkdash.history.store.delta import TableError
from zkdash.management.database import newer, told_newer
from zkdash.management.verifying.finding import Finding, State

_LITTLE = 200 * 1024 * 1024  # bytes
_TABLES = ("changes", "znodes_checkpoint", "watched")
_APPLIED = "SELECT app, name FROM django_migrations"


def database() -> list[Finding]:
    """Can it be had, and are its tables those of this version."""
    try:
        return [_sqlite() if connection.vendor == "sqlite" else _postgresql()]
    except (DatabaseError, sqlite3.Error, OSError) as error:
        sentence = f"{databases.why(error).capitalize()}: {databases.line(error)}."
        remedy = f"Set {databases.VARIABLE} to a PostgreSQL that answers, or leave it out for SQLite."
        return [Finding("database", State.WRONG, sentence, remedy)]


def history() -> list[Finding]:
    """Can tables be written, and read where there are some."""
    root = settings.ZKDASH_HISTORY
    problem = _unwritable(location.local(root))
    if problem:
        variable = "ZKDASH_DATA" if isinstance(root, Remote) else "ZKDASH_HISTORY"
        remedy = f"Set {variable} to a writable directory, or ZKDASH_RECORD=0 to record nothing."
        return [Finding("history", State.WRONG, problem, remedy)]
    try:
        for cluster in settings.ZKDASH_CLUSTERS:
            for name in _TABLES:
                directories.table(root, cluster.name, name).read()
    except (TableError, OSError) as error:
        return [Finding("history", State.WRONG, str(error))]
    if isinstance(root, Remote):
        sentence = f"{root} answers; whether it may be written is seen when the first rows are."
        return [Finding("history", State.OK, sentence)]
    return [_room("history", root)]


def _sqlite() -> Finding:
    file = Path(str(connection.settings_dict["NAME"]))
    problem = _unwritable(file.parent)
    if not problem and file.exists() and not os.access(file, os.R_OK | os.W_OK):
        problem = f"{file} may not be written."
    if problem:
        return Finding("database", State.WRONG, problem, "Set ZKDASH_DATA to a writable directory.")
    if not file.exists():
        return Finding("database", State.OK, f"{file} is not there yet: the first start makes it.")
    # Reading makes files beside it unless they are there, or it is said that nobody writes.
    is_in_use = file.with_name(f"{file.name}-wal").exists()
    mode = "mode=ro" if is_in_use else "mode=ro&immutable=1"
    with contextlib.closing(sqlite3.connect(f"{file.resolve().as_uri()}?{mode}", uri=True)) as reading:
        reading.execute("PRAGMA query_only=ON")
        tables = reading.execute("SELECT name FROM sqlite_master WHERE name = 'django_migrations'")
        applied = set(reading.execute(_APPLIED)) if tables.fetchone() else set()
    return _judged(f"SQLite {sqlite3.sqlite_version} at {file}", applied)


def _postgresql() -> Finding:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = on")
            cursor.execute(
                "SELECT current_setting('server_version'), has_schema_privilege(current_schema(), 'CREATE')"
            )
            version, may_create = cursor.fetchone()
        applied = set(MigrationRecorder(connection).applied_migrations())
    finally:
        connection.close()
    name = f"PostgreSQL {version} at {connection.settings_dict['HOST'] or 'its socket'}"
    if not may_create:
        sentence = f"{name} answers, and its user may make no tables."
        remedy = "GRANT CREATE ON SCHEMA public to the user of the address."
        return Finding("database", State.WRONG, sentence, remedy)
    return _judged(name, applied)


def _judged(name: str, applied: Iterable[tuple[str, str]]) -> Finding:
    loader, applied = MigrationLoader(None, ignore_no_migrations=True), set(applied)
    if beyond := newer(loader, applied):
        what, remedy = told_newer(loader, beyond)
        return Finding("database", State.WRONG, f"{name} {what}", remedy)
    left = len(set(loader.disk_migrations) - applied)
    if left:
        return Finding(
            "database", State.OK, f"{name} answers; the next start makes {left} changes of tables."
        )
    return Finding("database", State.OK, f"{name} answers, and its tables are up to date.")


def _unwritable(directory: Path) -> str:
    """Why nothing can be written in a directory that is there or would be made; "" where it can."""
    there = directory
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        return f"{there} is no directory."
    if not os.access(there, os.W_OK | os.X_OK):
        return f"{there} may not be written."
    return ""


def _room(subject: str, directory: Path) -> Finding:
    there = next(path for path in (directory, *directory.parents) if path.exists())
    free = shutil.disk_usage(there).free
    made = "can be written" if directory.exists() else "is not there yet: the recorder makes it"
    sentence = f"{directory} {made}; {free // (1024 * 1024)} MiB are free."
    if free < _LITTLE:
        return Finding(subject, State.WARNING, sentence, "Make room: a full disk ends recording.")
    return Finding(subject, State.OK, sentence)
