"""What a simulated broker answers to the few questions that the dashboard asks. Pure: bytes to bytes.

ListOffsets version 0 (both ends) and 1 (any moment too), OffsetFetch versions 1 and 2, ListGroups,
DescribeGroups and DescribeLogDirs version 0, as 3.9 answers them; every other request is refused, for which a
real broker closes the connection.
Source: kafka.server.KafkaApis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kafka.protocol.admin import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kafka.protocol.consumer import (
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetFetchResponse,
)

from zkdash.demo.kafka39.consumer_progress import ConsumerProgress
from zkdash.demo.kafka39.logs import Logs
from zkdash.demo.kafka39.metadata_cache import MetadataCache
from zkdash.demo.protocol import requests
from zkdash.demo.protocol.requests import RefusedRequestError
from zkdash.kafka.consumers import coordinators

_LATEST = -1
_EARLIEST = -2
_NO_OFFSET = -1

_BYTES_A_MESSAGE = 1_024
_NONE = 0
_UNKNOWN_PARTITION = 3
_NOT_LEADER = 6
_NOT_COORDINATOR = 16

_OffsetsOfTopic = ListOffsetsResponse.ListOffsetsTopicResponse
_CommitsOfTopic = OffsetFetchResponse.OffsetFetchResponseTopic
_LogDir = DescribeLogDirsResponse.DescribeLogDirsResult


class KafkaApis:
    """The answers of one broker; from any thread. `wall_ms` is what its clock says."""

    def __init__(
        self,
        broker_id: int,
        *,
        metadata: MetadataCache,
        logs: Logs,
        progress: ConsumerProgress,
        wall_ms: Callable[[], int],
    ) -> None:
        self._id = broker_id
        self._metadata = metadata
        self._logs = logs
        self._progress = progress
        self._wall_ms = wall_ms

    def answer(self, data: bytes) -> bytes:
        """The response to a request, both header and body without the length. Raises RefusedRequestError."""
        request = requests.decode(data)
        if isinstance(request, ListOffsetsRequest):
            response = self._list_offsets(request)
        elif isinstance(request, ListGroupsRequest):
            response = self._list_groups()
        elif isinstance(request, DescribeGroupsRequest):
            response = self._describe_groups(request)
        elif isinstance(request, DescribeLogDirsRequest):
            response = self._describe_log_dirs(request)
        else:
            response = self._fetch_offsets(request)
        response.API_VERSION = request.API_VERSION
        response.with_header(request.header.correlation_id)
        encoded: bytes = response.encode(header=True)
        return encoded

    # --- log ends

    def _list_offsets(self, request: Any) -> Any:
        version = request.API_VERSION
        topics = [
            _OffsetsOfTopic(
                name=topic.name, partitions=[self._listed(topic.name, p, version) for p in topic.partitions]
            )
            for topic in request.topics
        ]
        return ListOffsetsResponse(topics=topics)

    def _listed(self, topic: str, partition: Any, version: int) -> Any:
        """One partition, with the fields of both versions: the schema writes those of its own."""
        time = partition.timestamp
        if time < _EARLIEST or (version == 0 and time >= 0):
            raise RefusedRequestError(f"version {version} of ListOffsets is not answered for the time {time}")
        error, offset = self._offset(topic, partition.partition_index, time)
        return _OffsetsOfTopic.ListOffsetsPartitionResponse(
            partition_index=partition.partition_index,
            error_code=error,
            old_style_offsets=[] if error else [offset][: max(0, partition.max_num_offsets)],
            # the time of the message found: a client needs it no more precise than its question was
            timestamp=time if time >= 0 and offset != _NO_OFFSET else _NO_OFFSET,
            offset=offset,
        )

    def _offset(self, topic: str, partition: int, time: int) -> tuple[int, int]:
        """An error code and the offset, one of which says nothing."""
        leader = self._metadata.leader(topic, partition)
        if leader != self._id:
            return _UNKNOWN_PARTITION if leader is None else _NOT_LEADER, _NO_OFFSET
        if time == _LATEST:
            return _NONE, self._logs.end(topic, partition)
        if time == _EARLIEST:
            return _NONE, self._logs.start(topic, partition)
        offset = self._logs.offset_since(topic, partition, ago_s=(self._wall_ms() - time) / 1000)
        return _NONE, _NO_OFFSET if offset is None else offset

    def _describe_log_dirs(self, request: Any) -> Any:
        """One directory, with what this broker leads: nobody asks it for more."""
        topics = [
            _LogDir.DescribeLogDirsTopic(
                name=topic.topic,
                partitions=[
                    _LogDir.DescribeLogDirsTopic.DescribeLogDirsPartition(
                        partition_index=number,
                        partition_size=self._size(topic.topic, number),
                        offset_lag=0,
                        is_future_key=False,
                    )
                    for number in topic.partitions
                    if self._metadata.leader(topic.topic, number) == self._id
                ],
            )
            for topic in request.topics
        ]
        directory = _LogDir(error_code=_NONE, log_dir="/var/lib/kafka", topics=topics)
        return DescribeLogDirsResponse(results=[directory])

    def _size(self, topic: str, partition: int) -> int:
        messages = self._logs.end(topic, partition) - self._logs.start(topic, partition)
        return messages * _BYTES_A_MESSAGE

    # --- commits

    def _fetch_offsets(self, request: Any) -> Any:
        if not self._coordinates(request.group_id):
            # 3.9 answers both versions without any partition where it is not the coordinator
            return OffsetFetchResponse(topics=[], error_code=_NOT_COORDINATOR)
        commits = self._progress.committed(request.group_id)
        asked_for = _by_topic(commits)
        if request.topics is not None:
            asked_for = [(topic.name, topic.partition_indexes) for topic in request.topics]
        topics = [
            _CommitsOfTopic(
                name=topic,
                partitions=[_commit(number, commits.get((topic, number))) for number in partitions],
            )
            for topic, partitions in asked_for
        ]
        return OffsetFetchResponse(topics=topics, error_code=_NONE)

    def _coordinates(self, group: str) -> bool:
        count = self._metadata.partition_count(coordinators.OFFSETS_TOPIC)
        if not count:
            return False
        partition = coordinators.partition_of(group, count)
        return self._metadata.leader(coordinators.OFFSETS_TOPIC, partition) == self._id

    def _list_groups(self) -> Any:
        # a group of old consumers has no protocol: it only keeps offsets here
        groups = [
            ListGroupsResponse.ListedGroup(group_id=group, protocol_type="")
            for group in self._progress.groups_in_kafka
            if self._coordinates(group)
        ]
        return ListGroupsResponse(error_code=_NONE, groups=groups)

    def _describe_groups(self, request: Any) -> Any:
        return DescribeGroupsResponse(groups=[self._described(name) for name in request.groups])

    def _described(self, group: str) -> Any:
        """A group without members, as old consumers leave it; what nobody knows is dead."""
        if not self._coordinates(group):
            return _described_group(group, error=_NOT_COORDINATOR)
        return _described_group(group, state="Empty" if group in self._progress.groups_in_kafka else "Dead")


def _commit(partition: int, offset: int | None) -> Any:
    """A partition of an OffsetFetch answer. That nothing was committed is not an error."""
    return _CommitsOfTopic.OffsetFetchResponsePartition(
        partition_index=partition,
        committed_offset=_NO_OFFSET if offset is None else offset,
        metadata="",
        error_code=_NONE,
    )


def _described_group(group: str, *, state: str = "", error: int = _NONE) -> Any:
    return DescribeGroupsResponse.DescribedGroup(
        error_code=error, group_id=group, group_state=state, protocol_type="", protocol_data="", members=[]
    )


def _by_topic(commits: Iterable[tuple[str, int]]) -> list[tuple[str, list[int]]]:
    topics: dict[str, list[int]] = {}
    for topic, partition in commits:
        topics.setdefault(topic, []).append(partition)
    return list(topics.items())
