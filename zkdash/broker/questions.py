"""What is asked of a broker, and what its answer means: a few questions of Kafka's protocol, only reading.

ListOffsets versions 0 and 1, OffsetFetch versions 1 and 2, ListGroups, DescribeGroups and DescribeLogDirs
version 0, which all brokers to 3.9 speak that know them (from 0.8.2; ListOffsets 1 from 0.10.1, OffsetFetch 2
from 0.10.2, those about groups from 0.9, about log directories from 1.0), and ApiVersions version 0 (0.10).
Messages are asked for in `messages`, what coordinators say of themselves in `coordinators`; `security`
authenticates.
No FindCoordinator (it creates __consumer_offsets), no Metadata (it creates topics), no group is joined.
Source: kafka.server.KafkaApis.handleListOffsetRequest and handleOffsetFetchRequest; KIP-79, KIP-88, KIP-113.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from zkdash.broker.samples import Commit, Description, GroupMember

EARLIEST = -2
LATEST = -1
ABOUT_GROUPS_MAX_BYTES = 1 << 20
# Members bring their subscriptions with them: 500 members of 1 000 topics of 20 bytes are 11 MB.
DESCRIPTIONS_MAX_BYTES = 16 << 20
# Of log directories and their paths, beside what is told of partitions.
_DIRECTORIES_MAX_BYTES = 1 << 20

Partition = tuple[str, int]
# What the client's decoder raises on bytes that are no answer; UnicodeDecodeError is a ValueError.
UNDECODABLE = (struct.error, ValueError, TypeError, IndexError)
_CONSUMER = "consumer"
_VERSION_0 = bytes(2)

_NO_ERROR = 0
_UNKNOWN_PARTITION = 3
# COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE and NOT_COORDINATOR: GROUP_… before 2.0.
_PASSING = frozenset({14, 15, 16})
_WORDS = {
    3: "it does not know this partition",
    5: "no leader",
    6: "it no longer leads this partition",
    14: "it still loads the group's commits",
    15: "the group has no coordinator now",
    16: "it is not the group's coordinator",
    29: "it does not let us read this topic",
    30: "it does not let us read this group",
    31: "it does not let us describe the cluster",
    43: "the topic's messages have no times (message.format.version before 0.10)",
}


class Question(NamedTuple):
    """A request, its version, the class of its answer and how long that may be in bytes."""

    request: Any
    version: int
    answer: Any
    max_bytes: int


class Passing(str):
    """A reason that passes by itself: a coordinator loads its partition of __consumer_offsets, or another
    broker has become it. Whoever is told so asks again (document 002, "Consumer Offset Tracking")."""

    __slots__ = ()


class Told(NamedTuple):
    """What a coordinator told of a group: its commits, the partitions that it refused, and why."""

    commits: Mapping[Partition, Commit]
    refused: Mapping[Partition, str]


@functools.cache
def client_classes() -> Any:
    """Kafka's schemas, had with the first question: whoever asks no broker has no need of them."""
    from zkdash.broker import schemas  # noqa: PLC0415 - the client takes 12 MB, and a quarter of the start

    return schemas


def log_offsets(partitions: Collection[Partition], time: int, version: int = 0) -> Question:
    """Ask the leader for one offset of each partition: LATEST, EARLIEST, or that of an epoch millisecond.

    Version 0 answers a millisecond with where a segment begins, version 1 with a message.
    """
    schemas = client_classes()
    kind = schemas.ListOffsetsRequest.ListOffsetsTopic
    partition_schema = kind.ListOffsetsPartition
    topics = [
        kind(
            name=topic,
            partitions=[
                partition_schema(partition_index=n, timestamp=time, max_num_offsets=1) for n in numbers
            ],
        )
        for topic, numbers in _by_topic(partitions).items()
    ]
    request = schemas.ListOffsetsRequest(replica_id=-1, topics=topics)
    # exactly what an answer of one offset each takes, and nothing that a hostile one could add
    each = 22 if version else 18
    size = 8 + sum(6 + len(topic.name.encode()) for topic in topics) + each * len(partitions)
    return Question(request, version, schemas.ListOffsetsResponse, size)


def read_log_offsets(answer: Any, partitions: Collection[Partition]) -> dict[Partition, int | str]:
    """The offset of each partition that was asked for, or the reason why there is none."""
    offsets = read_offsets_at(answer, partitions, 0)
    return {
        key: "its answer holds no offset" if offset is None else offset for key, offset in offsets.items()
    }


def read_offsets_at(
    answer: Any, partitions: Collection[Partition], version: int
) -> dict[Partition, int | str | None]:
    """The same where a log may have no such offset, which is None."""
    offsets: dict[Partition, int | str | None] = dict.fromkeys(
        partitions, "its answer leaves this partition out"
    )
    for topic in answer.topics or ():
        for partition in topic.partitions or ():
            key = (topic.name, partition.partition_index)
            if key not in offsets:
                continue
            if partition.error_code != _NO_ERROR:
                offsets[key] = words(partition.error_code)
            elif version:
                offsets[key] = partition.offset if partition.offset >= 0 else None
            else:
                offsets[key] = next(iter(partition.old_style_offsets or ()), None)
    return offsets


def log_dirs(partitions: Collection[Partition]) -> Question:
    """Ask a broker how large its replicas of these partitions are."""
    schemas = client_classes()
    kind = schemas.DescribeLogDirsRequest.DescribableLogDirTopic
    topics = [kind(topic=topic, partitions=numbers) for topic, numbers in _by_topic(partitions).items()]
    # A replica is in one directory, and in a second one while it moves there; each names its topics.
    size = sum(6 + len(topic.topic.encode()) for topic in topics) + 21 * len(partitions)
    request = schemas.DescribeLogDirsRequest(topics=topics)
    return Question(request, 0, schemas.DescribeLogDirsResponse, _DIRECTORIES_MAX_BYTES + 2 * size)


def read_sizes(answer: Any, partitions: Collection[Partition]) -> dict[Partition, int | str]:
    """The bytes of each replica that was asked for, or the reason why nobody knows.

    A replica that is being built in another directory counts by the one that is read from. Who may not
    describe the cluster is answered with no directory at all.
    """
    sizes: dict[Partition, int | str] = dict.fromkeys(partitions, "it tells of no replica of this partition")
    if not answer.results:
        return dict.fromkeys(partitions, "it does not let us describe its log directories")
    for directory in answer.results:
        for topic in directory.topics or ():
            for partition in topic.partitions or ():
                key = (topic.name, partition.partition_index)
                if key in sizes and not partition.is_future_key and partition.partition_size >= 0:
                    sizes[key] = partition.partition_size
    return sizes


def commits(group: str, partitions: Collection[Partition] | None) -> Question:
    """Ask the coordinator for a group's commits: of these partitions, or of all (None, 0.10.2 and later)."""
    schemas = client_classes()
    if partitions is None:
        request = schemas.OffsetFetchRequest(group_id=group, topics=None)
        return Question(request, 2, schemas.OffsetFetchResponse, ABOUT_GROUPS_MAX_BYTES)
    kind = schemas.OffsetFetchRequest.OffsetFetchRequestTopic
    topics = [kind(name=name, partition_indexes=numbers) for name, numbers in _by_topic(partitions).items()]
    request = schemas.OffsetFetchRequest(group_id=group, topics=topics)
    return Question(request, 1, schemas.OffsetFetchResponse, ABOUT_GROUPS_MAX_BYTES)


def read_commits(answer: Any, partitions: Collection[Partition] | None) -> Told | str:
    """The commits in the answer, or why there are none to be had.

    3.9 answers version 1 with no partition at all where it is not the coordinator: what was asked for and
    is not there is a refusal, never "no commit".
    """
    code = answer.error_code if partitions is None else _NO_ERROR
    if code:
        return words(code)
    offsets: dict[Partition, Commit] = {}
    refused = dict.fromkeys(partitions or (), "its answer leaves this partition out")
    for topic in answer.topics or ():
        for partition in topic.partitions or ():
            key = (topic.name, partition.partition_index)
            if partitions is not None and refused.pop(key, None) is None:
                continue
            if partition.error_code not in (_NO_ERROR, _UNKNOWN_PARTITION):
                refused[key] = words(partition.error_code)
            elif partition.committed_offset >= 0:
                offsets[key] = Commit(partition.committed_offset, partition.metadata or "")
    reasons = set(refused.values())
    if refused and not offsets and len(reasons) == 1 and len(refused) == len(partitions or refused):
        return reasons.pop()
    return Told(offsets, refused)


def versions() -> Question:
    """Ask which questions a broker answers (0.10 and later), in which versions."""
    schemas = client_classes()
    return Question(schemas.ApiVersionsRequest(), 0, schemas.ApiVersionsResponse, ABOUT_GROUPS_MAX_BYTES)


def read_versions(answer: Any) -> dict[int, int]:
    """The newest version of each question that is answered, by its API key."""
    return {api.api_key: api.max_version for api in answer.api_keys or ()}


def groups() -> Question:
    """Ask a broker which groups it coordinates."""
    schemas = client_classes()
    return Question(schemas.ListGroupsRequest(), 0, schemas.ListGroupsResponse, ABOUT_GROUPS_MAX_BYTES)


def read_groups(answer: Any) -> frozenset[str] | str:
    """The names of the groups, or why there are none to be had."""
    if answer.error_code != _NO_ERROR:
        return words(answer.error_code)
    return frozenset(group.group_id for group in answer.groups or () if group.group_id is not None)


def descriptions(names: Collection[str]) -> Question:
    """Ask the coordinator of groups for their states, members and assignments."""
    schemas = client_classes()
    request = schemas.DescribeGroupsRequest(groups=[*names])
    return Question(request, 0, schemas.DescribeGroupsResponse, DESCRIPTIONS_MAX_BYTES)


def read_descriptions(
    answer: Any, groups: Collection[str], coordinator: int, now: float
) -> dict[str, Description | str]:
    """Each group that was asked for as its coordinator tells of it, or the reason why not."""
    described: dict[str, Description | str] = dict.fromkeys(groups, "its answer leaves this group out")
    for group in answer.groups or ():
        if group.group_id not in described:
            continue
        if group.error_code != _NO_ERROR:
            described[group.group_id] = words(group.error_code)
            continue
        described[group.group_id] = Description(
            coordinator=coordinator,
            state=group.group_state or "",
            protocol_type=group.protocol_type or "",
            protocol=group.protocol_data or "",
            members=tuple(
                GroupMember(
                    member.member_id or "",
                    member.client_id or "",
                    member.client_host or "",
                    _assignment(group.protocol_type, member.member_assignment),
                )
                for member in group.members or ()
            ),
            sampled_at=now,
        )
    return described


def _assignment(protocol_type: str | None, data: bytes | None) -> dict[str, tuple[int, ...]] | None:
    """The partitions in a member's assignment, whose format is the group's own affair. All versions of a
    consumer's begin as version 0 does. Source: ConsumerProtocol.deserializeAssignment."""
    if protocol_type != _CONSUMER:
        return None
    if not data:
        return {}  # while the group rebalances
    try:
        read = client_classes().ConsumerProtocolAssignment.decode(
            _VERSION_0 + data[len(_VERSION_0) :], version=0
        )
    except UNDECODABLE:
        return None
    return {
        assigned.topic: tuple(assigned.partitions or ())
        for assigned in read.assigned_partitions or ()
        if assigned.topic is not None
    }


def words(code: int) -> str:
    """An error code of Kafka's protocol as a clause, whose subject is the broker."""
    if code in _PASSING:
        return Passing(_WORDS[code])
    return _WORDS.get(code) or f"it answered error {code} ({client_classes().errors.for_code(code).__name__})"


def _by_topic(partitions: Iterable[Partition]) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(number)
    return topics
