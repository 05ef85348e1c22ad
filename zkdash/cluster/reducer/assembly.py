"""A topic put together from the one before and what arrived for it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

import msgspec

from zkdash.cluster.model import moves
from zkdash.cluster.model.known import Read
from zkdash.cluster.model.topics import Partition, PartitionCount, Topic
from zkdash.cluster.reducer.arrivals import Arrival
from zkdash.cluster.reducer.reading import Reader
from zkdash.kafka.layouts import config as configs
from zkdash.kafka.layouts import partitions as states_
from zkdash.kafka.layouts import topics as layouts
from zkdash.kafka.values import Assignment, Layout, PartitionState, TopicConfig, Unparsable
from zkdash.kafka.znode_kinds import Kind
from zkdash.znode import Unreadable, Znode

Assigned = Assignment | Unparsable | Unreadable | None
Config = TopicConfig | Unparsable | Unreadable | None
State = PartitionState | Unparsable | Unreadable | None
ById = dict[int, Arrival]


def blank(name: str) -> Topic:
    """A topic of which nothing is known yet."""
    return Topic(name, Layout.NONE, None, None)


def is_empty(topic: Topic) -> bool:
    """Whether nothing of the topic is left."""
    return not (topic.znode or topic.partitions or topic.counts or topic.config or topic.directory)


def assemble(
    before: Topic, arrivals: list[Arrival], reader: Reader, *, deleting: bool, requested: moves.Targets
) -> Topic:
    """The topic after a batch. `requested` are its entries in /admin/reassign_partitions."""
    states: ById = {}
    counts: ById = {}
    single: dict[Kind, Arrival] = {}
    for arrival in arrivals:
        kind = arrival[0]
        if kind == Kind.STATE:
            states[int(arrival[1])] = arrival
        elif kind == Kind.PARTITION_COUNT:
            counts[int(arrival[1])] = arrival
        else:
            single[kind] = arrival
    directory = single[Kind.PARTITIONS].read is not None if Kind.PARTITIONS in single else before.directory
    znode, assignment = _assignment(before, single.get(Kind.TOPIC), reader)
    partitions = _partitions(before, assignment, states, reader)
    by_broker = _counts(before.counts, counts, reader)
    config, config_znode = _config(before, single.get(Kind.TOPIC_CONFIG), reader)
    after = Topic(
        before.name,
        _layout(assignment, new=directory or bool(partitions), old=bool(by_broker)),
        znode,
        assignment,
        partitions,
        by_broker,
        config,
        config_znode,
        deleting,
        moves.of_topic(assignment, requested),
        directory,
    )
    newest = _newest(arrivals)
    if newest >= before.changed:  # nearly always: then nothing else has to be looked at
        return msgspec.structs.replace(after, changed=newest)
    return msgspec.structs.replace(after, changed=_newest_of_all(after) if arrivals else before.changed)


def _newest(arrivals: list[Arrival]) -> int:
    times = [
        read.mtime
        for kind, _, _, _, read in arrivals
        if isinstance(read, Znode) and kind is not Kind.PARTITIONS
    ]
    return max(times, default=0)


def _newest_of_all(topic: Topic) -> int:
    """Where the newest znode went away, or a clock ran backwards."""
    nodes = [topic.znode, topic.config_znode]
    nodes += [partition.znode for partition in topic.partitions]
    nodes += [count.znode for count in topic.counts]
    return max((node.mtime for node in nodes if isinstance(node, Znode)), default=0)


def readable(read: Read) -> Znode | None:
    """The znode, None where there is none to read."""
    return read if isinstance(read, Znode) else None


def _layout(assignment: Assigned, *, new: bool, old: bool) -> Layout:
    """`partitions` below, or JSON in the node, is 0.8+; children that are broker ids, 0.7."""
    new = new or isinstance(assignment, Assignment | Unparsable)
    if new and old:
        return Layout.MIXED
    return Layout.V08 if new else Layout.V07 if old else Layout.NONE


def _assignment(
    before: Topic, arrival: Arrival | None, reader: Reader
) -> tuple[Znode | Unreadable | None, Assigned]:
    if arrival is None:
        return before.znode, before.assignment
    return arrival.read, reader.value(arrival, layouts.parse_assignment)


def _config(before: Topic, arrival: Arrival | None, reader: Reader) -> tuple[Config, Znode | None]:
    if arrival is None:
        return before.config, before.config_znode
    return reader.value(arrival, configs.parse_topic_config), readable(arrival.read)


def _counts(before: tuple[PartitionCount, ...], arrivals: ById, reader: Reader) -> tuple[PartitionCount, ...]:
    if not arrivals:
        return before
    after = {count.broker: count for count in before}
    for broker, arrival in arrivals.items():
        value = reader.value(arrival, layouts.parse_partition_count)
        if value is None:
            after.pop(broker, None)
        else:
            after[broker] = PartitionCount(broker, value, readable(arrival.read))
    return tuple(after[broker] for broker in sorted(after))


def _partitions(before: Topic, assignment: Assigned, arrivals: ById, reader: Reader) -> tuple[Partition, ...]:
    assigned = assignment.partitions if isinstance(assignment, Assignment) else {}
    if assignment is not before.assignment or len(arrivals) > len(before.partitions):
        return _all(before.partitions, assigned, arrivals, reader)
    return _patched(before.partitions, assigned, arrivals, reader) if arrivals else before.partitions


def _all(
    before: tuple[Partition, ...], assigned: Mapping[int, tuple[int, ...]], arrivals: ById, reader: Reader
) -> tuple[Partition, ...]:
    """Every partition that is assigned or has a state."""
    by_number = {partition.id: partition for partition in before}
    ids = sorted({*assigned, *arrivals, *by_number})
    every = (
        _partition(by_number.get(number), number, assigned, arrivals.get(number), reader) for number in ids
    )
    return tuple(partition for partition in every if partition is not None)


def _patched(
    before: tuple[Partition, ...], assigned: Mapping[int, tuple[int, ...]], arrivals: ById, reader: Reader
) -> tuple[Partition, ...]:
    """Where the assignment stayed, only the partitions whose state changed are made anew."""
    after = list(before)
    for number, arrival in arrivals.items():
        at = _index(after, number)
        former = after[at] if at < len(after) and after[at].id == number else None
        partition = _partition(former, number, assigned, arrival, reader)
        after[at : at + (former is not None)] = () if partition is None else (partition,)
    return tuple(after)


def _index(partitions: list[Partition], number: int) -> int:
    """Where a partition is or would be: ids nearly always run from 0 without gaps."""
    if number < len(partitions) and partitions[number].id == number:
        return number
    return bisect_left(partitions, number, key=lambda partition: partition.id)


def _partition(
    former: Partition | None,
    number: int,
    assigned: Mapping[int, tuple[int, ...]],
    arrival: Arrival | None,
    reader: Reader,
) -> Partition | None:
    replicas = assigned.get(number)
    state: State
    if arrival is not None:
        state, znode = reader.value(arrival, states_.parse_state), readable(arrival[4])
    elif former is not None:
        state, znode = former.state, former.znode
    else:
        state, znode = None, None
    return None if replicas is None and state is None else Partition(number, replicas, state, znode)
