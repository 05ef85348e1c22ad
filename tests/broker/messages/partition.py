"""A partition's log at a broker of the test's own: it answers ListOffsets, Fetch and ApiVersions."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from kafka.protocol.consumer import FetchRequest, FetchResponse, ListOffsetsRequest, ListOffsetsResponse
from kafka.protocol.metadata import ApiVersionsResponse

from tests.broker.listening import Asked, Listening, framed
from zkdash.broker.leaders_asked import Reason
from zkdash.broker.messages import asking
from zkdash.broker.messages.values import Bounds, Look, Place
from zkdash.kafka.values import Broker, Layout

FETCH, LIST_OFFSETS, API_VERSIONS = 1, 2, 18
PLACE = ("orders", 0)
BOUNDS = Bounds(messages=50, read_bytes=8 << 20, seconds=20.0)


class Partition:
    """A log of entries: (base offset, last offset, bytes), from `start` to `end`.

    It answers Fetch as a leader does, from the entry that holds the offset on, as many as fit, and one at
    least; to consumers of committed messages up to `stable`, with what was `aborted`.
    """

    def __init__(
        self,
        entries: Sequence[tuple[int, int, bytes]],
        *,
        start: int = 0,
        end: int | None = None,
        fetch: int = 10,
        stable: int | None = None,
        aborted: Sequence[tuple[int, int]] = (),
        times: Callable[[int], int] = lambda _: -1,
    ) -> None:
        self.entries = list(entries)
        self.start = start
        self.end = end if end is not None else max((last for _, last, _ in entries), default=-1) + 1
        self.fetch, self.stable, self.aborted, self.times = fetch, stable, aborted, times
        self.fetches: list[Any] = []

    def __call__(self, asked: Asked) -> bytes:
        if asked.key == API_VERSIONS:
            kind = ApiVersionsResponse.ApiVersion
            newest = {FETCH: self.fetch, LIST_OFFSETS: 1 if self.fetch > 2 else 0}
            keys = [kind(api_key=key, min_version=0, max_version=most) for key, most in newest.items()]
            return framed(asked, ApiVersionsResponse(error_code=0, api_keys=keys).encode(version=0))
        if asked.key == LIST_OFFSETS:
            return framed(asked, self._offsets(asked))
        assert asked.key == FETCH
        return framed(asked, self._fetched(asked))

    def _offsets(self, asked: Asked) -> bytes:
        (topic,) = ListOffsetsRequest.decode(asked.body, version=asked.version).topics
        (wanted,) = topic.partitions
        offset = {-2: self.start, -1: self.end}.get(wanted.timestamp)
        offset = self.times(wanted.timestamp) if offset is None else offset
        told = ListOffsetsResponse.ListOffsetsTopicResponse
        partition = told.ListOffsetsPartitionResponse(
            partition_index=wanted.partition_index,
            error_code=0,
            timestamp=-1,
            offset=offset,
            old_style_offsets=[] if offset < 0 else [offset],
        )
        topics = [told(name=topic.name, partitions=[partition])]
        body: bytes = ListOffsetsResponse(throttle_time_ms=0, topics=topics).encode(version=asked.version)
        return body

    def _fetched(self, asked: Asked) -> bytes:
        request = FetchRequest.decode(asked.body, version=asked.version)
        (topic,) = request.topics
        (wanted,) = topic.partitions
        self.fetches.append((asked.version, wanted.fetch_offset, wanted.partition_max_bytes))
        is_committed = asked.version >= 4 and request.isolation_level == 1
        stop = self.stable if is_committed and self.stable is not None else self.end
        data = b""
        for base, last, entry in self.entries:
            if last < wanted.fetch_offset or base >= stop:
                continue
            if asked.version < 3:  # cut off wherever the bytes end
                data = (data + entry)[: wanted.partition_max_bytes]
                continue
            if data and len(data) + len(entry) > wanted.partition_max_bytes:
                break
            data += entry
        told = FetchResponse.FetchableTopicResponse
        kind = told.PartitionData
        partition = kind(
            partition_index=wanted.partition,
            error_code=0 if self.start <= wanted.fetch_offset <= self.end else 1,
            high_watermark=self.end,
            last_stable_offset=self.end if self.stable is None else self.stable,
            log_start_offset=self.start,
            aborted_transactions=[
                kind.AbortedTransaction(producer_id=producer, first_offset=first)
                for first, producer in (self.aborted if is_committed else ())
            ],
            records=data,
        )
        answer = FetchResponse(
            throttle_time_ms=0,
            error_code=0,
            session_id=0,
            responses=[told(topic=topic.topic, partitions=[partition])],
        )
        body: bytes = answer.encode(version=asked.version)
        return body


def leader(port: int, version: int = 5) -> Broker:
    endpoint = (f"PLAINTEXT://127.0.0.1:{port}",) if version > 1 else ()
    return Broker(1, Layout.V08, "127.0.0.1", port, version, endpoint)


def everything(*_: object) -> bool:
    return True


def look(
    partition: Callable[[Asked], bytes | None],
    place: Place,
    *,
    bounds: Bounds = BOUNDS,
    passes: Callable[..., bool] = everything,
    keeps: bool = True,
    registration: int = 5,
) -> Look | Reason:
    """Look at a partition, whose broker lives as long as that takes."""
    with Listening(partition) as server:
        brokers = {1: leader(server.port, registration)}
        return asking.ask(brokers, {"orders": {0: 1}}.get, PLACE, place, bounds, passes=passes, keeps=keeps)


def seen(partition: Callable[[Asked], bytes | None], place: Place, **options: Any) -> Look:
    found = look(partition, place, **options)
    assert isinstance(found, Look), found
    return found


def broken(data: bytes, number: int) -> bytes:
    """The bytes with one bit turned."""
    at, bit = number // 8 % len(data), number % 8
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def with_length(data: bytes, length: int) -> bytes:
    """An entry that says another length of itself."""
    return data[:8] + struct.pack("!i", length) + data[12:]
