"""Whether KRaft owns the metadata (KIP-866), and how far its migration is, as far as ZooKeeper tells.

What a real migration of 3.9 leaves in ZooKeeper: /migration with -1 in all fields once a KRaft controller
with zookeeper.metadata.migration.enable has found ZooKeeper; then, when every broker has registered with that
controller too, /controller as a persistent znode with its id and kraftControllerEpoch >= 0, and its id in
/migration, whose kraft_metadata_offset stays -1 until the metadata is copied, and grows with each change that
is written to both. A broker that is restarted in KRaft mode registers in ZooKeeper no more. Taking the
controllers out of migration changes nothing in ZooKeeper.
"""

from __future__ import annotations

import enum
from typing import TypeVar

from zkdash.cluster.model.known import Known
from zkdash.cluster.model.state import ClusterState, Seen
from zkdash.kafka.values import Controller, Migration

T = TypeVar("T")


class Stage(enum.Enum):
    """How far the migration is."""

    UNKNOWN = "not known"
    ZOOKEEPER = "not begun"
    WAITING = "a KRaft controller waits for the brokers"
    COPYING = "KRaft has taken over, and copies the metadata"
    OWNED = "KRaft owns the metadata"
    LEFT_BEHIND = "a broker is the controller, and /migration was left behind"


def stage(state: ClusterState) -> Stage:
    """How far the migration is, from /controller and /migration alone."""
    migration = value(state.migration)
    controller = value(state.controller)
    if not state.loaded or not isinstance(migration, Migration | None):
        return Stage.UNKNOWN
    if controller is not None and not isinstance(controller, Controller):
        return Stage.UNKNOWN
    if _is_kraft(controller):
        copied = migration is not None and migration.kraft_metadata_offset >= 0
        return Stage.OWNED if copied else Stage.COPYING
    if migration is None:
        return Stage.ZOOKEEPER
    return Stage.WAITING if migration.kraft_controller_id < 0 else Stage.LEFT_BEHIND


def refusal(state: ClusterState, migration: Seen[Migration] | None = None) -> str:
    """Why nothing may be written: KRaft owns the metadata, or might; "" where a broker is the controller.

    `migration` is /migration where it was read anew.
    """
    controller, migrating = value(state.controller), value(migration or state.migration)
    if _is_kraft(controller):
        number = controller.broker_id if isinstance(controller, Controller) else ""
        return (
            f"A KRaft controller owns the metadata (/controller is {number}’s, with a kraftControllerEpoch): "
            "what is written into ZooKeeper would be lost or do harm. Use Kafka’s own tools at the brokers."
        )
    if migrating is None or (isinstance(migrating, Migration) and migrating.kraft_controller_id < 0):
        return ""
    if isinstance(migrating, Migration):
        return (
            f"The metadata is being migrated to KRaft: /migration names KRaft controller "
            f"{migrating.kraft_controller_id}. Where the migration was rolled back, delete /migration, as "
            "Kafka’s own guide says."
        )
    return (
        f"Nobody can tell whether KRaft owns the metadata: /migration is not to be had ({migrating.reason})."
    )


def owner(state: ClusterState) -> int | None:
    """The id of the KRaft controller that owns the metadata; None where none does, as far as is known."""
    controller = value(state.controller)
    return controller.broker_id if isinstance(controller, Controller) and _is_kraft(controller) else None


def moved_brokers(state: ClusterState) -> tuple[int, ...]:
    """The brokers that lead or are assigned something and are not registered in ZooKeeper: once KRaft owns
    the metadata they run in KRaft mode, or not at all."""
    return tuple(sorted(frozenset(state.loads).difference(state.brokers)))


def value(seen: Seen[T] | None) -> Known[T]:
    """What a znode holds; None where it is absent."""
    return None if seen is None else seen.value


def _is_kraft(controller: object) -> bool:
    """KIP-866: kraftControllerEpoch is -1 while a broker is the controller."""
    if not isinstance(controller, Controller):
        return False
    return controller.kraft_controller_epoch is not None and controller.kraft_controller_epoch >= 0


def controller(state: ClusterState) -> int | None:
    """The broker that is the controller. A KRaft controller, while a cluster migrates, is no broker."""
    registered = value(state.controller)
    if not isinstance(registered, Controller) or owner(state) is not None:
        return None
    return registered.broker_id
