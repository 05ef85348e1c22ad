"""What a step waits for after its write, told from a state: how far it is, and whether it has failed.

A state made of `paths(goal)` alone tells the same as the whole one, so that who executes needs no mirror.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from zkdash.cluster.model.state import ClusterState
from zkdash.kafka import paths as at
from zkdash.kafka.values import Assignment, Move, PartitionState


class Written(msgspec.Struct, frozen=True, tag_field="goal", tag="written"):
    """Nothing more to wait for: done when written."""


class Consumed(msgspec.Struct, frozen=True, tag_field="goal", tag="consumed"):
    """The controller has removed the znode (the reassignment or the election)."""

    path: str


class Assigned(msgspec.Struct, frozen=True, tag_field="goal", tag="assigned"):
    """Each partition has exactly these replicas, none moves any more, and the trigger is gone."""

    moves: tuple[Move, ...]


class Led(msgspec.Struct, frozen=True, tag_field="goal", tag="led"):
    """Each of these partitions of the topic has a leader."""

    topic: str
    partitions: tuple[int, ...]


class Gone(msgspec.Struct, frozen=True, tag_field="goal", tag="gone"):
    """The topic, its configuration and its mark are gone."""

    topic: str


class Reelected(msgspec.Struct, frozen=True, tag_field="goal", tag="reelected"):
    """There is a controller of a later epoch than this one."""

    epoch: int


Goal: TypeAlias = Written | Consumed | Assigned | Led | Gone | Reelected


class Progress(msgspec.Struct, frozen=True):
    """`done` of `total`; `failures` are sentences about what will not be reached any more."""

    done: int
    total: int
    failures: tuple[str, ...] = ()

    @property
    def reached(self) -> bool:
        return self.done == self.total


def progress(goal: Goal, state: ClusterState) -> Progress:
    """How far a goal is in a state that is newer than the write."""
    if isinstance(goal, Assigned):
        return _assigned(goal, state)
    if isinstance(goal, Led):
        return _led(goal, state)
    return Progress(int(_holds(goal, state)), 1)


def paths(goal: Goal) -> tuple[str, ...]:
    """The znodes that tell how far a goal is."""
    match goal:
        case Consumed(path):
            return (path,)
        case Assigned(moves):
            return (at.REASSIGNMENT, *dict.fromkeys(at.topic(move.topic) for move in moves))
        case Led(topic, partitions):
            return (at.topic(topic), *(at.state(topic, number) for number in partitions))
        case Gone(topic):
            return (at.topic(topic), at.topic_config(topic), at.deletion(topic))
        case Reelected():
            return (at.CONTROLLER, at.CONTROLLER_EPOCH)
    return ()


def _holds(goal: Goal, state: ClusterState) -> bool:
    match goal:
        case Consumed(path):
            return (state.reassignment if path == at.REASSIGNMENT else state.election) is None
        case Gone(topic):
            return topic not in state.topics and topic not in state.remnants and topic not in state.deletions
        case Reelected(epoch):
            seen = state.controller_epoch
            return state.controller is not None and bool(
                seen and isinstance(seen.value, int) and seen.value > epoch
            )
    return True


def _assigned(goal: Assigned, state: ClusterState) -> Progress:
    """An entry that waits or moves is under way; one that does neither and is elsewhere has failed."""
    done, failures = 0, []
    for move in goal.moves:
        topic = state.topics.get(move.topic)
        assignment = topic.assignment if topic else None
        if move.partition in (topic.moving if topic else state.targets.get(move.topic, {})):
            continue
        if isinstance(assignment, Assignment) and assignment.partitions.get(move.partition) == move.replicas:
            done += 1
        else:
            failures.append(f"{move.topic}-{move.partition} no longer moves and is not where it should be")
    if done == len(goal.moves) and state.reassignment is not None:
        done -= 1  # the controller has yet to see the last one home
    return Progress(done, len(goal.moves), tuple(failures))


def _led(goal: Led, state: ClusterState) -> Progress:
    topic = state.topics.get(goal.topic)
    led = {
        part.id
        for part in (topic.partitions if topic else ())
        if isinstance(part.state, PartitionState) and part.state.leader >= 0
    }
    return Progress(len(led.intersection(goal.partitions)), len(goal.partitions))
