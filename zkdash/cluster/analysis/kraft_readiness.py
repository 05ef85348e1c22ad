"""What should hold before a cluster migrates to KRaft, and what ZooKeeper tells of each (KIP-866)."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence

import msgspec

from zkdash.cluster.analysis import kraft
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.kafka.values import Broker, ClusterId, Controller, Features, Layout, Migration

# The first release that can migrate, and what ZooKeeper shows of the brokers' releases.
_FIRST = "3.4"
_REGISTRATION = 5  # of inter.broker.protocol.version 2.7-IV0 and later
_CONTROLLER = 2  # written by a broker of 3.4 or later
_FEATURE = 2  # of inter.broker.protocol.version 3.3-IV0 and later
_MOST_NAMED = 8


class Answer(enum.Enum):
    """What ZooKeeper says to a condition."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "cannot know"

    @property
    def severity(self) -> Severity:
        return {"yes": Severity.OK, "no": Severity.WARNING}.get(self.value, Severity.UNKNOWN)


class Condition(msgspec.Struct, frozen=True):
    """One line of the list: what should hold before the migration, and what ZooKeeper tells of it."""

    id: str
    what: str
    answer: Answer
    why: str


def conditions(state: ClusterState) -> tuple[Condition, ...]:
    """What KIP-866 and Kafka's guide ask for before the migration."""
    return tuple(_conditions(state)) if state.loaded else ()


def _conditions(state: ClusterState) -> Iterator[Condition]:
    yield _release(state)
    yield _protocol(state)
    yield _registered(state)
    yield _cluster_id(state)
    yield _idle(state)
    yield _no_deletion(state)
    yield _whole(state)
    yield _waiting(state)
    yield Condition(
        "migration-enabled",
        "Every broker runs with zookeeper.metadata.migration.enable and knows the controllers",
        Answer.UNKNOWN,
        "Brokers say so to the KRaft controller, not to ZooKeeper: its log names those that it waits for.",
    )
    yield _authorizer(state)
    yield Condition(
        "log-directories",
        "Brokers with several log directories run 3.7 or later (KIP-858)",
        Answer.UNKNOWN,
        "Log directories stand in each broker’s server.properties.",
    )


def _release(state: ClusterState) -> Condition:
    what = f"Brokers run Kafka {_FIRST} or later (3.9, the last, is best)"
    controller = kraft.value(state.controller)
    if state.layout is not Layout.V08:
        return Condition("release", what, Answer.NO, f"The layout is {state.layout.value}.")
    if not isinstance(controller, Controller):
        return Condition("release", what, Answer.UNKNOWN, "Only /controller tells, which is not to be had.")
    if controller.version < _CONTROLLER:
        why = f"/controller is of version {controller.version}: broker {controller.broker_id} is older."
        return Condition("release", what, Answer.NO, why)
    why = (
        "/controller is of version 2, so its writer does. Of the others nobody can tell: registrations hold "
        "no release."
    )
    return Condition("release", what, Answer.UNKNOWN, why)


def _protocol(state: ClusterState) -> Condition:
    what = f"inter.broker.protocol.version is {_FIRST} or later"
    old = [
        number
        for number, seen in sorted(state.brokers.items())
        if isinstance(seen.value, Broker) and (seen.value.version or 0) < _REGISTRATION
    ]
    feature = kraft.value(state.feature)
    if old:
        why = f"{_brokers(old)} registered with a version below 5, which is older than 2.7."
        return Condition("protocol", what, Answer.NO, why)
    if feature is None:
        return Condition("protocol", what, Answer.NO, "There is no /feature, which 2.7 and later write.")
    if isinstance(feature, Features) and feature.version < _FEATURE:
        return Condition("protocol", what, Answer.NO, "/feature is of version 1: older than 3.3.")
    why = "/feature is of version 2, so it is 3.3 or later; more is not in ZooKeeper."
    if not isinstance(feature, Features):
        why = f"/feature is not to be had: {feature.reason}."
    return Condition("protocol", what, Answer.UNKNOWN, why)


def _registered(state: ClusterState) -> Condition:
    what = "Every broker is registered"
    absent, unread = kraft.moved_brokers(state), _unread(state)
    if absent and kraft.owner(state) is not None:
        why = f"{_brokers(absent)}: in KRaft mode, or down. ZooKeeper does not tell which."
        return Condition("registered", what, Answer.UNKNOWN, why)
    if absent:
        how = "holds replicas and is" if len(absent) == 1 else "hold replicas and are"
        why = f"{_brokers(absent)} {how} not registered: the migration waits for all brokers."
        return Condition("registered", what, Answer.NO, why)
    if unread or not state.brokers:
        why = (
            f"The registration of {_brokers(unread)} cannot be read."
            if unread
            else "No broker is registered."
        )
        return Condition("registered", what, Answer.UNKNOWN if unread else Answer.NO, why)
    why = "Every broker that holds a replica is; an idle one that is down is not known to ZooKeeper."
    return Condition("registered", what, Answer.YES, why)


def _cluster_id(state: ClusterState) -> Condition:
    what = "The controllers’ storage is formatted with the cluster’s own id"
    cluster_id = kraft.value(state.cluster_id)
    why = (
        f"It has to be {cluster_id.id}."
        if isinstance(cluster_id, ClusterId)
        else "/cluster/id is not to be had."
    )
    return Condition(
        "cluster-id", what, Answer.UNKNOWN if isinstance(cluster_id, ClusterId) else Answer.NO, why
    )


def _idle(state: ClusterState) -> Condition:
    what = "No partition moves"
    moving = [name for name in _not_well(state) if state.summaries[name].moving]
    if state.reassignment is not None or moving:
        named = f" of {_named(moving)}" if moving else ""
        return Condition("idle", what, Answer.NO, f"A reassignment runs{named}: let it end first.")
    return Condition("idle", what, Answer.YES, "No reassignment is asked for, and none is at work.")


def _no_deletion(state: ClusterState) -> Condition:
    what = "No topic waits for its deletion"
    if state.deletions:
        return Condition(
            "deletions", what, Answer.NO, f"Marked for deletion: {_named(sorted(state.deletions))}."
        )
    return Condition("deletions", what, Answer.YES, "/admin/delete_topics is empty.")


def _whole(state: ClusterState) -> Condition:
    what = "Every partition has a leader and all its replicas in sync"
    bad = state.counts.offline + state.counts.leader_dead
    if bad or state.counts.under_replicated:
        why = f"{bad} are without a live leader, {state.counts.under_replicated} are under-replicated."
        return Condition("whole", what, Answer.NO, why)
    return Condition(
        "whole", what, Answer.YES, "None is offline or under-replicated. Every broker restarts twice."
    )


def _waiting(state: ClusterState) -> Condition:
    what = "A KRaft controller with zookeeper.metadata.migration.enable has found this ZooKeeper"
    migration = kraft.value(state.migration)
    if migration is None:
        return Condition("controller", what, Answer.NO, "There is no /migration, which it makes at once.")
    if isinstance(migration, Migration):
        return Condition("controller", what, Answer.YES, "It made /migration.")
    return Condition("controller", what, Answer.UNKNOWN, f"/migration is not to be had: {migration.reason}.")


def _authorizer(state: ClusterState) -> Condition:
    what = "The authorizer has a KRaft form"
    rules = len(state.acls)
    why = "No ACL of Kafka is in ZooKeeper, so that AclAuthorizer is not in use, or has no rule."
    if rules:
        why = (
            f"{rules} resources have ACLs in ZooKeeper: AclAuthorizer is in use, or was. Its rules are "
            "copied; brokers and controllers in KRaft mode need StandardAuthorizer in authorizer.class.name."
        )
    return Condition("authorizer", what, Answer.UNKNOWN if rules else Answer.YES, why)


def _not_well(state: ClusterState) -> Iterator[str]:
    """The topics that are not simply well, among which are those that move."""
    well = state.counts.severities[Severity.OK.rank]
    return (name for _, name in state.ranking.between(0, len(state.ranking) - well))


def _unread(state: ClusterState) -> list[int]:
    return [number for number, seen in sorted(state.brokers.items()) if not isinstance(seen.value, Broker)]


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _brokers(numbers: Sequence[int]) -> str:
    return f"Broker{'' if len(numbers) == 1 else 's'} {_named([str(number) for number in numbers])}"
