"""What somebody wants done, as values: made by a form, a command or another plan, before any state is known.

Each is stored as JSON with its tag under "kind". They stand in one file because databases hold them: all that
must stay readable is seen here together. What is made of each is declared below `kinds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from zkdash.kafka.values import Move


class ElectPreferred(msgspec.Struct, frozen=True, tag_field="kind", tag="elect-preferred"):
    """Let preferred replicas lead: of these topics or of these (topic, partition) pairs, of all where both
    are empty."""

    topics: tuple[str, ...] = ()
    partitions: tuple[tuple[str, int], ...] = ()


class Reassign(msgspec.Struct, frozen=True, tag_field="kind", tag="reassign"):
    """Move partitions to these replicas.

    `concurrent` limits how many partitions move at once; `throttle` is bytes per second and broker.
    `supersede` allows to replace a move that the brokers' own API started (2.4+).
    """

    moves: tuple[Move, ...]
    concurrent: int | None = None
    throttle: int | None = None
    supersede: bool = False


class CreateTopic(msgspec.Struct, frozen=True, tag_field="kind", tag="create-topic"):
    """Create a topic, by numbers or by an explicit `assignment` (replicas by partition).

    `replication` None: as many as there are brokers, three at most.
    `start` and `shift` are what Kafka draws by lot for the placement.
    """

    topic: str
    partitions: int = 1
    replication: int | None = None
    config: Mapping[str, str] = {}
    assignment: Mapping[int, tuple[int, ...]] = {}
    start: int | None = None
    shift: int | None = None


class AddPartitions(msgspec.Struct, frozen=True, tag_field="kind", tag="add-partitions"):
    """Let a topic have `total` partitions; `assignment` names the replicas of the new ones, if given."""

    topic: str
    total: int
    assignment: Mapping[int, tuple[int, ...]] = {}


class ChangeConfig(msgspec.Struct, frozen=True, tag_field="kind", tag="change-config"):
    """Put and drop overrides of a topic; all others stay."""

    topic: str
    put: Mapping[str, str] = {}
    drop: tuple[str, ...] = ()


class DeleteTopic(msgspec.Struct, frozen=True, tag_field="kind", tag="delete-topic"):
    """Mark a topic for deletion."""

    topic: str


class DeleteGroup(msgspec.Struct, frozen=True, tag_field="kind", tag="delete-group"):
    """Delete an inactive group of ZooKeeper consumers, or only what it keeps of one topic."""

    group: str
    topic: str | None = None


class OffsetAt(msgspec.Struct, frozen=True):
    """The offset that a group shall go on from; `part` is the partition ("0", or 0.7's "1-0").

    `value` None deletes the stored offset.
    """

    topic: str
    part: str
    value: int | None


class ResetOffsets(msgspec.Struct, frozen=True, tag_field="kind", tag="reset-offsets"):
    """Write offsets of an inactive group of ZooKeeper consumers."""

    group: str
    offsets: tuple[OffsetAt, ...]


class ReelectController(msgspec.Struct, frozen=True, tag_field="kind", tag="reelect-controller"):
    """Let the brokers elect a controller anew."""


class ClearThrottles(msgspec.Struct, frozen=True, tag_field="kind", tag="clear-throttles"):
    """Remove the throttles that a finished reassignment left behind."""


class ClearConfigs(msgspec.Struct, frozen=True, tag_field="kind", tag="clear-configs"):
    """Remove the configurations of topics that no longer are; of all such topics where none is named."""

    topics: tuple[str, ...] = ()


class ClearStuck(msgspec.Struct, frozen=True, tag_field="kind", tag="clear-stuck"):
    """Remove /admin/reassign_partitions or /admin/preferred_replica_election that no controller acts on, or
    the mark in /admin/delete_topics of a topic that is not there."""

    path: str


class RevertStuck(msgspec.Struct, frozen=True, tag_field="kind", tag="revert-stuck"):
    """Send a stuck reassignment back: delete its znode, ask for the replicas as they were, re-elect.

    `originals` are the replicas before the move, where the assignment does not tell them (before 2.4).
    """

    originals: tuple[Move, ...] = ()


class CleanUpTopic(msgspec.Struct, frozen=True, tag_field="kind", tag="clean-up-topic"):
    """Remove the znodes of a topic whose deletion is stuck, after its folders were removed from all brokers.

    `folders_removed` says that an operator removed the folders with their brokers stopped.
    """

    topic: str
    folders_removed: bool = False


Intent: TypeAlias = (
    ElectPreferred
    | Reassign
    | CreateTopic
    | AddPartitions
    | ChangeConfig
    | DeleteTopic
    | DeleteGroup
    | ResetOffsets
    | ReelectController
    | ClearThrottles
    | ClearConfigs
    | ClearStuck
    | RevertStuck
    | CleanUpTopic
)


def kind(intent: Intent) -> str:
    """The intent's tag, as in its JSON."""
    return tag(type(intent))


def tag(of: type[msgspec.Struct]) -> str:
    """The tag of a class of intents, as in their JSON."""
    return str(of.__struct_config__.tag)
