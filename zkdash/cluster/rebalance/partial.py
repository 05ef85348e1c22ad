"""What is missing of a group, and why."""

from __future__ import annotations

from collections.abc import Collection

from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.state import ClusterState
from zkdash.kafka.assignment.demand import Plan


def reason(state: ClusterState, group: Group, plans: Collection[Plan]) -> str | None:
    """A sentence where the group lacks members, owners or offsets; None where it has all three."""
    if not group.members:
        return _without_members(group)
    if not group.owners:
        return f"members without owners: {_without_owners(state, plans)}"
    if not group.offsets:
        return (
            "no offsets in ZooKeeper: the members commit to Kafka only (offsets.storage=kafka without "
            "dual.commit.enabled), or have not committed yet"
        )
    return None


def _without_members(group: Group) -> str:
    if group.owners:
        return (
            "owners without members: their session ends within its timeout, or something other than a "
            "consumer wrote them"
        )
    if group.offsets:
        return "only offsets: no member is registered now"
    return "empty: neither members, owners nor offsets"


def _without_owners(state: ClusterState, plans: Collection[Plan]) -> str:
    if not plans:
        return "what the members ask for cannot be told"
    if not any(any(plan.owners.values()) for plan in plans):
        return "no topic that they subscribe to has partitions"
    if not state.brokers:
        return "no broker is registered, and consumers of 0.8 and later then own nothing"
    refused = next((f", or refused to ({plan.refused})" for plan in plans if plan.refused), "")
    return f"they are rebalancing, or gave up after four tries and wait for the next change{refused}"
