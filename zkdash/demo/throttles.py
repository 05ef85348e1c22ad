"""The replication throttles that the simulated brokers were told of, by notifications. Pure.

After kafka.server.TopicConfigHandler and BrokerConfigHandler: a topic names the throttled replicas as
`partition:broker` or `*`, a broker its rates in bytes a second (KIP-73).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from zkdash.demo.ledger import TopicPartition
from zkdash.kafka.topics import options as topic_options

_LEADER_RATE = "leader.replication.throttled.rate"
_FOLLOWER_RATE = "follower.replication.throttled.rate"


class Throttles:
    """The newest word of each entity."""

    def __init__(self) -> None:
        self._configs: dict[str, Mapping[str, str]] = {}

    def hear(self, entity: str, data: bytes | None) -> None:
        """An entity's (`topics/T`, `brokers/B`) configuration as it is now; None where there is none."""
        try:
            config = json.loads(data or b"{}").get("config", {})
            self._configs[entity] = {str(key): str(value) for key, value in config.items()}
        except (ValueError, AttributeError):
            return  # a real broker logs it, and goes on with what it knew

    def leaving(self, key: TopicPartition, broker: int) -> float | None:
        """Bytes a second that a leader may send of its throttled replicas; None where this is not one."""
        return self._rate(key, broker, topic_options.LEADER_THROTTLE, _LEADER_RATE)

    def arriving(self, key: TopicPartition, broker: int) -> float | None:
        """Bytes a second that a follower may take for its throttled replicas; None where this is not one."""
        return self._rate(key, broker, topic_options.FOLLOWER_THROTTLE, _FOLLOWER_RATE)

    def _rate(self, key: TopicPartition, broker: int, replicas: str, rate: str) -> float | None:
        named = self._configs.get(f"topics/{key.topic}", {}).get(replicas, "")
        if named != "*" and f"{key.partition}:{broker}" not in named.split(","):
            return None
        limit = self._configs.get(f"brokers/{broker}", {}).get(rate, "")
        return float(limit) if limit.isdigit() else None
