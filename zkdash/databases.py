"""Where zkdash keeps its own rows: SQLite in the data directory, or the PostgreSQL of ZKDASH_DATABASE."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django import db
from django.core.exceptions import ImproperlyConfigured

from zkdash import extras

VARIABLE = "ZKDASH_DATABASE"

# A server that is away refuses at once; one that is silent is given up after so long.
_SILENT = {
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",  # ms
}
# What the two databases say of what the operator can mend, and how we say it.
_WHY = (
    (re.compile(r"is full|No space left"), "its disk is full"),
    (re.compile(r"disk I/O error"), "its disk does not take what is written"),
    (re.compile(r"readonly database|read-only"), "it is read-only"),
    (re.compile(r"is locked|deadlock|(?:lock|statement) timeout"), "it is busy"),
)


def load(environ: Mapping[str, str], data_dir: Path) -> dict[str, Any]:
    """Django's settings of the one database. Raises ImproperlyConfigured."""
    url = environ.get(VARIABLE, "").strip()
    return _postgresql(url) if url else sqlite(data_dir)


def sqlite(data_dir: Path) -> dict[str, Any]:
    """A file in a directory, for many readers and one writer that waits its turn.

    Without these options, writers fail instead of waiting.
    """
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": data_dir / "zkdash.sqlite3",
        "CONN_MAX_AGE": 0,
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
        },
    }


def _postgresql(url: str) -> dict[str, Any]:
    if lacking := extras.missing("postgres", VARIABLE):
        raise ImproperlyConfigured(lacking)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(f"{VARIABLE} is not an address of a database: {error}.") from error
    name = unquote(parts.path.lstrip("/"))
    if parts.scheme not in {"postgresql", "postgres"} or not name:
        raise ImproperlyConfigured(
            f"{VARIABLE} must be postgresql://user:password@host:5432/database; "
            "leave it out for SQLite in the data directory."
        )
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": str(port or ""),
        "CONN_MAX_AGE": 0,
        "OPTIONS": _SILENT | options,
    }


def is_away(error: Exception) -> bool:
    """Whether the database fails, and not what it was asked: then the same may be asked again later."""
    return isinstance(error, db.OperationalError | db.InterfaceError | db.InternalError)


def why(error: Exception) -> str:
    """What is wrong with a database that fails, without its address: "its disk is full"."""
    text = str(error)
    return next((words for pattern, words in _WHY if pattern.search(text)), "it does not answer")


def line(error: Exception) -> str:
    """What the database itself says of it, in one line for the log."""
    return " ".join(str(error).split()) or type(error).__name__
