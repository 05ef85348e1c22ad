"""`[limits]` of the clusters' file: how much of zkdash one address, one person and all of them may take.

Each bound of what comes in is declared here and nowhere else. Parsed once, in settings; everything wrong is
a ConfigError, one sentence that names file, key and value. A key that ends in `_bytes` is a number of bytes,
in `_s` one of seconds; any other is a count.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from zkdash.zk.connection.identity import ConfigError

OF_ADDRESS = "_per_address"
OF_PERSON = "_per_person"

_MOST_COUNTED = 1_000_000
_MOST_BYTES = 2**30
_SECONDS = (0.1, 3600.0)

# What a process opens beside connections: for each request its thread's files of the database, and the rest.
_FILES_A_REQUEST = 4
_FILES_BESIDES = 256
# So many may wait to be taken at least: who is not among them tries again after a second.
_BACKLOG = 128
_FEWEST = 16


class Limits(msgspec.Struct, frozen=True):
    """What is let in; docs/operating.md tells of each.

    `connections` are open at once, of which those that ask for nothing give way to new ones. `requests` are
    worked on at once, others wait for their turn. `sockets` and `feeds` are open at once; a person is who is
    signed in, or whose token is shown. `large_bodies` are those over `small_form_bytes`, received at once.
    `head` is a request's line and headers; `head_s` begins with the connection, or the last answer's end.
    `body_s` is for a whole body. `unread` is what was answered and not taken yet.
    """

    connections: int = 5000
    connections_per_address: int = 2500
    requests: int = 32
    requests_per_address: int = 16
    sockets: int = 2500
    sockets_per_address: int = 1250
    sockets_per_person: int = 250
    feeds: int = 200
    feeds_per_address: int = 100
    feeds_per_person: int = 20
    large_bodies: int = 32
    large_bodies_per_address: int = 8
    form_bytes: int = 6 * 2**20  # a pasted reassignment may hold 5 MB, a selection a thousand rows
    small_form_bytes: int = 64 * 2**10
    head_bytes: int = 64 * 2**10
    head_s: float = 10.0
    body_s: float = 60.0
    turn_s: float = 30.0
    unread_bytes: int = 256 * 2**20
    unread_bytes_per_address: int = 64 * 2**20
    unread_s: float = 30.0

    @property
    def backlog(self) -> int:
        """How many connections may wait to be taken."""
        return max(_BACKLOG, self.connections // 4)

    @property
    def files(self) -> int:
        """How many files and sockets a process has open at most."""
        return self.connections + self.backlog + _FILES_A_REQUEST * self.requests + _FILES_BESIDES

    def within(self, files: int) -> Limits:
        """The same in small, for a process that may open so many files only. Raises ConfigError."""
        if self.files <= files:
            return self
        share = (files - _FILES_BESIDES - _BACKLOG) / (self.files - _FILES_BESIDES)
        found = msgspec.structs.replace(
            self, **{name: max(2, int(getattr(self, name) * share)) for name in _OPEN}
        )
        if found.connections < _FEWEST:
            raise ConfigError(
                f"This process may open {files} files only (ulimit -n), which leaves too few for "
                f"connections: allow it {self.files}."
            )
        return msgspec.structs.replace(
            found, **{name: min(getattr(found, name), getattr(found, _whole(name)) - 1) for name in _SHARES}
        )


KEYS = Limits.__struct_fields__
# Each opens files.
_OPEN = tuple(key for key in KEYS if key.startswith(("connections", "requests", "sockets", "feeds")))
_SHARES = tuple(key for key in KEYS if key.endswith((OF_ADDRESS, OF_PERSON)))


def load(environ: Mapping[str, str]) -> Limits:
    """Read the file of ZKDASH_CONFIG; what its table lacks is as usual. Raises ConfigError."""
    file = environ.get("ZKDASH_CONFIG", "").strip()
    if not file:
        return Limits()
    try:
        document = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"ZKDASH_CONFIG={file} can't be read as TOML: {error}.") from error
    where, table = f"{file}: [limits]", document.get("limits", {})
    if not isinstance(table, dict):
        raise ConfigError(f"{where} is no table: write [limits] and its keys below.")
    unknown = sorted(table.keys() - {*KEYS})
    if unknown:
        raise ConfigError(f"{where} has the unknown key {unknown[0]!r}: known are {', '.join(sorted(KEYS))}.")
    given: dict[str, Any] = {key: _number(where, key, value) for key, value in table.items()}
    found = Limits(**given)
    _agree(where, found)
    return found


def _number(where: str, key: str, value: object) -> float | int:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if key.endswith("_s"):
        least, most = _SECONDS
        if not is_number or not least <= value <= most:  # type: ignore[operator]
            raise ConfigError(
                f"{where} {key} = {value!r} is no number of seconds from {least:g} to {most:g}."
            )
        return float(value)  # type: ignore[arg-type]
    least, most = (1, _MOST_BYTES) if "_bytes" in key else (1, _MOST_COUNTED)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ConfigError(f"{where} {key} = {value!r} is no whole number from {least} to {most}.")
    return value


def _agree(where: str, limits: Limits) -> None:
    """One address, or one person, is to leave some for others, and what stays open some for pages."""
    for key in _SHARES:
        share, whole = getattr(limits, key), getattr(limits, _whole(key))
        if share >= whole:
            raise ConfigError(
                f"{where} {key} = {share} leaves nothing for others: {_whole(key)} is {whole}; "
                "it must be less."
            )
    for of in ("", OF_ADDRESS):
        names = tuple(f"{kind}{of}" for kind in ("sockets", "feeds", "connections"))
        sockets, feeds, connections = (getattr(limits, name) for name in names)
        if sockets + feeds >= connections:
            raise ConfigError(
                f"{where} {names[2]} = {connections} leaves nothing for pages: {names[0]} and {names[1]} are "
                f"{sockets + feeds} together; it must be more."
            )
    small, large = limits.small_form_bytes, limits.form_bytes
    if small > large:
        raise ConfigError(f"{where} small_form_bytes = {small} is more than form_bytes = {large}.")


def _whole(share: str) -> str:
    return share.removesuffix(OF_ADDRESS).removesuffix(OF_PERSON)
