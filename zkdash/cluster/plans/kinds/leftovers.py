"""Clearing what was left behind: throttles, and configurations of absent topics."""

from __future__ import annotations

from zkdash.cluster.plans import throttles
from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Written
from zkdash.cluster.plans.intents import ClearConfigs, ClearThrottles
from zkdash.cluster.plans.multis import in_multis
from zkdash.cluster.plans.values import Effect, Ground, Plan, remove
from zkdash.kafka import paths
from zkdash.kafka.documents.document import few, quote
from zkdash.znode import Znode


def clear_throttles(intent: ClearThrottles, ground: Ground) -> Plan:
    """Only while nothing moves: a throttle that is taken away earlier lets a move flood the network."""
    draft = Draft(intent, ground, "throttles")
    draft.require_controller()
    moving = sorted(name for name, topic in ground.state.topics.items() if topic.moving)
    if ground.state.reassignment is not None or moving:
        draft.refuse("Partitions are being moved: their throttle is removed when they have arrived.")
    topics, brokers = throttles.clear(draft)
    if not topics and not brokers:
        draft.nothing("No throttle is set.")
    return draft.close(Effect(topics=topics))


def clear_configs(intent: ClearConfigs, ground: Ground) -> Plan:
    draft = Draft(intent, ground, ", ".join(few(intent.topics)) or "all absent topics")
    draft.require_controller()
    left = {
        name: topic.config_znode
        for name, topic in sorted(ground.state.remnants.items())
        if isinstance(topic.config_znode, Znode)
        and not topic.partitions
        and name not in ground.state.deletions
    }
    for name in intent.topics:
        if name in ground.state.topics:
            draft.refuse(f"{quote(name)} is there: its configuration is in use.")
        elif name not in left:
            draft.refuse(
                f"There is no configuration of an absent topic {quote(name)}, or it is being deleted."
            )
    chosen = {name: znode for name, znode in left.items() if not intent.topics or name in intent.topics}
    if not chosen:
        draft.refuse("No absent topic has a configuration.")
    removed = [
        remove(paths.topic_config(name), znode, "creating it again with the data as before")
        for name, znode in chosen.items()
    ]
    for writes in in_multis(removed):
        draft.step(f"Remove {len(writes)} configurations", writes, Written())
    return draft.close(Effect(topics=len(chosen)))


THROTTLES = ActionKind(
    ClearThrottles,
    "Clear leftover throttles",
    clear_throttles,
    needs=lambda _: throttles.NEEDS,
    repeats=True,
)
CONFIGS = ActionKind(
    ClearConfigs,
    "Clear configurations of absent topics",
    clear_configs,
    why_not=lambda draft: "" if draft.state.remnants else "No absent topic has a configuration.",
)
