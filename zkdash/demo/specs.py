"""What a simulated cluster is made of, before it exists."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class BrokerSpec(msgspec.Struct, frozen=True):
    """What a broker's own configuration says."""

    id: int
    host: str
    port: int
    rack: str


class TopicSpec(msgspec.Struct, frozen=True):
    """A topic to be made; `config` are its overrides."""

    name: str
    partitions: int
    replication: int
    config: Mapping[str, str] = {}


class GroupSpec(msgspec.Struct, frozen=True):
    """A consumer group: one entry of `members` per member, the number of its threads for each topic.

    `topics` are its static subscription; `white_list` is a regular expression instead. A group that is
    `abandoned` commits once and leaves. The last member of a `restless` group comes and goes.
    """

    name: str
    members: tuple[int, ...]
    topics: tuple[str, ...] = ()
    white_list: str | None = None
    abandoned: bool = False
    restless: bool = False


class Catalogue(msgspec.Struct, frozen=True):
    """A whole cluster."""

    brokers: tuple[BrokerSpec, ...]
    topics: tuple[TopicSpec, ...]
    groups: tuple[GroupSpec, ...]
