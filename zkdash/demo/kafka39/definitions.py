"""What a simulated cluster of Kafka 3.9 is made of, before it exists."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.demo.consumers.configs import GroupConfig


class BrokerConfig(msgspec.Struct, frozen=True):
    """What a broker's own configuration says."""

    id: int
    host: str
    port: int
    rack: str


class NewTopic(msgspec.Struct, frozen=True):
    """A topic to be made; `config` are its overrides, `per_s` the messages that it takes in a second."""

    name: str
    partitions: int
    replication: int
    config: Mapping[str, str] = {}
    per_s: float = 10.0


class ClusterDefinition(msgspec.Struct, frozen=True):
    """A whole cluster."""

    brokers: tuple[BrokerConfig, ...]
    topics: tuple[NewTopic, ...]
    groups: tuple[GroupConfig, ...]
