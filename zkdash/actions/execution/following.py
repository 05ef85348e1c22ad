"""Following a step's goal: how far it is, how fast, until when, and why nothing moves.

Pure: states and moments (seconds of a monotonic clock) come in, reports go out.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import goals
from zkdash.cluster.plans.goals import Assigned, Goal, Led
from zkdash.kafka.values import Assignment, PartitionState

# A failure is believed when it was seen twice: between two writes of a controller all may look failed.
_SURE_S = 0.5
_STUCK_S = 30.0
_MOST_PARTITIONS = 500


class Detail(msgspec.Struct, frozen=True):
    """What a page shows of a goal on its way, kept as JSON in the step's `detail`.

    `rate` is partitions per second since the step was applied, `left_s` how long the rest will take at that
    rate (None while nothing is known). `partitions` are those that are not there yet, the first 500:
    (topic, partition, what it waits for).
    """

    rate: float | None = None
    left_s: int | None = None
    partitions: tuple[tuple[str, int, str], ...] = ()


class Report(msgspec.Struct, frozen=True):
    """`failure` is a sentence where the goal will never be reached, `stuck` one where it waits long."""

    done: int
    total: int
    is_reached: bool
    detail: Detail
    failure: str = ""
    stuck: str = ""


class Follower:
    """One goal from the moment its step was applied, or a worker took it over."""

    def __init__(self, goal: Goal, now: float) -> None:
        self._goal = goal
        self._began = self._moved = now
        self._first: int | None = None
        self._last = -1
        self._failed: tuple[tuple[str, ...], float] | None = None

    def take(self, state: ClusterState, now: float) -> Report:
        """Judge a state that was read after the step's write."""
        progress = goals.progress(self._goal, state)
        if self._first is None:
            self._first = self._last = progress.done
        if progress.done != self._last:
            self._last, self._moved = progress.done, now
        left = tuple(_left(self._goal, state))[:_MOST_PARTITIONS]
        done = progress.done - self._first
        rate = done / (now - self._began) if done > 0 and now > self._began else None
        seconds = round((progress.total - progress.done) / rate) if rate else None
        return Report(
            progress.done,
            progress.total,
            progress.reached,
            Detail(None if rate is None else round(rate, 3), seconds, left),
            self._failure(progress.failures, now),
            "" if progress.reached or now < self._moved + _STUCK_S else _stuck(self._goal, state),
        )

    def _failure(self, failures: tuple[str, ...], now: float) -> str:
        if not failures:
            self._failed = None
            return ""
        if self._failed is None or self._failed[0] != failures:
            self._failed = (failures, now)
        if now < self._failed[1] + _SURE_S:
            return ""
        more = len(failures) - 3
        return "; ".join(failures[:3]) + (f"; and {more} more" if more > 0 else "") + "."


def _left(goal: Goal, state: ClusterState) -> Iterator[tuple[str, int, str]]:
    """The partitions that a goal still waits for."""
    if isinstance(goal, Assigned):
        for move in goal.moves:
            topic = state.topics.get(move.topic)
            assignment = topic.assignment if topic else None
            moving = topic.moving if topic else {}
            if move.partition in moving:
                yield move.topic, move.partition, "moves"
            elif (
                not isinstance(assignment, Assignment)
                or assignment.partitions.get(move.partition) != move.replicas
            ):
                yield move.topic, move.partition, "is elsewhere"
    elif isinstance(goal, Led):
        topic = state.topics.get(goal.topic)
        led = {
            partition.id
            for partition in (topic.partitions if topic else ())
            if isinstance(partition.state, PartitionState) and partition.state.leader >= 0
        }
        yield from ((goal.topic, number, "has no leader") for number in goal.partitions if number not in led)


def _stuck(goal: Goal, state: ClusterState) -> str:
    """Why nothing moves, as far as ZooKeeper tells."""
    if state.controller is None:
        return "there is no controller"
    if isinstance(goal, Assigned):
        targets = {broker for move in goal.moves for broker in move.replicas}
        if gone := sorted(targets.difference(state.brokers)):
            return f"broker {gone[0]}, a target, is not registered"
    return "nothing in ZooKeeper tells why"
