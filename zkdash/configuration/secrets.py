"""Where a secret is, which no configuration holds itself: in an environment variable, or in a file."""

from __future__ import annotations

import logging
import stat
from collections.abc import Mapping
from pathlib import Path

import msgspec

from zkdash.configuration.errors import ConfigError

_MOST_BYTES = 64 * 1024

log = logging.getLogger(__name__)


class Source(msgspec.Struct, frozen=True):
    """Where a secret is: in the variable, or in the file, that `key` of the configuration names."""

    where: str
    key: str
    name: str

    def read(self, environ: Mapping[str, str]) -> str:
        """The secret, without a line's end. Raises ConfigError."""
        place = f"{self.where} {self.key} = {self.name!r}"
        if self.key.lower().endswith("_file"):
            secret = _content(place, Path(self.name)).rstrip("\r\n")
            if not secret.strip():
                raise ConfigError(f"{place} is an empty file: write the secret into it.")
        else:
            secret = environ.get(self.name, "")
            if not secret:
                raise ConfigError(
                    f"{place}, but the environment has no such variable: set it to the secret, or name a "
                    f"file by {self.key.removesuffix('_env')}_file."
                )
        if "\0" in secret:
            raise ConfigError(f"{place} holds a NUL, which no secret has: write it as text.")
        return secret


def named(where: str, table: msgspec.Struct, key: str) -> Source | None:
    """The secret that a table's `<key>_env` or `<key>_file` names, None for neither. Raises ConfigError."""
    variable, file = getattr(table, f"{key}_env"), getattr(table, f"{key}_file")
    if variable is not None and file is not None:
        raise ConfigError(f"{where} has both {key}_env and {key}_file: name one of them.")
    if file is not None:
        return Source(where, f"{key}_file", file)
    return None if variable is None else Source(where, f"{key}_env", variable)


def warn_if_open(place: str, path: Path) -> None:
    """Log a warning where others than owner and group may read a file of secrets."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # whoever reads it tells
    if mode & stat.S_IROTH:
        log.warning("%s may be read by everybody on this machine: chmod o-r it", place)


def _content(place: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ConfigError(f"{place} is too large for a secret: write only that into the file.")
        text = content.decode()
    except OSError as error:
        raise ConfigError(
            f"{place} can't be read: {error.strerror or error}; name a readable file."
        ) from error
    except UnicodeDecodeError:
        # not chained: the error holds the bytes
        raise ConfigError(f"{place} is no UTF-8 text: write the secret as text.") from None
    warn_if_open(place, path)
    return text
