"""`segments` of a cluster: where the log directories of its brokers lie, as the pipeline can open them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

import msgspec

from zkdash.configuration import keys
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.tables import Table

MOST_DIRECTORIES: Final = 1000  # of all brokers of a cluster
_LARGEST_ID: Final = 2**31 - 1
_Directory = Annotated[str, keys.path("One of Kafka's log.dirs.", '"/data/kafka" or "hdfs://…"')]


class LogDirs(Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The log.dirs of one broker. Without its id, it is as meta.properties there says, else unknown."""

    broker: (
        Annotated[
            int,
            msgspec.Meta(
                ge=0,
                le=_LARGEST_ID,
                description="The broker's id; unless set, what meta.properties in its directories says.",
            ),
        ]
        | None
    ) = None
    directories: Annotated[
        tuple[_Directory, ...],
        msgspec.Meta(
            description="Its log.dirs, as the pipeline can open them.",
            extra={"wrong": 'is no list of paths: write ["/data/kafka"]', "example": "/data/kafka"},
        ),
    ]

    def check(self) -> None:
        if not self.directories or not all(self.directories):
            raise ConfigError("directories names no directory: write the broker's log.dirs.")


def refuse(brokers: Iterable[LogDirs]) -> None:
    """Refuse what is named twice, and too much. Raises ConfigError."""
    seen: set[int | str] = set()
    for each in brokers:
        if each.broker in seen:
            raise ConfigError(
                f"segments names broker {each.broker} twice: put its directories into one list."
            )
        seen |= {each.broker} if each.broker is not None else set()
        for directory in each.directories:
            if directory in seen:
                raise ConfigError(f"segments names {directory} twice: name each directory once.")
            seen.add(directory)
    count = sum(len(each.directories) for each in brokers)
    if count > MOST_DIRECTORIES:
        raise ConfigError(f"segments names {count} directories: name {MOST_DIRECTORIES} at most.")
