"""Which groups have just moved: their members or owners came, went or changed within Kafka's own window.

A member that leaves takes its znodes with it, so that only who watched can say when.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.rebalance.expectation import WINDOW_MS

Moves = Mapping[str, int]  # epoch milliseconds of the newest move, by group


def look(moves: Moves, before: ClusterState, after: ClusterState, groups: Collection[str], now: int) -> Moves:
    """The moves that are held, with those that a batch made; `groups` are those that it touched."""
    moved = [name for name in groups if _has_moved(before, after, name)]
    return {**moves, **dict.fromkeys(moved, now)} if moved else moves


def begin(state: ClusterState, now: int) -> Moves:
    """What the first load tells: owners that are younger than the window."""
    return {
        name: numbers.rebalanced
        for name, numbers in state.group_summaries.items()
        if 0 <= now - numbers.rebalanced <= WINDOW_MS
    }


def settle(moves: Moves, now: int) -> Moves:
    """The moves without those that are older than the window: the same object where there are none."""
    if not any(now - at > WINDOW_MS for at in moves.values()):
        return moves
    return {name: at for name, at in moves.items() if now - at <= WINDOW_MS}


def _has_moved(before: ClusterState, after: ClusterState, name: str) -> bool:
    was, now = before.groups.get(name), after.groups.get(name)
    if was is None or now is None:
        return was is not now
    return was.members is not now.members or was.owners is not now.owners
