"""The path below which zkdash is found behind a proxy, such as /zkdash.

A proxy may take it off or leave it on; what is within finds every path without it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from zkdash.configuration.errors import ConfigError

VARIABLE: Final = "ZKDASH_PREFIX"
_MOST_CHARACTERS: Final = 200
_NAME: Final = r"[A-Za-z0-9_~-][A-Za-z0-9._~-]*"
_PREFIX: Final = re.compile(rf"(?:/{_NAME})*")


def read(text: str) -> str:
    """The prefix as a path without a slash at its end; "" for none. Raises ConfigError."""
    prefix = text.strip().rstrip("/")
    if len(prefix) > _MOST_CHARACTERS or not _PREFIX.fullmatch(prefix):
        raise ConfigError(
            f"{VARIABLE} is {text[:_MOST_CHARACTERS]!r}: it is a path such as /zkdash, of letters, digits, "
            f"and ._~- between its slashes, of at most {_MOST_CHARACTERS} characters"
        )
    return prefix


def address(origins: Sequence[str], prefix: str) -> str:
    """Where people reach the pages, by the first origin that is configured; "" where none is."""
    return f"{origins[0]}{prefix}" if origins else ""


def without(prefix: str, scope: dict[str, Any]) -> dict[str, Any]:
    """An ASGI scope whose path lost the prefix, where it has one."""
    path = scope.get("path", "")
    if not prefix or not (path + "/").startswith(prefix + "/"):
        return scope
    return {**scope, "path": path[len(prefix) :] or "/"}


def mounted(prefix: str, scope: dict[str, Any]) -> dict[str, Any]:
    """A scope without the prefix as ASGI has one that is mounted there: it is in `path` and `root_path`."""
    return {**scope, "root_path": prefix, "path": prefix + scope["path"]} if prefix else scope
