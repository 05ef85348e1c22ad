"""What a simulated broker answers to the few questions that the dashboard asks. Pure: bytes to bytes.

ListOffsets version 0 (both ends) and 1 (any moment too), OffsetFetch versions 1 and 2, ListGroups version 0,
as 3.9 answers them; a request that is anything else, or malformed, is refused, for which a real broker closes
the connection.
Source: kafka.server.KafkaApis, and the schemas of 3.9 (clients/src/main/resources/common/message).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from zkdash.demo.leaders import Leaders
from zkdash.demo.logs import Logs
from zkdash.demo.readers import Readers
from zkdash.demo.request import RefusedError, Request
from zkdash.kafka.consumers import coordinators

_LATEST = -1
_EARLIEST = -2
_NO_OFFSET = -1

_NONE = 0
_UNKNOWN_PARTITION = 3
_NOT_LEADER = 6
_NOT_COORDINATOR = 16

_SHORT = struct.Struct("!h")
_INT = struct.Struct("!i")
_LONG = struct.Struct("!q")

T = TypeVar("T")


class Answers:
    """The answers of one broker; from any thread. `wall_ms` is what its clock says."""

    def __init__(
        self, broker_id: int, *, leaders: Leaders, logs: Logs, readers: Readers, wall_ms: Callable[[], int]
    ) -> None:
        self._id = broker_id
        self._leaders = leaders
        self._logs = logs
        self._readers = readers
        self._wall_ms = wall_ms

    def answer(self, request: bytes) -> bytes:
        """The answer's bytes, header and body; a request is the same. Raises RefusedError."""
        asked = Request(request)
        key, version, correlation = asked.int16(), asked.int16(), asked.int32()
        asked.nullable_text()  # the client's id
        told = self._body(key, version, asked)
        return _INT.pack(correlation) + told

    def _body(self, key: int, version: int, asked: Request) -> bytes:
        match key, version:
            case 2, 0:
                return self._list_offsets(asked, lambda: _three(asked), self._both_ends)
            case 2, 1:
                return self._list_offsets(asked, lambda: (asked.int32(), asked.int64()), self._any_offset)
            case 9, 1 | 2:
                return self._fetch_offsets(asked, version)
            case 16, 0:
                return self._list_groups(asked)
        raise RefusedError(f"version {version} of API {key} is not answered here")

    # --- log ends

    def _list_offsets(self, asked: Request, read: Callable[[], T], tell: Callable[[str, T], bytes]) -> bytes:
        """Both versions differ in what they say of each partition only."""
        asked.int32()  # replica_id
        topics = asked.array(lambda: (asked.text(), asked.array(read)))
        asked.end()
        return _array(
            _text(topic) + _array(tell(topic, one) for one in partitions) for topic, partitions in topics
        )

    def _both_ends(self, topic: str, one: tuple[int, int, int]) -> bytes:
        partition, time, most = one
        if time not in (_LATEST, _EARLIEST):
            raise RefusedError(f"version 0 of ListOffsets does not tell of the time {time} here")
        error, offset = self._offset(topic, partition, time)
        offsets = [] if error else [offset]
        told = _array(map(_LONG.pack, offsets[: max(0, most)]))
        return _INT.pack(partition) + _SHORT.pack(error) + told

    def _any_offset(self, topic: str, one: tuple[int, int]) -> bytes:
        partition, time = one
        if time < _EARLIEST:
            raise RefusedError(f"version 1 of ListOffsets does not know the time {time}")
        error, offset = self._offset(topic, partition, time)
        # the time of the message found: a client needs it no more precise than its question was
        at = time if time >= 0 and offset != _NO_OFFSET else _NO_OFFSET
        return _INT.pack(partition) + _SHORT.pack(error) + _LONG.pack(at) + _LONG.pack(offset)

    def _offset(self, topic: str, partition: int, time: int) -> tuple[int, int]:
        """An error code and the offset, one of which says nothing."""
        leader = self._leaders.of(topic, partition)
        if leader != self._id:
            return _UNKNOWN_PARTITION if leader is None else _NOT_LEADER, _NO_OFFSET
        if time == _LATEST:
            return _NONE, self._logs.end(topic, partition)
        if time == _EARLIEST:
            return _NONE, self._logs.start(topic, partition)
        found = self._logs.since(topic, partition, ago_s=(self._wall_ms() - time) / 1000)
        return _NONE, _NO_OFFSET if found is None else found

    # --- commits

    def _fetch_offsets(self, asked: Request, version: int) -> bytes:
        group = asked.text()
        topics = asked.nullable_array(lambda: (asked.text(), asked.array(asked.int32)))
        asked.end()
        if topics is None and version == 1:
            raise RefusedError("version 1 of OffsetFetch names its topics")
        error = _NONE if self._coordinates(group) else _NOT_COORDINATOR
        commits = self._readers.committed(group)
        told = _by_topic(commits) if topics is None else topics
        # 3.9 answers both versions without any partition where it is not the coordinator
        body = _array(_commits(commits, *one) for one in ([] if error else told))
        return body if version == 1 else body + _SHORT.pack(error)

    def _coordinates(self, group: str) -> bool:
        count = self._leaders.partitions(coordinators.OFFSETS_TOPIC)
        if not count:
            return False
        partition = coordinators.partition_of(group, count)
        return self._leaders.of(coordinators.OFFSETS_TOPIC, partition) == self._id

    def _list_groups(self, asked: Request) -> bytes:
        asked.end()
        groups = [group for group in self._readers.groups_in_kafka if self._coordinates(group)]
        # a group of old consumers has no protocol: it only keeps offsets here
        return _SHORT.pack(_NONE) + _array(_text(group) + _text("") for group in groups)


def _three(asked: Request) -> tuple[int, int, int]:
    """A partition, a time, and how many offsets at most."""
    return asked.int32(), asked.int64(), asked.int32()


def _commits(commits: Mapping[tuple[str, int], int], topic: str, partitions: Iterable[int]) -> bytes:
    """A topic of an OffsetFetch answer; no commit is no error."""
    return _text(topic) + _array(
        _INT.pack(number)
        + _LONG.pack(commits.get((topic, number), _NO_OFFSET))
        + _text("")
        + _SHORT.pack(_NONE)
        for number in partitions
    )


def _by_topic(commits: Iterable[tuple[str, int]]) -> list[tuple[str, list[int]]]:
    topics: dict[str, list[int]] = {}
    for topic, partition in commits:
        topics.setdefault(topic, []).append(partition)
    return list(topics.items())


def _text(value: str) -> bytes:
    data = value.encode()
    return _SHORT.pack(len(data)) + data


def _array(items: Iterable[bytes]) -> bytes:
    told = list(items)
    return _INT.pack(len(told)) + b"".join(told)
