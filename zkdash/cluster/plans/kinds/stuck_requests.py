"""Removing what no controller can act on: requests in /admin, and marks of topics that are gone."""

from __future__ import annotations

from zkdash.cluster.model.state import Seen
from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Written
from zkdash.cluster.plans.intents import ClearStuck
from zkdash.cluster.plans.kinds import controllers
from zkdash.cluster.plans.values import Ground, Plan, remove
from zkdash.kafka import paths
from zkdash.kafka.documents.document import quote
from zkdash.kafka.values import (
    Controller,
    Election,
    Reassignment,
    Unparsable,
)
from zkdash.kafka.znode_kinds import Kind
from zkdash.znode import Znode


def clear_stuck(intent: ClearStuck, ground: Ground) -> Plan:
    """Only what no controller can act on. From 0.10 on the controller is elected anew afterwards, because one
    that failed on the znode no longer looks for the next."""
    draft = Draft(intent, ground, intent.path)
    draft.require_controller()
    if paths.locate(intent.path).kind is Kind.DELETION:
        return _unmark(paths.locate(intent.path).name, intent.path, draft)
    requested = {paths.REASSIGNMENT: ground.state.reassignment, paths.ELECTION: ground.state.election}
    seen: Seen[Reassignment] | Seen[Election] | None = requested.get(intent.path)
    if intent.path not in requested:
        draft.refuse(f"{quote(intent.path)} is not one of {', '.join((*requested, paths.DELETIONS))}.")
    elif seen is None or seen.znode is None:
        draft.refuse(f"{intent.path} is absent or not readable.")
    elif reason := _acted_on(seen.value, draft):
        draft.refuse(reason)
    else:
        draft.step(f"Delete {intent.path}", [remove(intent.path, seen.znode)], Written())
        controllers.reelect(draft)
        _remembered(seen.value, draft)
        _resigning(intent.path, seen.value, draft)
    return draft.close()


def _unmark(name: str, path: str, draft: Draft) -> Plan:
    """Take the mark of a topic away that is not there: no controller has anything to delete for it."""
    marked = draft.state.deletions
    seen = draft.state.deletion_znodes.get(name)
    if name not in marked or not isinstance(seen, Znode):
        draft.refuse(f"{path} is absent or not readable.")
    elif name in draft.state.topics:
        draft.refuse(
            f"{quote(name)} is there, and its deletion waits: where that hangs for good, clean up after it."
        )
    else:
        draft.step(f"Delete {path}", [remove(path, seen, "marking the topic again")], Written())
    return draft.close()


def _acted_on(value: object, draft: Draft) -> str:
    """Why a znode is not stuck for good, as a sentence; empty where it is."""
    state = draft.state
    if isinstance(value, Reassignment) and value.moves:
        targets = {broker for move in value.moves for broker in move.replicas}
        if targets.difference(state.brokers):
            return "The reassignment waits for a broker that is not registered: revert it instead."
        if not all(draft.replicas(move.topic, move.partition) for move in value.moves):
            return "The reassignment names a partition that is not there: revert it instead."
        return (
            "The reassignment can be carried out, and deleting its znode is no cancel: "
            "where nothing moves, re-elect the controller, so that it reads it."
        )
    if isinstance(value, Election) and value.partitions:
        if all(topic in state.topics for topic, _ in value.partitions):
            return "The election can be carried out: where nothing happens, re-elect the controller."
        return ""
    return ""


def _remembered(value: object, draft: Draft) -> None:
    """Seen on 0.10.2.2: a request for an unknown topic stays in the controller's memory. When that broker is
    elected again it stumbles over it, resigns, and goes on acting beside the next controller."""
    seen = draft.state.controller
    if draft.era.highest <= 4 and isinstance(value, Election) and seen and isinstance(seen.value, Controller):
        draft.warn(
            f"Before Kafka 1.0, broker {seen.value.broker_id} (the controller) remembers the request and "
            "fails when it is elected again: restart it afterwards."
        )


def _resigning(path: str, value: object, draft: Draft) -> None:
    """Seen on 0.10.2.2, whose registrations tell no more than those of all of 0.10 to 2.6 do."""
    if path == paths.ELECTION and isinstance(value, Unparsable) and draft.era.highest in {3, 4}:
        draft.warn(
            "A controller of Kafka 0.10 that takes office while this znode lies there resigns at once, and "
            "the next one too: where /controller keeps changing, this plan is refused time and again. "
            f"Then delete {path} by hand, with zookeeper-shell."
        )


def _nothing_asked(draft: Draft) -> str:
    state = draft.state
    marks = any(name not in state.topics for name in state.deletions)
    if state.reassignment is not None or state.election is not None or marks:
        return ""
    return f"Neither {paths.REASSIGNMENT} nor {paths.ELECTION} is there, nor the mark of an absent topic."


KIND = ActionKind(
    ClearStuck,
    "Remove a stuck request",
    clear_stuck,
    confirm=lambda intent: intent.path,
    why_not=_nothing_asked,
)
