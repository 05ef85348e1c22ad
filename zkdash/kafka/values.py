"""What the znodes of Kafka mean, as values: frozen, typed, with nothing of where they were read.

A parser in `kafka.layouts` returns (value, reasons): the value where one can be had, `Unparsable` where
none can, and a sentence for each thing that is wrong. Three things are never mixed: absent (None, no such
znode), `Unparsable` (there, but not to be understood), and `znode.Unreadable` (there, but refused).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import TypeAlias

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

    @property
    def host_port(self) -> str | None:
        """`host:port` of its listener in plain text; None where it has none."""
        return None if self.host is None else f"{self.host}:{self.port}"

    @property
    def address(self) -> str:
        """Where it listens, in short: `host_port`, else all of its endpoints."""
        return self.host_port or ", ".join(self.endpoints)


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


class EntityConfig(msgspec.Struct, frozen=True):
    """/config of a client, a user, a client of a user, a broker or an address: name to value, both text.

    Of users and brokers the values that may be secret are `secrets.HIDDEN`.
    """

    config: Mapping[str, str]


class ConfigChange(msgspec.Struct, frozen=True):
    """/config/changes/config_change_N: which configuration to read again, by its path below /config.

    `version` is 0 for the bare topic name of 0.8.1 and 0.8.2.
    """

    version: int
    entity_path: str


class AclEntry(msgspec.Struct, frozen=True, gc=False):
    """One entry of an ACL, in Kafka's words: "User:alice", "Allow", "Read", "*"."""

    principal: str
    permission_type: str
    operation: str
    host: str


class ResourceAcl(msgspec.Struct, frozen=True):
    """/kafka-acl/<type>/<name>, or /kafka-acl-extended/prefixed/<type>/<prefix>."""

    entries: tuple[AclEntry, ...]


class AclChange(msgspec.Struct, frozen=True):
    """/kafka-acl-changes/acl_changes_N (whose pattern is always LITERAL), and the extended one of 2.0+."""

    resource_type: str
    name: str
    pattern_type: str


class Token(msgspec.Struct, frozen=True):
    """/delegation_token/tokens/<id>: epoch milliseconds, and nothing else of it ever enters."""

    version: int
    issue_timestamp: int
    max_timestamp: int
    expiry_timestamp: int


class TokenChange(msgspec.Struct, frozen=True):
    """/delegation_token/token_changes/token_change_N: a token came or went; which one does not enter."""


class Features(msgspec.Struct, frozen=True):
    """/feature (2.7+): the finalized levels by feature, (lowest, highest); version 2 has no lowest.

    `status` is 0 where finalizing features is disabled, 1 where it is enabled.
    """

    version: int
    status: int
    features: Mapping[str, tuple[int | None, int]]


class Migration(msgspec.Struct, frozen=True):
    """/migration (3.4+): how far a KRaft controller has brought the metadata over; -1 before it began."""

    kraft_controller_id: int
    kraft_controller_epoch: int
    kraft_metadata_offset: int
    kraft_metadata_epoch: int


class ProducerIds(msgspec.Struct, frozen=True):
    """/latest_producer_id_block (0.11+): the block given out last, both ends in it, and to which broker."""

    broker: int
    block_start: int
    block_end: int


class IsrChange(msgspec.Struct, frozen=True):
    """/isr_change_notification/isr_change_N: (topic, partition) pairs whose ISR their leader changed."""

    partitions: tuple[tuple[str, int], ...]


class LogDirEvent(msgspec.Struct, frozen=True):
    """/log_dir_event_notification/log_dir_event_N: event 1 is a log directory that failed on the broker."""

    broker: int
    event: int


Notification: TypeAlias = ConfigChange | AclChange | TokenChange | IsrChange | LogDirEvent
