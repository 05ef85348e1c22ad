"""Clearing what was left behind: throttles, configurations of absent topics, admin znodes nobody acts on."""

from __future__ import annotations

from zkdash.cluster.model.state import ClusterState, Seen
from zkdash.cluster.plans import throttles
from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Assigned, Reelected, Written
from zkdash.cluster.plans.intents import ClearConfigs, ClearStuck, ClearThrottles, RevertStuck
from zkdash.cluster.plans.kinds import controllers
from zkdash.cluster.plans.multis import in_multis
from zkdash.cluster.plans.values import Effect, Ground, Plan, check, create, remove
from zkdash.kafka import paths
from zkdash.kafka.documents.document import few, quote
from zkdash.kafka.payloads import requests
from zkdash.kafka.values import (
    Assignment,
    Controller,
    Election,
    Move,
    PartitionState,
    Reassignment,
    Unparsable,
)
from zkdash.kafka.znode_kinds import Kind
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


def clear_stuck(intent: ClearStuck, ground: Ground) -> Plan:
    """Only what no controller can act on. From 0.10 on the controller is elected anew afterwards, because one
    that failed on the znode no longer looks for the next."""
    draft = Draft(intent, ground, intent.path)
    draft.require_controller()
    if paths.locate(intent.path).kind is Kind.DELETION:
        return _unmark(paths.locate(intent.path).name, intent.path, draft)
    known = {paths.REASSIGNMENT: ground.state.reassignment, paths.ELECTION: ground.state.election}
    seen: Seen[Reassignment] | Seen[Election] | None = known.get(intent.path)
    if intent.path not in known:
        draft.refuse(f"{quote(intent.path)} is not one of {', '.join((*known, paths.DELETIONS))}.")
    elif seen is None or seen.znode is None:
        draft.refuse(f"{intent.path} is absent or not readable.")
    elif reason := _acted_on(seen.value, ground):
        draft.refuse(reason)
    else:
        draft.step(f"Delete {intent.path}", [remove(intent.path, seen.znode)], Written())
        _reelect(draft)
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


def revert_stuck(intent: RevertStuck, ground: Ground) -> Plan:
    """The only way out of a move that waits for a broker that will not come: its znode is replaced by one
    that asks for the replicas as they were, in one multi, and a new controller reads it."""
    draft = Draft(intent, ground, paths.REASSIGNMENT)
    draft.require_controller()
    seen = ground.state.reassignment
    if seen is None or seen.znode is None or not isinstance(seen.value, Reassignment):
        draft.refuse(f"{paths.REASSIGNMENT} is absent or cannot be read: no move is stuck in it.")
        return draft.close()
    moves = _reverted(intent, draft, seen.value)
    if not moves and not draft.refusals:
        # an empty list would jam the controller
        draft.step(f"Delete {paths.REASSIGNMENT}", [remove(paths.REASSIGNMENT, seen.znode)], Written())
        _reelect(draft)
        return draft.close()
    data = requests.reassignment(moves)
    if len(data) > ground.largest:
        draft.refuse(f"The znode would hold {len(data)} bytes; {ground.largest} are the most.")
    topics = {move.topic for move in moves if move.topic in ground.state.topics}
    checks = [
        check(paths.topic(name), znode.version)
        for name in sorted(topics)
        if isinstance(znode := ground.state.topics[name].znode, Znode)
    ]
    swap = [remove(paths.REASSIGNMENT, seen.znode), create(paths.REASSIGNMENT, data)]
    draft.step("Ask for the replicas as they were instead", [*checks, *swap], Written())
    if elected := controllers.election(draft):
        draft.step("Elect the controller anew, which reads it", [elected.write], Assigned(tuple(moves)))
    return draft.close(Effect(topics=len(topics), partitions=len(moves)))


def _acted_on(value: object, ground: Ground) -> str:
    """Why a znode is not stuck for good, as a sentence; empty where it is."""
    state = ground.state
    if isinstance(value, Reassignment) and value.moves:
        targets = {broker for move in value.moves for broker in move.replicas}
        if targets.difference(state.brokers):
            return "The reassignment waits for a broker that is not registered: revert it instead."
        if not all(_replicas(move, state) for move in value.moves):
            return "The reassignment names a partition that is not there: revert it instead."
        return (
            "The reassignment can be carried out, and deleting its znode is no cancel: "
            "where nothing moves, elect the controller anew, which reads it."
        )
    if isinstance(value, Election) and value.partitions:
        if all(topic in state.topics for topic, _ in value.partitions):
            return "The election can be carried out: where nothing happens, elect the controller anew."
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


def _reelect(draft: Draft) -> None:
    if draft.era.highest >= 3 and (elected := controllers.election(draft)):
        title = "Elect the controller anew, which looks for requests again"
        draft.step(title, [elected.write], Reelected(elected.epoch))


def _reverted(intent: RevertStuck, draft: Draft, asked: Reassignment) -> list[Move]:
    """The entries as they shall be asked for: stuck ones as before their move, the others unchanged."""
    given = {(move.topic, move.partition): move.replicas for move in intent.originals}
    moves, stuck = [], 0
    for move in asked.moves:
        here = f"{move.topic}-{move.partition}"
        if not _replicas(move, draft.state):
            stuck += 1
            draft.warn(f"{here} is left out: there is no such partition.")
            continue
        if not _is_stuck(move, draft.state):
            moves.append(move)
            continue
        stuck += 1
        replicas = given.get((move.topic, move.partition)) or _original(move, draft.state)
        if replicas and (move.topic, move.partition) not in given:
            draft.warn(
                "The order of the replicas before the move is not known: another may be preferred now."
            )
        if not replicas:
            draft.refuse(f"{here}: the replicas before the move are not known (before Kafka 2.4): name them.")
        elif dead := sorted(set(replicas).difference(draft.state.brokers)):
            draft.refuse(f"{here}: broker {dead[0]} of the earlier replicas is not registered: name others.")
        elif len(set(replicas)) < len(replicas):
            draft.refuse(f"{here}: a broker is named twice in {list(replicas)}.")
        else:
            moves.append(Move(move.topic, move.partition, replicas))
    if not stuck:
        draft.refuse("No move is stuck: all targets are registered and have leaders to copy from.")
    return moves


def supposed(state: ClusterState) -> tuple[Move, ...]:
    """What the replicas of stuck moves may have been before, where ZooKeeper does not tell (before 2.4).

    The list is the union of old and new replicas then. Who is not asked for was there before, and who is in
    sync and asked for may have been: as many as are asked for, because a move rarely changes their number.
    """
    seen = state.reassignment
    asked = seen.value.moves if seen is not None and isinstance(seen.value, Reassignment) else ()
    found = []
    for move in asked:
        if _replicas(move, state) and _is_stuck(move, state) and not _original(move, state):
            held = _state(move, state)
            left = [one for one in _replicas(move, state) if one not in move.replicas]
            synced = [
                one for one in move.replicas if held is not None and one in held.isr and one in state.brokers
            ]
            found.append(
                Move(move.topic, move.partition, (*left, *synced[: max(0, len(move.replicas) - len(left))]))
            )
    return tuple(one for one in found if one.replicas)


def _is_stuck(move: Move, state: ClusterState) -> bool:
    """A target that is not registered, or no live leader to copy from."""
    if set(move.replicas).difference(state.brokers):
        return True
    held = _state(move, state)
    return held is None or held.leader not in state.brokers


def _original(move: Move, state: ClusterState) -> tuple[int, ...]:
    """The replicas before the move: from 2.4 the assignment says which are being added; their order before is
    not kept. A move that no controller took up, as none of its targets is listed yet, has them still."""
    topic = state.topics.get(move.topic)
    found = topic.assignment if topic else None
    if not isinstance(found, Assignment):
        return ()
    now = found.partitions[move.partition]
    if move.partition in found.adding or move.partition in found.removing:
        added = found.adding.get(move.partition, ())
        return tuple(broker for broker in now if broker not in added)
    return () if set(move.replicas) <= set(now) else now


def _replicas(move: Move, state: ClusterState) -> tuple[int, ...]:
    """The replicas of a partition as they are now; none where there is no such partition."""
    topic = state.topics.get(move.topic)
    found = topic.assignment if topic else None
    return found.partitions.get(move.partition, ()) if isinstance(found, Assignment) else ()


def _state(move: Move, state: ClusterState) -> PartitionState | None:
    topic = state.topics.get(move.topic)
    part = topic.partition(move.partition) if topic else None
    return part.state if part is not None and isinstance(part.state, PartitionState) else None


def _nothing_asked(draft: Draft) -> str:
    state = draft.state
    marks = any(name not in state.topics for name in state.deletions)
    if state.reassignment is not None or state.election is not None or marks:
        return ""
    return f"Neither {paths.REASSIGNMENT} nor {paths.ELECTION} is there, nor the mark of an absent topic."


def _nothing_moves(draft: Draft) -> str:
    moves = draft.state.reassignment is not None
    return "" if moves else f"{paths.REASSIGNMENT} is absent: no move is stuck in it."


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
STUCK = ActionKind(
    ClearStuck,
    "Remove a stuck request",
    clear_stuck,
    confirm=lambda intent: intent.path,
    why_not=_nothing_asked,
)
REVERT = ActionKind(
    RevertStuck,
    "Revert a stuck reassignment",
    revert_stuck,
    confirm=lambda _: "revert",
    why_not=_nothing_moves,
)
