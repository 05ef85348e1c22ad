"""What the znodes of Kafka mean, as values: frozen, typed, with nothing of where they were read.

A parser in `kafka.layouts` returns (value, reasons): the value where one can be had, `Unparsable` where
none can, and a sentence for each thing that is wrong. Three things are never mixed: absent (None, no such
znode), `Unparsable` (there, but not to be understood), and `znode.Unreadable` (there, but refused).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec


class Layout(enum.Enum):
    """Which layout a cluster or a topic was written in (0.7, or 0.8 and later)."""

    V07 = "0.7"
    V08 = "0.8+"
    MIXED = "mixed"
    NONE = "none"


class Unparsable(msgspec.Struct, frozen=True):
    """A znode whose data could not be understood; `reason` is a sentence without the path."""

    reason: str


class Problem(msgspec.Struct, frozen=True):
    """A znode that does not parse: where, why, and the first bytes (empty for a secret path).

    `critical` is True for ids, topics, states and consumer ids (check D30).
    """

    path: str
    reason: str
    head: bytes
    critical: bool


class Broker(msgspec.Struct, frozen=True):
    """/brokers/ids/N. `version` is the JSON's, None for 0.7. `port` is -1 on TLS-only clusters.

    `timestamp` is epoch milliseconds (None where the release writes none), `creator` is 0.7's creator id.
    """

    id: int
    layout: Layout
    host: str | None
    port: int | None
    version: int | None = None
    endpoints: tuple[str, ...] = ()
    rack: str | None = None
    jmx_port: int | None = None
    timestamp: int | None = None
    listener_security_protocol_map: Mapping[str, str] | None = None
    features: Mapping[str, tuple[int, int]] | None = None
    creator: str | None = None


class Controller(msgspec.Struct, frozen=True):
    """/controller. `kraft_controller_epoch` >= 0 means that a KRaft controller owns the metadata."""

    broker_id: int
    version: int
    timestamp: int | None = None
    kraft_controller_epoch: int | None = None


class Assignment(msgspec.Struct, frozen=True):
    """/brokers/topics/T of 0.8+: assigned replicas by partition id, the preferred leader first.

    While a move runs `adding` and `removing` (2.4+) hold only the partitions that move.
    """

    version: int
    partitions: Mapping[int, tuple[int, ...]]
    adding: Mapping[int, tuple[int, ...]] = {}
    removing: Mapping[int, tuple[int, ...]] = {}
    topic_id: str | None = None


class PartitionState(msgspec.Struct, frozen=True, gc=False):
    """/brokers/topics/T/partitions/P/state. `leader` is -1 where there is none.

    `leader_recovery_state` is 0 (recovered) or 1 (recovering after an unclean election, 3.2+).
    """

    leader: int
    leader_epoch: int
    controller_epoch: int
    isr: tuple[int, ...]
    leader_recovery_state: int = 0


class TopicConfig(msgspec.Struct, frozen=True):
    """/config/topics/T: the overrides, name to value, both text."""

    config: Mapping[str, str]


class Move(msgspec.Struct, frozen=True, gc=False):
    """One entry of /admin/reassign_partitions: the partition and its target replicas."""

    topic: str
    partition: int
    replicas: tuple[int, ...]


class Reassignment(msgspec.Struct, frozen=True):
    """/admin/reassign_partitions."""

    moves: tuple[Move, ...]


class Election(msgspec.Struct, frozen=True):
    """/admin/preferred_replica_election: (topic, partition) pairs."""

    partitions: tuple[tuple[str, int], ...]


class Pattern(enum.Enum):
    """How a consumer names its topics."""

    STATIC = "static"
    WHITE_LIST = "white_list"
    BLACK_LIST = "black_list"


class Registration(msgspec.Struct, frozen=True):
    """/consumers/G/ids/<consumer id>: topic (or the one regex) to number of threads.

    `timestamp` is epoch milliseconds, None in 0.7 (there the consumer id holds it).
    """

    layout: Layout
    pattern: Pattern
    subscription: Mapping[str, int]
    timestamp: int | None = None


class ClusterId(msgspec.Struct, frozen=True):
    """/cluster/id (0.10.1+)."""

    id: str
