"""A server on 127.0.0.1 that takes Kafka's requests and answers as a test wants: well, badly or never."""

from __future__ import annotations

import socketserver
import struct
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, Self

from kafka.protocol.consumer import ListOffsetsRequest, ListOffsetsResponse

LIST_OFFSETS = 2
_HEADER = struct.Struct("!hhih")


class Asked(NamedTuple):
    """A request: its API key and version, its correlation id, its body, and how long it was in all."""

    key: int
    version: int
    correlation: int
    body: bytes
    size: int


# The whole frame to send, b"" to close the connection instead, None to say nothing at all.
Behaviour = Callable[[Asked], bytes | None]


def framed(asked: Asked, body: bytes) -> bytes:
    return struct.pack("!ii", len(body) + 4, asked.correlation) + body


def ends(end: Callable[[int], int]) -> Behaviour:
    """Answer ListOffsets version 0 as a leader does: `end` gives a partition id's end, 0 is its start."""

    def answer(asked: Asked) -> bytes:
        assert (asked.key, asked.version) == (LIST_OFFSETS, 0)
        request = ListOffsetsRequest.decode(asked.body, version=0)
        topic_of = ListOffsetsResponse.ListOffsetsTopicResponse
        partition_of = topic_of.ListOffsetsPartitionResponse
        topics = [
            topic_of(
                name=topic.name,
                partitions=[
                    partition_of(
                        partition_index=p.partition_index,
                        error_code=0,
                        old_style_offsets=[0 if p.timestamp == -2 else end(p.partition_index)],
                    )
                    for p in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        body: bytes = ListOffsetsResponse(topics=topics).encode(version=0)
        return framed(asked, body)

    return answer


class Listening(socketserver.ThreadingTCPServer):
    """The server; `requests` holds what it was asked and `connections` counts who came."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self, behaviour: Behaviour, *, port: int = 0, closes: bool = False) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.behaviour = behaviour
        self.closes = closes
        self.port: int = self.server_address[1]
        self.requests: list[Asked] = []
        self.connections = 0
        self.closing = threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()


class _Handler(socketserver.StreamRequestHandler):
    server: Listening

    def handle(self) -> None:
        self.server.connections += 1
        while length := self.rfile.read(4):
            frame = self.rfile.read(*struct.unpack("!i", length))
            key, version, correlation, client = _HEADER.unpack_from(frame)
            asked = Asked(key, version, correlation, frame[_HEADER.size + client :], len(frame) + 4)
            self.server.requests.append(asked)
            answer = self.server.behaviour(asked)
            if answer is None:
                self.server.closing.wait(30)
            if not answer:
                return
            self.wfile.write(answer)
            if self.server.closes:
                return
