"""From an intent to its plan: one table of all kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zkdash.cluster.plans import intents, throttles
from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.kinds import (
    configs,
    consumer_groups,
    controllers,
    creations,
    deletions,
    elections,
    growth,
    leftovers,
    offsets,
    reassignments,
)
from zkdash.cluster.plans.values import Ground, Needs, Plan
from zkdash.kafka import paths

_PLANNERS: dict[type, Callable[[Any, Ground], Plan]] = {
    intents.ElectPreferred: elections.plan,
    intents.Reassign: reassignments.plan,
    intents.CreateTopic: creations.plan,
    intents.AddPartitions: growth.plan,
    intents.ChangeConfig: configs.plan,
    intents.DeleteTopic: deletions.plan,
    intents.DeleteGroup: consumer_groups.plan,
    intents.ResetOffsets: offsets.plan,
    intents.ReelectController: controllers.plan,
    intents.ClearThrottles: leftovers.clear_throttles,
    intents.ClearConfigs: leftovers.clear_configs,
    intents.ClearStuck: leftovers.clear_stuck,
    intents.RevertStuck: leftovers.revert_stuck,
    intents.CleanUpTopic: deletions.clean_up,
}

# What does not depend on the intent's fields.
_NEEDS = {
    intents.CreateTopic: creations.NEEDS,
    intents.ChangeConfig: configs.NEEDS,
    intents.DeleteTopic: deletions.NEEDS,
    intents.ClearThrottles: throttles.NEEDS,
}


def plan(intent: Intent, ground: Ground) -> Plan:
    """What would be written for an intent. Never raises on data: what cannot be is in `refusals`."""
    return _PLANNERS[type(intent)](intent, ground)


def needs(intent: Intent) -> Needs:
    """What must be read into `Ground.tree` before planning; a path that is absent stays out."""
    more = _needs(intent)
    return Needs((paths.MIGRATION, *more.paths), more.subtrees)


def _needs(intent: Intent) -> Needs:
    match intent:
        case intents.DeleteGroup(group=group) | intents.ResetOffsets(group=group):
            return consumer_groups.needs(group)
        case intents.Reassign():
            return reassignments.needs(intent)
        case intents.CleanUpTopic():
            return deletions.needs_to_clean_up(intent)
    return _NEEDS.get(type(intent), Needs())
