"""`[limits]`: how much of zkdash one address, one person and all of them may take.

Each bound of what comes in is declared here and nowhere else. A key that ends in `_bytes` is a number of
bytes, in `_s` one of seconds; any other is a count.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from zkdash.configuration import keys
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.tables import Table

OF_ADDRESS = "_per_address"
OF_PERSON = "_per_person"

# What a process opens beside connections: for each request its thread's files of the database, and the rest.
_FILES_A_REQUEST = 4
_FILES_BESIDES = 256
# So many may wait to be taken at least: who is not among them tries again after a second.
_BACKLOG = 128
_FEWEST = 16


def _count(description: str) -> msgspec.Meta:
    return keys.count(description, most=1_000_000)


def _bytes(description: str) -> msgspec.Meta:
    return keys.count(description, most=2**30, unit=keys.BYTES)


def _seconds(description: str) -> msgspec.Meta:
    return keys.seconds(description, least=0.1, most=3600)


class Limits(Table, frozen=True, forbid_unknown_fields=True):
    """What is let in; docs/operating.md tells of each."""

    connections: Annotated[int, _count("Open at once; idle ones give way to new ones.")] = 5000
    connections_per_address: Annotated[int, _count("Of these, those of one address.")] = 2500
    requests: Annotated[int, _count("Worked on at once; others wait, addresses in rotation.")] = 32
    requests_per_address: Annotated[int, _count("Of these, those of one address.")] = 16
    sockets: Annotated[int, _count("Open at once: pages and embeds.")] = 2500
    sockets_per_address: Annotated[int, _count("Of these, those of one address.")] = 1250
    sockets_per_person: Annotated[int, _count("Of these, those of who is signed in, or shows a token.")] = 250
    live_pages: Annotated[int, _count("Different pages that sockets look at, at once.")] = 1000
    live_pages_per_address: Annotated[int, _count("Of these, those of one address.")] = 500
    live_pages_per_person: Annotated[
        int, _count("Of these, those of who is signed in, or shows a token.")
    ] = 50
    feeds: Annotated[int, _count("Change feeds that are open at once.")] = 200
    feeds_per_address: Annotated[int, _count("Of these, those of one address.")] = 100
    feeds_per_person: Annotated[int, _count("Of these, those of who is signed in, or shows a token.")] = 20
    large_bodies: Annotated[int, _count("Those over `small_form_bytes`, received or in work at once.")] = 32
    large_bodies_per_address: Annotated[int, _count("Of these, those of one address.")] = 8
    # a pasted reassignment may hold 5 MB, a selection a thousand rows
    form_bytes: Annotated[int, _bytes("What an action's form takes, or an acknowledgement.")] = 6 * 2**20
    small_form_bytes: Annotated[int, _bytes("What signing in, buttons and /admin/ take.")] = 64 * 2**10
    head_bytes: Annotated[int, _bytes("A request's line and headers (100 at most).")] = 64 * 2**10
    path_names: Annotated[int, _count("Names between the slashes of an address.")] = 100
    path_characters: Annotated[int, _count("An address's path, its percent-encoding undone.")] = 8192
    head_s: Annotated[float, _seconds("For a request's head, from the connection or last answer on.")] = 10.0
    body_s: Annotated[float, _seconds("For a whole body.")] = 60.0
    turn_s: Annotated[float, _seconds("For a request's turn.")] = 30.0
    unread_bytes: Annotated[int, _bytes("Answers that are not taken yet.")] = 256 * 2**20
    unread_bytes_per_address: Annotated[int, _bytes("Of these, those to one address.")] = 64 * 2**20
    unread_s: Annotated[float, _seconds("For the next 16 KiB of an answer to be taken.")] = 30.0
    hashes: Annotated[int, _count("Passwords whose hash is computed at once.")] = 2
    sign_ins: Annotated[int, _count("Attempts to sign in that are judged or wait for that at once.")] = 12
    sign_ins_per_address: Annotated[int, _count("Of these, those of one address.")] = 8
    name_attempts: Annotated[int, _count("At one name from one address within `attempts_s`.")] = 5
    address_attempts: Annotated[int, _count("From one address at any name within `attempts_s`.")] = 100
    attempts_s: Annotated[float, _seconds("For which an attempt to sign in counts.")] = 900.0
    past_requests: Annotated[int, _count("For the past (`?at=`), worked on or waiting for that at once.")] = 8
    past_s: Annotated[float, _seconds("For an answer about the past, its turn included.")] = 30.0
    past_idle_s: Annotated[
        float, _seconds("For which the process that tells the past stays with no question.")
    ] = 300.0
    past_bytes: Annotated[
        int, keys.count("Of memory, for the process that tells the past.", most=2**40, unit=keys.BYTES)
    ] = 2 * 2**30
    bookmarks: Annotated[int, _count("Moments kept of one cluster.")] = 50
    bookmarks_per_person: Annotated[int, _count("Of these, those that one person made.")] = 25
    bookmark_bytes: Annotated[int, _bytes("What tells one of them, before it is compressed.")] = 256 * 2**20
    rights_s: Annotated[
        float, _seconds("For which rights count while the database tells nothing of them.")
    ] = 900.0

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
        limits = msgspec.structs.replace(
            self, **{name: max(2, int(getattr(self, name) * share)) for name in _OPEN}
        )
        if limits.connections < _FEWEST:
            raise ConfigError(
                f"This process may open {files} files only (ulimit -n), which leaves too few for "
                f"connections: allow it {self.files}."
            )
        return msgspec.structs.replace(
            limits,
            **{name: min(getattr(limits, name), getattr(limits, _whole(name)) - 1) for name in _SHARES},
        )

    def check(self) -> None:
        """One address, or one person, is to leave some for others, and what stays open some for pages."""
        for key in _SHARES:
            share, whole = getattr(self, key), getattr(self, _whole(key))
            if share >= whole:
                raise ConfigError(
                    f"{key} = {share} leaves nothing for others: {_whole(key)} is {whole}; it must be less."
                )
        for of in ("", OF_ADDRESS):
            names = tuple(f"{kind}{of}" for kind in ("sockets", "feeds", "connections"))
            sockets, feeds, connections = (getattr(self, name) for name in names)
            if sockets + feeds >= connections:
                raise ConfigError(
                    f"{names[2]} = {connections} leaves nothing for pages: {names[0]} and {names[1]} are "
                    f"{sockets + feeds} together; it must be more."
                )
        small, large = self.small_form_bytes, self.form_bytes
        if small > large:
            raise ConfigError(f"small_form_bytes = {small} is more than form_bytes = {large}.")


KEYS = Limits.__struct_fields__
# Each opens files.
_OPEN = tuple(key for key in KEYS if key.startswith(("connections", "requests", "sockets", "feeds")))
_SHARES = tuple(key for key in KEYS if key.endswith((OF_ADDRESS, OF_PERSON)))


def _whole(share: str) -> str:
    return share.removesuffix(OF_ADDRESS).removesuffix(OF_PERSON)
