"""Which rule the owners of a group follow."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from zkdash.kafka.assignment.assignment_context import AssignmentContext, PartitionAssignment
from zkdash.kafka.assignment.rules import Rule
from zkdash.kafka.consumers import consumer_ids

# The claims of a group: thread id by partition key by topic.
Claims = Mapping[str, Mapping[str, str]]


def matches(
    plan: PartitionAssignment,
    demand: AssignmentContext,
    claims: Claims,
    threads: Mapping[str, Collection[str]],
) -> bool:
    """Whether all claims on the demand's partitions are the plan's, and none is missing.

    Where the plan cannot tell an owner, any thread that subscribes to the topic (`threads`) will do.
    """
    if plan.refused is not None:
        return False
    for topic in threads:
        claimed, planned = claims.get(topic, {}), plan.owners.get(topic, {})
        for key in demand.partitions.get(topic, ()):
            owner = claimed.get(key)
            if key in planned and planned[key] is None:
                if owner not in threads[topic]:
                    return False
            elif owner != planned.get(key):
                return False
    return True


def agreement(plan: PartitionAssignment, claims: Claims) -> int:
    """How many claims are the plan's."""
    return sum(
        plan.owner(topic, key) == owner for topic, keys in claims.items() for key, owner in keys.items()
    )


def by_member(
    plans: Mapping[Rule, PartitionAssignment], members: Collection[str], claims: Claims
) -> dict[str, tuple[Rule, ...]]:
    """The rules of Kafka whose plan for one member is exactly what that member owns."""
    owned = _by_member(claims)
    planned = {
        rule: _by_member(plan.owners) for rule, plan in plans.items() if rule.is_code and not plan.refused
    }
    return {
        member: tuple(rule for rule, shares in planned.items() if shares.get(member) == owned.get(member))
        for member in members
    }


def _by_member(owners: Mapping[str, Mapping[str, str | None]]) -> dict[str | None, set[tuple[str, str, str]]]:
    owned: dict[str | None, set[tuple[str, str, str]]] = {}
    for topic, keys in owners.items():
        for key, thread in keys.items():
            if thread is not None:
                consumer = consumer_ids.parse_thread(thread).consumer
                owned.setdefault(consumer, set()).add((topic, key, thread))
    return owned
