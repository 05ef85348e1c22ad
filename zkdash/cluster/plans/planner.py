"""From an intent to its plan, as its kind declares it."""

from __future__ import annotations

import msgspec

from zkdash.cluster.plans import registry
from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.values import Ground, Needs, Plan
from zkdash.kafka import paths


def plan(intent: Intent, ground: Ground) -> Plan:
    """What would be written for an intent. Never raises on data: what cannot be is in `refusals`."""
    kind = registry.of(intent)
    made: Plan = kind.plan(intent, ground)
    return made if made.refusals else msgspec.structs.replace(made, confirm=kind.confirm(intent))


def needs(intent: Intent) -> Needs:
    """What must be read into `Ground.tree` before planning; a path that is absent stays out."""
    more: Needs = registry.of(intent).needs(intent)
    return Needs((paths.MIGRATION, *more.paths), more.subtrees)
