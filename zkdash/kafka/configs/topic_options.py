"""The options that a topic may override, and what their values look like.

Source: kafka.log.LogConfig of 0.8.1 to 2.8, org.apache.kafka.storage.internals.log.LogConfig of 3.x.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_REPLICAS = r"\*|(?:[0-9]+:[0-9]+(?:,[0-9]+:[0-9]+)*)?"
_ANY_NUMBER = r"-?[0-9]{1,19}"
_NUMBER = r"[0-9]{1,19}"
_FLAG = r"(?i:true|false)"
_SHAPES: Final = {
    "cleanup.policy": r"(?:delete|compact)(?:\s*,\s*(?:delete|compact))*",
    "compression.gzip.level": _ANY_NUMBER,
    "compression.lz4.level": _NUMBER,
    "compression.type": r"uncompressed|zstd|lz4|snappy|gzip|producer",
    "compression.zstd.level": _ANY_NUMBER,
    "delete.retention.ms": _NUMBER,
    "file.delete.delay.ms": _NUMBER,
    "flush.messages": _NUMBER,
    "flush.ms": _NUMBER,
    "follower.replication.throttled.replicas": _REPLICAS,
    "index.interval.bytes": _NUMBER,
    "leader.replication.throttled.replicas": _REPLICAS,
    "local.retention.bytes": _ANY_NUMBER,
    "local.retention.ms": _ANY_NUMBER,
    "max.compaction.lag.ms": _NUMBER,
    "max.message.bytes": _NUMBER,
    "message.downconversion.enable": _FLAG,
    "message.format.version": r"[0-9]+(?:\.[0-9]+){1,3}(?:-IV[0-9]+)?",
    "message.timestamp.after.max.ms": _NUMBER,
    "message.timestamp.before.max.ms": _NUMBER,
    "message.timestamp.difference.max.ms": _NUMBER,
    "message.timestamp.type": r"CreateTime|LogAppendTime",
    "min.cleanable.dirty.ratio": r"0(?:\.[0-9]+)?|1(?:\.0+)?|\.[0-9]+",
    "min.compaction.lag.ms": _NUMBER,
    "min.insync.replicas": r"[1-9][0-9]{0,9}",
    "preallocate": _FLAG,
    "remote.storage.enable": _FLAG,
    "retention.bytes": _ANY_NUMBER,
    "retention.ms": _ANY_NUMBER,
    "segment.bytes": _NUMBER,
    "segment.index.bytes": _NUMBER,
    "segment.jitter.ms": _NUMBER,
    "segment.ms": r"[1-9][0-9]{0,18}",
    "unclean.leader.election.enable": _FLAG,
}
KNOWN: Final = frozenset(_SHAPES)
LEADER_THROTTLE: Final = "leader.replication.throttled.replicas"
FOLLOWER_THROTTLE: Final = "follower.replication.throttled.replicas"
# Of brokers (kafka.server.DynamicConfig.Broker), written below /config/brokers.
THROTTLES: Final = (LEADER_THROTTLE, FOLLOWER_THROTTLE)
BROKER_THROTTLES: Final = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")


def fault(name: str, value: str) -> str:
    """Why a topic's option may not have this value, as a sentence; empty where it may."""
    shape = _SHAPES.get(name)
    if shape is None:
        return f'"{name}" is not an option of a topic that Kafka 0.8.1 to 3.9 knows.'
    if not re.fullmatch(shape, value):
        return f'"{value}" is not a value that {name} can have.'
    return ""


MIN_ISR: Final = "min.insync.replicas"
ASSUMED_MIN_ISR: Final = 1  # Kafka's own default
_MOST_DIGITS = 9


def min_isr(config: Mapping[str, str]) -> int | None:
    """What a configuration says of min.insync.replicas, None where it says nothing that is a number."""
    text = config.get(MIN_ISR, "")
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return int(text) if is_number else None
