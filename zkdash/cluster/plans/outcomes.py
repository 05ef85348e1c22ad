"""What a plan leaves behind once all of it is done: its writes, and what the controller makes of them.

A controller may do otherwise, or nothing. Whatever is taken for granted here is told in a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans.goals import Assigned, Consumed, Goal, Gone, Led, Reelected
from zkdash.cluster.plans.values import Plan, Step, Write
from zkdash.kafka import paths
from zkdash.kafka.layouts import admin
from zkdash.kafka.payloads import config_notifications, editing
from zkdash.kafka.values import Election, PartitionState
from zkdash.kafka.znode_kinds import Kind
from zkdash.znode import Operation, Stat, Unreadable, Znode

# Topics and groups are judged as a whole or not at all.
_Entity = tuple[str, str]
_OF_TOPICS = frozenset({Kind.TOPIC, Kind.PARTITIONS, Kind.STATE, Kind.TOPIC_CONFIG, Kind.DELETION})
_OF_GROUPS = frozenset({Kind.GROUP, Kind.MEMBER, Kind.OWNER, Kind.OFFSET})
# A group that consumes a topic which changes is judged anew: it counts as so many partitions.
_CONSUMER = 5

WRITTEN: Final = "Judged by the znodes as they are to be written."
_TOLD: Final[Mapping[type, str]] = {
    Assigned: "Judged as if every partition had arrived, with its new replicas in sync and the first of them "
    "leading. Until then they count as moving; a controller decides whether they ever arrive.",
    Led: "Judged as if the controller had elected leaders of the new partitions, with every registered "
    "replica in sync.",
    Consumed: "Judged as if the controller had let every preferred replica lead that was asked for.",
    Gone: "Judged as if the topic was gone. It stays where brokers do not allow its deletion, or one that "
    "holds replicas is down.",
    Reelected: "What a new controller takes up by itself is not judged.",
}
_CONSUMERS: Final = "How consumers divide the partitions afterwards is not judged."
_LEFT_OUT: Final = "More is touched than can be judged at once: topics and groups not looked at: {count}."
_UNEDITABLE: Final = "Not judged, as what they hold cannot be understood: {names}."


class Outcome(msgspec.Struct, frozen=True):
    """`changed` is what a mirror would read afterwards, None for a znode that is gone. `cost` is about how
    many partitions have to be judged for it, `assumed` tells what was taken for granted or left out."""

    changed: Mapping[str, Znode | None]
    cost: int
    assumed: tuple[str, ...]


def of(plan: Plan, state: ClusterState, now: float, most: int) -> Outcome:
    """The outcome of a plan at an epoch second: of its first topics and groups that together cost no more
    than `most`."""
    costs = _costs(plan.steps, state)
    left, judged = most, set[_Entity]()
    for entity, cost in costs.items():
        if cost <= left:
            left -= cost
            judged.add(entity)
    made = _Making(state, now, judged)
    for step in plan.steps:
        made.step(step)
    changed = made.close()
    return Outcome(changed, most - left, tuple(_assumed(plan, state, made, len(costs) - len(judged))))


def _assumed(plan: Plan, state: ClusterState, made: _Making, left_out: int) -> Iterable[str]:
    goals = dict.fromkeys(type(step.goal) for step in plan.steps)
    if not goals.keys() & _TOLD.keys():
        yield WRITTEN
    yield from (_TOLD[goal] for goal in goals if goal in _TOLD)
    if goals.keys() & {Led, Gone} and state.counts.groups:
        yield _CONSUMERS
    if made.uneditable:
        yield _UNEDITABLE.format(names=", ".join(sorted(made.uneditable)[:5]))
    if left_out:
        yield _LEFT_OUT.format(count=left_out)


def _costs(steps: Sequence[Step], state: ClusterState) -> dict[_Entity, int]:
    """What is touched, in the order in which it is, and how much there is to be judged of it."""
    costs: dict[_Entity, int] = {}
    for step in steps:
        for write in step.writes:
            entity = None if write.operation is Operation.CHECK else _entity(write.path)
            if entity is not None:
                costs[entity] = costs.get(entity, 0) + 1
            for name in _elected(write):
                costs.setdefault(("topic", name), 0)
        for name in _topics(step.goal):
            costs.setdefault(("topic", name), 0)
    return {entity: cost + _size(entity, state) for entity, cost in costs.items()}


def _size(entity: _Entity, state: ClusterState) -> int:
    what, name = entity
    if what == "topic":
        topic = state.topics.get(name)
        return _CONSUMER * len(state.consumers.get(name, ())) + (
            0 if topic is None else len(topic.partitions)
        )
    group = state.groups.get(name)
    if group is None:
        return 0
    kept = sum(map(len, group.owners.values())) + sum(map(len, group.offsets.values()))
    return kept + len(group.members)


def _entity(path: str) -> _Entity | None:
    place = paths.locate(path)
    if place.kind in _OF_TOPICS:
        return "topic", place.name
    return ("group", place.name) if place.kind in _OF_GROUPS else None


def _elected(write: Write) -> Iterable[str]:
    """The topics that an election of preferred leaders is asked for."""
    if write.path != paths.ELECTION or write.after is None:
        return ()
    election, _ = admin.parse_election(write.after)
    return dict.fromkeys(name for name, _ in election.partitions) if isinstance(election, Election) else ()


def _topics(goal: Goal) -> Iterable[str]:
    match goal:
        case Assigned(moves):
            return dict.fromkeys(move.topic for move in moves)
        case Led(topic, _) | Gone(topic):
            return (topic,)
    return ()


class _Making:
    """The znodes of an outcome while they are made, thrown away after `close`."""

    def __init__(self, state: ClusterState, now: float, judged: set[_Entity]) -> None:
        self._state, self._now, self._judged = state, int(now * 1000), judged
        self._changed: dict[str, Znode | None] = {}
        self._targets: dict[str, dict[int, tuple[int, ...]]] = {}
        self._led: dict[str, tuple[int, ...]] = {}
        self._running = _last_number(state) if state.notifications else -1
        seen = state.controller_epoch
        self._epoch = seen.value if seen is not None and isinstance(seen.value, int) else 0
        self.uneditable: set[str] = set()

    def step(self, step: Step) -> None:
        for write in step.writes:
            entity = _entity(write.path)
            if write.operation is not Operation.CHECK and (entity is None or entity in self._judged):
                self._write(write)
        self._reach(step.goal)
        if paths.CONTROLLER in self._changed and self._state.controller is not None:
            # Whoever is elected registers there again.
            del self._changed[paths.CONTROLLER]
            self._epoch += 1
            self._put(paths.CONTROLLER_EPOCH, str(self._epoch).encode())

    def close(self) -> Mapping[str, Znode | None]:
        for name in {**self._targets, **self._led}:
            self._settle(name, self._targets.get(name, {}), self._led.get(name, ()))
        return self._changed

    def _write(self, write: Write) -> None:
        if write.operation is Operation.DELETE:
            self._changed[write.path] = None
        elif write.sequential:
            self._running += 1
            self._put(f"{write.path}{self._running:010d}", write.after)
        else:
            self._put(write.path, write.after)

    def _put(self, path: str, data: bytes | None) -> None:
        zxid = self._state.zxid + 1
        size = len(data or b"")
        self._changed[path] = Znode.of(
            data, Stat(zxid, zxid, self._now, self._now, 0, 0, 0, 0, size, 0, zxid)
        )

    def _reach(self, goal: Goal) -> None:
        match goal:
            case Assigned(moves):
                self._changed[paths.REASSIGNMENT] = None
                for move in moves:
                    if ("topic", move.topic) in self._judged:
                        self._targets.setdefault(move.topic, {})[move.partition] = move.replicas
            case Led(topic, partitions) if ("topic", topic) in self._judged:
                self._led[topic] = partitions
            case Gone(topic) if ("topic", topic) in self._judged:
                self._forget(topic)
            case Consumed(path):
                request = self._changed.get(path)
                self._changed[path] = None
                if path == paths.ELECTION and request is not None:
                    self._elect(request)

    def _forget(self, name: str) -> None:
        topic = self._state.topics.get(name)
        gone = [paths.topic(name), paths.partitions(name), paths.topic_config(name), paths.deletion(name)]
        gone += [paths.state(name, part.id) for part in (topic.partitions if topic else ())]
        self._changed.update(dict.fromkeys(gone))

    def _elect(self, request: Znode) -> None:
        """Preferred leaders, where they live and are in sync."""
        election, _ = admin.parse_election(request.data)
        for name, number in election.partitions if isinstance(election, Election) else ():
            topic = self._state.topics.get(name)
            part = topic.partition(number) if topic else None
            judged = ("topic", name) in self._judged
            if not judged or part is None or not part.replicas or not isinstance(part.state, PartitionState):
                continue
            first = part.replicas[0]
            if first in self._state.brokers and first in part.state.isr:
                self._lead(name, part.id, first, part.state.isr)

    def _settle(self, name: str, targets: Mapping[int, tuple[int, ...]], led: Iterable[int]) -> None:
        """The assignment as it is to be, and a state of each partition that gets other replicas."""
        lists = self._lists(name, targets)
        for number in dict.fromkeys((*targets, *led)):
            replicas = lists.get(str(number))
            if not isinstance(replicas, list | tuple):
                continue
            live = tuple(broker for broker in replicas if broker in self._state.brokers)
            if live:
                self._lead(name, number, live[0], live)
        if lists:
            self._changed.setdefault(paths.partitions(name), Znode.of(None, _NOTHING))

    def _lists(self, name: str, targets: Mapping[int, tuple[int, ...]]) -> Mapping[str, Any]:
        """The replicas by partition as the topic's znode has them, after it was written with targets."""
        path = paths.topic(name)
        topic = self._state.topics.get(name)
        znode: Znode | Unreadable | None = self._changed.get(path) or (topic.znode if topic else None)
        try:
            document = editing.read(znode.data if isinstance(znode, Znode) else None, (1, 2, 3))
            lists = document["partitions"]
            for number, replicas in targets.items():
                lists[str(number)] = replicas
                for field in ("adding_replicas", "removing_replicas"):
                    document.get(field, {}).pop(str(number), None)
        except (editing.Uneditable, KeyError, TypeError, AttributeError):
            self.uneditable.add(name)
            return {}
        if targets:
            self._put(path, editing.write(document))
        return lists if isinstance(lists, dict) else {}

    def _lead(self, name: str, number: int, leader: int, isr: Sequence[int]) -> None:
        state = {
            "controller_epoch": self._epoch,
            "leader": leader,
            "version": 1,
            "leader_epoch": 0,
            "isr": isr,
        }
        self._put(paths.state(name, number), json.dumps(state).encode())


_NOTHING = Stat(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def _last_number(state: ClusterState) -> int:
    """The running number of the newest notification."""
    numbers = (path.removeprefix(config_notifications.PREFIX) for path in state.notifications)
    return max((int(number) for number in numbers if number.isascii() and number.isdigit()), default=-1)
