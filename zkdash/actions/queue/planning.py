"""From an intent to its plan on a real cluster: reads what the planner needs, writes nothing (a dry run)."""

from __future__ import annotations

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import planner
from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.values import Ground, Plan
from zkdash.cluster.reducer import advance
from zkdash.kafka import paths
from zkdash.zk.config import ClusterConfig
from zkdash.zk.reader import one_shot


def plan(config: ClusterConfig, intent: Intent, state: ClusterState | None = None) -> Plan:
    """What would be written for an intent, as of now: see `ground`."""
    return planner.plan(intent, ground(config, intent, state))


def ground(config: ClusterConfig, intent: Intent, state: ClusterState | None = None) -> Ground:
    """What a plan for an intent stands on, as of now.

    `state` is the cluster as a watcher holds it; where None is given, the whole of it is read once. What a
    plan needs beside the state is read here, after `sync`. Raises OneShotError where ZooKeeper does not
    answer.
    """
    needs = planner.needs(intent)
    with one_shot.OneShotReader(config) as reader:
        if state is None:
            state, _ = advance.advance(ClusterState(), reader.load(paths.ROOTS))
        return Ground(state, reader.read(needs.paths, needs.subtrees))
