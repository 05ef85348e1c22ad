"""What a simulated cluster of Kafka 0.7 is made of, before it exists."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.demo.consumers.configs import GroupConfig


class BrokerConfig07(msgspec.Struct, frozen=True):
    """What the configuration of a 0.7 broker says; `topics` are its partitions by topic."""

    id: int
    host: str
    port: int
    topics: Mapping[str, int]


class ClusterDefinition07(msgspec.Struct, frozen=True):
    """A whole cluster of Kafka 0.7, whose topics are its brokers'."""

    brokers: tuple[BrokerConfig07, ...]
    groups: tuple[GroupConfig, ...]
