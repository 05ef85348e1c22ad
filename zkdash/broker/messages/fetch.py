"""The question Fetch, of one partition, in the version of the broker's release.

Version 0 for brokers to 0.9, 2 for 0.10 (message format v1), 4 for 0.11 to 2.0 (v2, and which transactions
were aborted), 10 from 2.1 on (zstd). Of a newer format than its version a broker would convert all that it
sends. No session is begun (KIP-227).
Source: kafka.server.KafkaApis.handleFetchRequest; KIP-31, KIP-98, KIP-110.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from zkdash.broker import questions
from zkdash.broker.link import Link
from zkdash.broker.questions import Partition, Question
from zkdash.kafka.values import Broker

FETCH, LIST_OFFSETS = 1, 2  # API keys
READ_UNCOMMITTED, READ_COMMITTED = 0, 1
_VERSIONS: Final = (10, 4, 2)
_OLDEST: Final = 0
# Brokers that register as version 3 came with 0.10.0, as did ApiVersions.
_TELLS_VERSIONS: Final = 3

LARGEST: Final = 16 << 20  # bytes of the largest batch that is read
_AROUND: Final = 1 << 20  # bytes beside messages: aborted transactions, 16 each
_OUT_OF_RANGE: Final = 1
_WORDS: Final = {
    _OUT_OF_RANGE: "it no longer has this offset",
    2: "it finds a message there damaged (CORRUPT_MESSAGE)",
    76: "it does not send zstd to this version of the question",
}


class Versions(NamedTuple):
    """Which versions of Fetch and of ListOffsets a broker is asked in."""

    fetch: int
    list_offsets: int


class Fetched(NamedTuple):
    """An answer. `aborted` are pairs of a first offset and a producer id; `stable` is None before 0.11."""

    stable: int | None
    aborted: tuple[tuple[int, int], ...]
    records: bytes


async def versions(link: Link, broker: Broker) -> Versions:
    """Those that the broker is asked in. Raises TroubleError."""
    if (broker.version or 0) < _TELLS_VERSIONS:
        return Versions(_OLDEST, 0)
    newest = questions.read_versions(await link.ask(questions.versions()))
    fetch = next((version for version in _VERSIONS if version <= newest.get(FETCH, _OLDEST)), _OLDEST)
    return Versions(fetch, min(newest.get(LIST_OFFSETS, 0), 1))


def question(partition: Partition, offset: int, version: int, isolation: int, most: int) -> Question:
    """Ask the leader for messages from an offset on, some `most` bytes of them."""
    schemas = questions.client_classes()
    topic, number = partition
    of_topic = schemas.FetchRequest.FetchTopic
    wanted = of_topic.FetchPartition(
        partition=number,
        current_leader_epoch=-1,
        fetch_offset=offset,
        log_start_offset=-1,
        partition_max_bytes=most,
    )
    request = schemas.FetchRequest(
        replica_id=-1,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=most,
        isolation_level=isolation,
        session_id=0,
        session_epoch=-1,
        topics=[of_topic(topic=topic, partitions=[wanted])],
        forgotten_topics_data=[],
    )
    return Question(request, version, schemas.FetchResponse, max(most, LARGEST) + _AROUND)


def read(answer: Any, partition: Partition) -> Fetched | str:
    """What was fetched, or why nothing: a clause whose subject is the broker."""
    if code := getattr(answer, "error_code", 0) or 0:
        return _words(code)
    for topic in answer.responses or ():
        for fetched in topic.partitions or ():
            if (topic.topic, fetched.partition_index) != partition:
                continue
            if fetched.error_code:
                return _words(fetched.error_code)
            stable = getattr(fetched, "last_stable_offset", None)
            aborted = getattr(fetched, "aborted_transactions", None) or ()
            return Fetched(
                None if stable is None or stable < 0 else stable,
                tuple(sorted((each.first_offset, each.producer_id) for each in aborted)),
                bytes(fetched.records or b""),
            )
    return "its answer leaves this partition out"


def _words(code: int) -> str:
    return _WORDS.get(code) or questions.words(code)
