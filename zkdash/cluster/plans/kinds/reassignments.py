"""Moving replicas: /admin/reassign_partitions, in batches, with a throttle before and its removal after.

The znode is only ever created: from 1.1 a controller does not see changes of it. Nothing is asked for that
a controller would get stuck on: an empty list, an unknown topic, a broker that is not registered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from zkdash.cluster.plans import throttles
from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Assigned
from zkdash.cluster.plans.intents import Reassign
from zkdash.cluster.plans.values import MOST_OPERATIONS, Effect, Ground, Needs, Plan, Write, check, create
from zkdash.kafka import paths
from zkdash.kafka.assignment import spread
from zkdash.kafka.documents.document import few, quote
from zkdash.kafka.payloads import requests
from zkdash.kafka.values import Move
from zkdash.znode import Znode

# Of one entry, beside the topic's name and the replicas; a replica takes up to 11 bytes.
_ENTRY = len('{"topic":"","partition":2147483647,"replicas":[]},')
_REPLICA = 11
# The versions of this many topics can be compared in one multi.
_MOST_TOPICS = MOST_OPERATIONS - 10


def plan(intent: Reassign, ground: Ground) -> Plan:
    draft = Draft(intent, ground, _target(intent.moves))
    draft.require_controller()
    if busy := _why_not(draft):
        draft.refuse(busy)
    moves = _checked(intent, draft)
    if not draft.refusals:
        if intent.throttle is not None:
            throttles.begin(draft, moves, intent.throttle)
        _batches(intent, draft, moves)
        if intent.throttle is not None:
            throttles.end(draft)
        _remarks(draft, moves)
    before = {(move.topic, move.partition): _now(draft, move) for move in moves}
    inverse = Reassign(
        tuple(Move(*key, replicas) for key, replicas in before.items()), intent.concurrent, intent.throttle
    )
    # Of a partition that moves already nobody can tell the order in which its replicas were.
    return draft.close(_effect(moves, before), None if intent.supersede else inverse)


def needs(intent: Reassign) -> Needs:
    """A throttle merges into /config/brokers/B, of which the state knows nothing."""
    return throttles.NEEDS if intent.throttle is not None else Needs()


def _target(moves: Sequence[Move]) -> str:
    topics = list(dict.fromkeys(move.topic for move in moves))
    return ", ".join(few(topics)) or "nothing"


def _why_not(draft: Draft) -> str:
    """No other reassignment may be asked for."""
    if draft.state.reassignment is None:
        return ""
    return f"Another reassignment runs ({paths.REASSIGNMENT} is there): a second would be ignored or lost."


def _checked(intent: Reassign, draft: Draft) -> list[Move]:
    """The moves that change anything, each of them valid."""
    if not intent.moves:
        draft.refuse("No partition is to be moved: an empty list jams every controller.")
    seen: set[tuple[str, int]] = set()
    wrong: list[str] = []
    moves = []
    for move in intent.moves:
        here = f"{move.topic}-{move.partition}"
        if (move.topic, move.partition) in seen:
            wrong.append(f"{here} is named twice.")
        seen.add((move.topic, move.partition))
        fault = _fault(move, draft, here, supersede=intent.supersede)
        if fault:
            wrong.append(fault)
        elif _now(draft, move) != move.replicas or intent.supersede:
            moves.append(move)
    for sentence in few(wrong):
        draft.refuse(sentence)
    if intent.moves and not moves and not draft.refusals:
        draft.refuse("Nothing would change: every partition has these replicas already.")
    if 0 < len(moves) < len(intent.moves) and not wrong:
        draft.warn(
            f"{len(intent.moves) - len(moves)} partitions have these replicas already and are left out."
        )
    if intent.concurrent is not None and intent.concurrent < 1:
        draft.refuse("At least one partition must be allowed to move at a time.")
    return moves


def _fault(move: Move, draft: Draft, here: str, *, supersede: bool) -> str:
    """Why a move cannot be asked for, as a sentence; empty where it can."""
    topic = draft.state.topics.get(move.topic)
    if topic is None or not _now(draft, move):
        what = f"partition {move.partition}" if topic else f"topic {quote(move.topic)}"
        return f"{here}: there is no {what}."
    dead = sorted(set(move.replicas).difference(draft.state.brokers))
    faults = [
        (not move.replicas, "its list of replicas is empty"),
        (len(set(move.replicas)) < len(move.replicas), f"a broker is named twice in {list(move.replicas)}"),
        (
            bool(dead),
            f"broker {dead[0] if dead else 0} is not registered; the move would wait for it for ever",
        ),
        (topic.deleting, "the topic is being deleted"),
        (move.partition in topic.moving and not supersede, "it is being moved already"),
    ]
    return next((f"{here}: {words}." for wrong, words in faults if wrong), "")


def _now(draft: Draft, move: Move) -> tuple[int, ...]:
    return draft.replicas(move.topic, move.partition)


def _batches(intent: Reassign, draft: Draft, moves: list[Move]) -> None:
    widest = max(len(move.replicas) for move in moves)
    ranges = list(
        requests.batches(
            [(move.topic, move.partition) for move in moves],
            intent.concurrent or len(moves),
            bytes_each=_ENTRY + widest * _REPLICA,
            largest=draft.ground.largest - 100,
            topics=_MOST_TOPICS,
        )
    )
    touched: set[str] = set()  # their versions change with an earlier batch
    for number, batch in enumerate(ranges, 1):
        batched = moves[batch.start : batch.stop]
        data = requests.reassignment(batched)
        checks = [
            _check(draft, name) for name in dict.fromkeys(m.topic for m in batched) if name not in touched
        ]
        touched.update(move.topic for move in batched)
        part = f", batch {number} of {len(ranges)}" if len(ranges) > 1 else ""
        draft.step(
            f"Move {len(batched)} partition{'s' * (len(batched) != 1)}{part}",
            [*checks, create(paths.REASSIGNMENT, data, "a reassignment to the replicas as they are now")],
            Assigned(tuple(batched)),
        )


def _check(draft: Draft, name: str) -> Write:
    znode = draft.state.topics[name].znode
    return check(paths.topic(name), znode.version if isinstance(znode, Znode) else -1)


def _remarks(draft: Draft, moves: Iterable[Move]) -> None:
    """What an operator should know beforehand."""
    racks = draft.racks()
    resized = sum(len(_now(draft, move)) != len(move.replicas) for move in moves)
    if resized:
        draft.warn(f"{resized} partitions get another number of replicas.")
    poorer = sum(
        spread.rack_count(move.replicas, racks)
        < min(spread.rack_count(_now(draft, move), racks), len(move.replicas))
        for move in moves
    )
    if poorer:
        draft.warn(f"{poorer} partitions will lie in fewer racks than now.")
    gone = {broker for move in moves for broker in _now(draft, move)}.difference(draft.state.brokers)
    if gone:
        draft.warn(f"Undo will be refused while {_words(gone)} not registered: replicas were there before.")
    stuck = sum(draft.leader(move.topic, move.partition) not in draft.state.brokers for move in moves)
    if stuck:
        draft.warn(f"{stuck} partitions have no live leader: their move waits until they have one.")


def _words(brokers: Collection[int]) -> str:
    listed = ", ".join(map(str, sorted(brokers)))
    return f"broker {listed} is" if len(brokers) == 1 else f"brokers {listed} are"


def _effect(moves: Sequence[Move], before: dict[tuple[str, int], tuple[int, ...]]) -> Effect:
    after = {(move.topic, move.partition): move.replicas for move in moves}
    return Effect(
        topics=len({topic for topic, _ in after}),
        partitions=len(after),
        replicas_moved=spread.moved(before, after),
        replicas_removed=spread.moved(after, before),
        leaders_moved=sum(before[key][:1] != replicas[:1] for key, replicas in after.items()),
    )


KIND = ActionKind(Reassign, "Move replicas", plan, needs=needs, why_not=_why_not)
