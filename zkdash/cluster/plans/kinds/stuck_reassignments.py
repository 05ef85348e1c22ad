"""Reverting a reassignment that waits for a broker that will not come."""

from __future__ import annotations

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Assigned, Written
from zkdash.cluster.plans.intents import RevertStuck
from zkdash.cluster.plans.kinds import controllers
from zkdash.cluster.plans.values import Effect, Ground, Plan, check, create, remove
from zkdash.kafka import paths
from zkdash.kafka.payloads import requests
from zkdash.kafka.values import (
    Assignment,
    Move,
    PartitionState,
    Reassignment,
)
from zkdash.znode import Znode


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
        controllers.reelect(draft)
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
        draft.step("Re-elect controller, so that it reads it", [elected.write], Assigned(tuple(moves)))
    return draft.close(Effect(topics=len(topics), partitions=len(moves)))


def _reverted(intent: RevertStuck, draft: Draft, reassignment: Reassignment) -> list[Move]:
    """The entries as they shall be asked for: stuck ones as before their move, the others unchanged."""
    given = {(move.topic, move.partition): move.replicas for move in intent.originals}
    moves, stuck = [], 0
    for move in reassignment.moves:
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
    requested = seen.value.moves if seen is not None and isinstance(seen.value, Reassignment) else ()
    moves = []
    for move in requested:
        if _replicas(move, state) and _is_stuck(move, state) and not _original(move, state):
            partition_state = _state(move, state)
            left = [broker for broker in _replicas(move, state) if broker not in move.replicas]
            synced = [
                broker
                for broker in move.replicas
                if partition_state is not None and broker in partition_state.isr and broker in state.brokers
            ]
            moves.append(
                Move(move.topic, move.partition, (*left, *synced[: max(0, len(move.replicas) - len(left))]))
            )
    return tuple(move for move in moves if move.replicas)


def _is_stuck(move: Move, state: ClusterState) -> bool:
    """A target that is not registered, or no live leader to copy from."""
    if set(move.replicas).difference(state.brokers):
        return True
    partition_state = _state(move, state)
    return partition_state is None or partition_state.leader not in state.brokers


def _original(move: Move, state: ClusterState) -> tuple[int, ...]:
    """The replicas before the move: from 2.4 the assignment says which are being added; their order before is
    not kept. A move that no controller took up, as none of its targets is listed yet, has them still."""
    topic = state.topics.get(move.topic)
    assignment = topic.assignment if topic else None
    if not isinstance(assignment, Assignment):
        return ()
    now = assignment.partitions[move.partition]
    if move.partition in assignment.adding or move.partition in assignment.removing:
        added = assignment.adding.get(move.partition, ())
        return tuple(broker for broker in now if broker not in added)
    return () if set(move.replicas) <= set(now) else now


def _replicas(move: Move, state: ClusterState) -> tuple[int, ...]:
    """The replicas of a partition as they are now; none where there is no such partition."""
    topic = state.topics.get(move.topic)
    assignment = topic.assignment if topic else None
    return assignment.partitions.get(move.partition, ()) if isinstance(assignment, Assignment) else ()


def _state(move: Move, state: ClusterState) -> PartitionState | None:
    topic = state.topics.get(move.topic)
    part = topic.partition(move.partition) if topic else None
    return part.state if part is not None and isinstance(part.state, PartitionState) else None


def _nothing_moves(draft: Draft) -> str:
    moves = draft.state.reassignment is not None
    return "" if moves else f"{paths.REASSIGNMENT} is absent: no move is stuck in it."


KIND = ActionKind(
    RevertStuck,
    "Revert a stuck reassignment",
    revert_stuck,
    confirm=lambda _: "revert",
    why_not=_nothing_moves,
)
