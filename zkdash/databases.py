"""Where zkdash keeps its own rows: SQLite in the data directory, or the PostgreSQL of ZKDASH_DATABASE."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

VARIABLE = "ZKDASH_DATABASE"


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
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(f"{VARIABLE} is no address of a database: {error}.") from error
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
        "OPTIONS": options,
    }
