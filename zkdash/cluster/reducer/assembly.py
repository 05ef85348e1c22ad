"""A topic put together from the one before and what arrived for it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.cluster.model import moves
from zkdash.cluster.model.known import Read
from zkdash.cluster.model.topics import Partition, PartitionCount, Topic, index
from zkdash.cluster.reducer.arrivals import Arrival, OfTopic
from zkdash.cluster.reducer.reading import Reader
from zkdash.kafka.layouts import config as configs
from zkdash.kafka.layouts import topics as layouts
from zkdash.kafka.values import Assignment, Layout, PartitionState, TopicConfig, Unparsable
from zkdash.kafka.znode_kinds import Kind
from zkdash.znode import Unreadable, Znode, newest_mtime

Assigned = Assignment | Unparsable | Unreadable | None
Config = TopicConfig | Unparsable | Unreadable | None
State = PartitionState | Unparsable | Unreadable | None
ById = dict[int, Arrival]
Lists = Mapping[int, tuple[int, ...]]
# The states that arrived, by partition: what they say now, and how they were read.
Said = Mapping[int, State]
Reads = Mapping[int, Read]


_TOPIC, _DIRECTORY, _CONFIG, _COUNT = (
    Kind.TOPIC,
    Kind.PARTITIONS,
    Kind.TOPIC_CONFIG,
    Kind.PARTITION_COUNT,
)


def blank(name: str) -> Topic:
    """A topic of which nothing is known yet."""
    return Topic(name, Layout.NONE, None, None)


def is_empty(topic: Topic) -> bool:
    """Whether nothing of the topic is left."""
    return not (topic.znode or topic.partitions or topic.counts or topic.config or topic.directory)


def assemble(
    before: Topic, arrived: OfTopic, reader: Reader, *, deleting: bool, requested: moves.Targets
) -> Topic:
    """The topic after a batch. `requested` are its entries in /admin/reassign_partitions."""
    counts: ById = {}
    single: dict[Kind, Arrival] = {}
    for arrival in arrived.others:
        kind = arrival.kind
        if kind == _COUNT:
            counts[int(arrival.key)] = arrival
        else:
            single[kind] = arrival
    listing = single.get(_DIRECTORY)
    directory = before.directory if listing is None else listing.read is not None
    znode, assignment = _assignment(before, single.get(_TOPIC), reader)
    partitions = _partitions(before, assignment, arrived.states, reader)
    by_broker = _counts(before.counts, counts, reader)
    config, config_znode = _config(before, single.get(_CONFIG), reader)
    newest = _newest(arrived)
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
        max(newest, before.changed),
    )
    if newest >= before.changed or not (arrived.states or arrived.others):
        return after
    return msgspec.structs.replace(after, changed=_newest_of_all(after))


def _newest(arrived: OfTopic) -> int:
    reads = [*arrived.states.values()]
    reads += [arrival.read for arrival in arrived.others if arrival.kind != _DIRECTORY]
    return newest_mtime(reads)


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


def _partitions(before: Topic, assignment: Assigned, reads: Reads, reader: Reader) -> tuple[Partition, ...]:
    assigned = assignment.partitions if isinstance(assignment, Assignment) else {}
    said = reader.states(before.name, reads) if reads else {}
    if assignment is not before.assignment or len(reads) > len(before.partitions):
        return _all(before.partitions, assigned, said, reads)
    return _patched(before.partitions, assigned, said, reads) if reads else before.partitions


def _all(before: tuple[Partition, ...], assigned: Lists, said: Said, reads: Reads) -> tuple[Partition, ...]:
    """Every partition that is assigned or has a state; one plain loop, for a first load's sake."""
    by_number = {partition.id: partition for partition in before}
    partitions: list[Partition] = []
    for number in sorted({*assigned, *said, *by_number}):
        state: State
        if number in said:
            state, read = said[number], reads[number]
            znode = read if read.__class__ is Znode else None
        elif (former := by_number.get(number)) is not None:
            state, znode = former.state, former.znode
        else:
            state = znode = None
        replicas = assigned.get(number)
        if replicas is not None or state is not None:
            partitions.append(Partition(number, replicas, state, znode))
    return tuple(partitions)


def _patched(
    before: tuple[Partition, ...], assigned: Lists, said: Said, reads: Reads
) -> tuple[Partition, ...]:
    """Where the assignment stayed, only the partitions whose state changed are made anew."""
    after = list(before)
    for number, state in said.items():
        at = index(after, number)
        is_there = at < len(after) and after[at].id == number
        replicas = assigned.get(number)
        is_nothing = replicas is None and state is None
        after[at : at + is_there] = (
            () if is_nothing else (Partition(number, replicas, state, readable(reads[number])),)
        )
    return tuple(after)
