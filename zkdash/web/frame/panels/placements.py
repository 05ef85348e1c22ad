"""Placements as pages have them: of a topic as it stands, and of assignments before and after."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Partition, Topic
from zkdash.kafka.values import Assignment, Broker, PartitionState
from zkdash.live.departures import Departures
from zkdash.live.parts import Block
from zkdash.live.snapshot import Snapshot
from zkdash.web.drawing import placement
from zkdash.web.drawing.placement import NOT_IN_SYNC, Column, Line, Mark, Move, Placement, Role
from zkdash.web.frame import cells

# Replicas by partition, the preferred leader first.
Assignments = Mapping[int, tuple[int, ...]]

Marks = Mapping[int, Mark]
# Of partitions that do not move, by replicas, ISR and leader: a topic has few different ones.
Shapes = dict[tuple[tuple[int, ...] | None, tuple[int, ...], int], Marks]

# Up to so many registered brokers all are columns, of more only those that hold something.
_FEW: Final = 12
# One object for equal marks: a topic has few different ones.
_mark = functools.lru_cache(maxsize=64)(Mark)


class Picture(msgspec.Struct, frozen=True):
    """A placement for its template: `told` is the picture in words, `roles` and `has_moves` what its legend
    explains."""

    placement: Placement
    told: str
    roles: frozenset[str]
    has_moves: bool

    @property
    def svg(self) -> SafeString:
        return placement.draw(self.placement, self.told)


def picture(shown: Placement) -> Picture:
    """The picture of a placement."""
    alike = placement.alike(shown.lines)
    out = sum(count for marks, count in alike for mark in marks.values() if mark.role in NOT_IN_SYNC)
    offline = sum(line.is_offline for line in shown.lines)
    words = (
        f"Partitions: {cells.grouped(len(shown.lines))}, brokers: {cells.grouped(len(shown.columns))}, "
        f"replicas not in sync: {cells.grouped(out)}, partitions offline: {cells.grouped(offline)}"
    )
    every = {id(mark): mark for marks, _ in alike for mark in marks.values()}.values()
    roles = frozenset(mark.role.value for mark in every)
    return Picture(shown, words, roles, has_moves=any(mark.move for mark in every))


def block(snapshot: Snapshot, topic: Topic | None) -> Block:
    """The live picture of a topic; empty where no replica is assigned."""
    drawn = None if topic is None else of_topic(topic, snapshot.state, snapshot.departed)
    shown = None if drawn is None or not drawn.lines else picture(drawn)
    return Block(id="placement", template="frame/placement.html", values=shown)


def of_topic(topic: Topic, state: ClusterState, departed: Departures) -> Placement:
    """Where the partitions of a topic lie now. Cost: its replicas."""
    shapes: Shapes = {}
    lines = tuple(_line(topic, partition, state, shapes) for partition in topic.partitions)
    return Placement(lines, _columns(lines, state, departed))


def before_and_after(
    before: Assignments, after: Assignments, state: ClusterState, departed: Departures
) -> tuple[Placement, Placement]:
    """Where partitions are assigned to now and afterwards, on the same brokers.

    The preferred leader is drawn as the leader and others as in sync: a plan knows no more. What leaves and
    what is added has its arrow, the one before, the other afterwards.
    """
    leaving = {
        number: dict.fromkeys(set(replicas).difference(after.get(number, ())), Move.REMOVING)
        for number, replicas in before.items()
    }
    coming = {
        number: dict.fromkeys(set(replicas).difference(before.get(number, ())), Move.ADDING)
        for number, replicas in after.items()
    }
    lines = _assigned(before, leaving, state), _assigned(after, coming, state)
    columns = _columns((*lines[0], *lines[1]), state, departed)
    return Placement(lines[0], columns), Placement(lines[1], columns)


def _assigned(
    assignments: Assignments, moves: Mapping[int, Mapping[int, Move]], state: ClusterState
) -> tuple[Line, ...]:
    return tuple(
        Line(
            number,
            is_offline=False,
            marks={
                broker: _mark(_assigned_role(at, broker, state), at == 0, moves.get(number, {}).get(broker))
                for at, broker in enumerate(replicas)
            },
        )
        for number, replicas in sorted(assignments.items())
    )


def _assigned_role(at: int, broker: int, state: ClusterState) -> Role:
    if broker not in state.brokers:
        return Role.GONE
    return Role.IN_SYNC if at else Role.LEADER


def _line(topic: Topic, partition: Partition, state: ClusterState, shapes: Shapes) -> Line:
    read_state = partition.state
    if not isinstance(read_state, PartitionState):
        return Line(partition.id, is_offline=False, marks=_marks(topic, partition, state))
    if partition.id in topic.moving:
        return Line(partition.id, read_state.leader == -1, _marks(topic, partition, state))
    shape = partition.replicas, read_state.isr, read_state.leader
    marks = shapes.get(shape)
    if marks is None:
        marks = shapes[shape] = _marks(topic, partition, state)
    return Line(partition.id, read_state.leader == -1, marks)


def _marks(topic: Topic, partition: Partition, state: ClusterState) -> Marks:
    """What each broker is to a partition: its replicas, a leader that is none, what a move adds."""
    leader = partition.state.leader if isinstance(partition.state, PartitionState) else -1
    replicas = partition.replicas or ()
    brokers = replicas if leader < 0 or leader in replicas else (*replicas, leader)
    moves = _moves(topic, partition)
    return {
        broker: _mark(_role(partition, broker, state), (broker,) == replicas[:1], moves.get(broker))
        for broker in (*brokers, *(broker for broker in moves if broker not in brokers))
    }


def _role(partition: Partition, broker: int, state: ClusterState) -> Role:
    if broker not in state.brokers:
        return Role.GONE
    read_state = partition.state
    if not isinstance(read_state, PartitionState):
        return Role.UNKNOWN
    if read_state.leader == broker:
        return Role.LEADER
    return Role.IN_SYNC if broker in read_state.isr else Role.OUT


def _moves(topic: Topic, partition: Partition) -> dict[int, Move]:
    """The replicas that a reassignment adds and removes; nothing where the partition does not move."""
    target = topic.moving.get(partition.id)
    if target is None:
        return {}
    replicas = partition.replicas or ()
    assignment = topic.assignment
    added = assignment.adding.get(partition.id, ()) if isinstance(assignment, Assignment) else ()
    adding = (*added, *(broker for broker in target if broker not in replicas))
    removing = (broker for broker in replicas if broker not in target)
    return dict.fromkeys(adding, Move.ADDING) | dict.fromkeys(removing, Move.REMOVING)


def _columns(lines: Iterable[Line], state: ClusterState, departed: Departures) -> tuple[Column, ...]:
    """The brokers by rack and id; those whose rack nobody knows last."""
    numbers = {broker for marks, _ in placement.alike(lines) for broker in marks}
    if len(state.brokers) <= _FEW:
        numbers.update(state.brokers)
    columns = (
        Column(number, _rack(number, state, departed), is_gone=number not in state.brokers)
        for number in numbers
    )
    return tuple(sorted(columns, key=lambda column: (not column.rack, column.rack, column.broker)))


def _rack(number: int, state: ClusterState, departed: Departures) -> str:
    seen = state.brokers.get(number)
    departure = departed.get(number)
    rack = seen.value if seen is not None else departure.broker if departure is not None else None
    return (rack.rack or "") if isinstance(rack, Broker) else ""
