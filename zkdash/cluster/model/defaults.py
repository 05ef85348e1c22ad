"""What the dynamic configuration of all brokers says, as far as ZooKeeper holds it."""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.cluster.model.state import Seen
from zkdash.kafka import paths
from zkdash.kafka.topics import options as topic_options
from zkdash.kafka.values import EntityConfig


def min_isr(configs: Mapping[str, Seen[EntityConfig]]) -> int:
    """What /config/brokers/<default> says (1.1+), else 1: server.properties is not in ZooKeeper."""
    least = topic_options.min_isr(of_brokers(configs))
    return topic_options.ASSUMED_MIN_ISR if least is None else least


def of_brokers(configs: Mapping[str, Seen[EntityConfig]]) -> Mapping[str, str]:
    """The dynamic configuration of all brokers, as far as it may be shown."""
    seen = configs.get(f"brokers/{paths.DEFAULT}")
    return seen.value.config if seen is not None and isinstance(seen.value, EntityConfig) else {}
