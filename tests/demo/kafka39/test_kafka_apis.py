"""What a simulated broker answers, as the dashboard's own questions and decoder understand it."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.narrowing import known
from zkdash.broker import questions
from zkdash.broker.questions import EARLIEST, LATEST, Question, Told
from zkdash.broker.samples import Commit
from zkdash.demo.consumers.configs import GroupConfig
from zkdash.demo.kafka39.consumer_progress import ConsumerProgress
from zkdash.demo.kafka39.controller.controller_context import VersionedState
from zkdash.demo.kafka39.definitions import NewTopic
from zkdash.demo.kafka39.kafka_apis import KafkaApis
from zkdash.demo.kafka39.logs import Logs
from zkdash.demo.kafka39.metadata_cache import MetadataCache
from zkdash.demo.kafka39.topic_partition import TopicPartition
from zkdash.demo.protocol.requests import RefusedRequestError
from zkdash.kafka.consumers import coordinators
from zkdash.kafka.consumers.coordinators import OFFSETS_TOPIC
from zkdash.kafka.values import PartitionState

NOW = 50.0
WALL_MS = 1_795_000_000_000
TOPIC = NewTopic("orders", 3, 2, {"retention.ms": "3600000"})
GROUP = GroupConfig("mirror", (1,), ("orders", "clïcks"), commits=False)
MINE, OTHERS, NOBODYS, UNKNOWN = ("orders", 0), ("orders", 1), ("orders", 2), ("orders", 7)

LOGS = Logs(1, lambda: NOW, [TOPIC])
PROGRESS = ConsumerProgress(LOGS, [GROUP], serves=lambda _topic, _partition: True, now=lambda: NOW)
METADATA = MetadataCache()


def _leads(leader: int) -> VersionedState:
    return VersionedState(PartitionState(leader=leader, leader_epoch=0, controller_epoch=1, isr=(1,)), 0)


COORDINATOR, OTHER = 1, 2
METADATA.update(
    {TopicPartition("orders", partition): _leads(leader) for partition, leader in ((0, 1), (1, 2), (2, -1))}
    | {
        TopicPartition(OFFSETS_TOPIC, partition): _leads(
            COORDINATOR if partition == coordinators.partition_of("mirror", 5) else OTHER
        )
        for partition in range(5)
    }
)
_read = PROGRESS.next_offset(GROUP)
COMMITTED = {
    ("orders", 0): _read(("orders", "0"), None),
    ("orders", 2): _read(("orders", "2"), None),
    ("clïcks", 1): _read(("clïcks", "1"), None),
}


def broker(number: int) -> KafkaApis:
    return KafkaApis(number, metadata=METADATA, logs=LOGS, progress=PROGRESS, wall_ms=lambda: WALL_MS)


def encoded(question: Question) -> bytes:
    question.request.API_VERSION = question.version
    question.request.with_header(correlation_id=41, client_id="zkdash")
    frame: bytes = question.request.encode(header=True, framed=True)
    return frame[4:]


def ask(number: int, question: Question) -> Any:
    """A broker's answer, decoded; it has the question's correlation id and fits into what is read."""
    answer = broker(number).answer(encoded(question))
    assert struct.unpack_from("!i", answer) == (41,)
    assert len(answer) <= question.max_bytes
    with pytest.raises((struct.error, ValueError, IndexError)):  # no byte is one too many
        question.answer.decode(answer[:-1], version=question.version, header=True)
    return question.answer.decode(answer, version=question.version, header=True)


def test_the_leader_tells_both_ends_of_a_log() -> None:
    ends = questions.read_log_offsets(ask(1, questions.log_offsets([MINE], LATEST)), [MINE])
    starts = questions.read_log_offsets(ask(1, questions.log_offsets([MINE], EARLIEST)), [MINE])
    assert ends == {MINE: LOGS.end(*MINE)}
    assert starts == {MINE: LOGS.start(*MINE)}
    assert 0 < LOGS.start(*MINE) < LOGS.end(*MINE)


@pytest.mark.parametrize(
    ("ago_s", "expected"),
    [
        (600.0, LOGS.end(*MINE, ago_s=600.0)),
        (365 * 86_400.0, LOGS.start(*MINE)),
        (-1.0, None),
    ],
    ids=["then", "long before its start", "in the future"],
)
def test_the_leader_tells_where_a_log_stood_at_a_moment(ago_s: float, expected: int | None) -> None:
    asked = questions.log_offsets([MINE], WALL_MS - int(ago_s * 1000), 1)
    assert questions.read_offsets_at(ask(1, asked), [MINE], 1) == {MINE: expected}


def test_both_versions_tell_the_same_ends() -> None:
    for time, expected in ((LATEST, LOGS.end(*MINE)), (EARLIEST, LOGS.start(*MINE))):
        told = questions.read_offsets_at(
            ask(1, questions.log_offsets([MINE, OTHERS], time, 1)), [MINE, OTHERS], 1
        )
        assert told == {MINE: expected, OTHERS: questions.words(6)}


def test_who_does_not_lead_says_so_and_what_nobody_knows_is_unknown() -> None:
    asked = [MINE, OTHERS, NOBODYS, UNKNOWN, ("nothing", 0)]
    told = questions.read_log_offsets(ask(1, questions.log_offsets(asked, LATEST)), asked)
    assert told == {
        MINE: LOGS.end(*MINE),
        OTHERS: questions.words(6),
        NOBODYS: questions.words(6),
        UNKNOWN: questions.words(3),
        ("nothing", 0): questions.words(3),
    }


def test_the_coordinator_tells_all_commits_of_a_group() -> None:
    told = questions.read_commits(ask(COORDINATOR, questions.commits("mirror", None)), None)
    assert told == Told({place: Commit(known(offset), "") for place, offset in COMMITTED.items()}, {})


def test_the_coordinator_tells_the_commits_of_named_partitions() -> None:
    asked = [("orders", 0), ("orders", 1), ("clïcks", 1)]
    told = questions.read_commits(ask(COORDINATOR, questions.commits("mirror", asked)), asked)
    assert told == Told({p: Commit(known(COMMITTED[p]), "") for p in (("orders", 0), ("clïcks", 1))}, {})


def test_a_group_without_commits_in_kafka_has_none() -> None:
    other = next(
        f"g{n}"
        for n in range(100)
        if METADATA.leader(OFFSETS_TOPIC, coordinators.partition_of(f"g{n}", 5)) == COORDINATOR
    )
    assert questions.read_commits(ask(COORDINATOR, questions.commits(other, None)), None) == Told({}, {})


def test_who_does_not_coordinate_a_group_tells_nothing_of_it() -> None:
    told = questions.read_commits(ask(OTHER, questions.commits("mirror", None)), None)
    assert told == questions.words(16)
    told = questions.read_commits(ask(OTHER, questions.commits("mirror", [MINE])), [MINE])
    assert told == "its answer leaves this partition out"


def test_a_coordinator_lists_its_groups_and_others_do_not() -> None:
    assert questions.read_groups(ask(COORDINATOR, questions.groups())) == frozenset({"mirror"})
    assert questions.read_groups(ask(OTHER, questions.groups())) == frozenset()


def test_where_no_controller_decided_anything_yet_nothing_is_known() -> None:
    unaware = KafkaApis(1, metadata=MetadataCache(), logs=LOGS, progress=PROGRESS, wall_ms=lambda: WALL_MS)
    question = questions.groups()
    decoded = question.answer.decode(unaware.answer(encoded(question)), version=0, header=True)
    assert questions.read_groups(decoded) == frozenset()


QUESTIONS = {
    "log offsets": questions.log_offsets([MINE, OTHERS], LATEST),
    "offsets at a time": questions.log_offsets([MINE, OTHERS], WALL_MS, 1),
    "all commits": questions.commits("mirror", None),
    "commits": questions.commits("mirror", [MINE]),
    "groups": questions.groups(),
    "sizes": questions.log_dirs([MINE, OTHERS]),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_request_that_is_cut_short_or_too_long_is_refused(name: str) -> None:
    whole = encoded(QUESTIONS[name])
    broker(1).answer(whole)
    for length in range(len(whole)):
        with pytest.raises(RefusedRequestError):
            broker(1).answer(whole[:length])
    with pytest.raises(RefusedRequestError, match="malformed"):
        broker(1).answer(whole + b"\0")


@pytest.mark.parametrize(
    ("key", "version"), [(2, 2), (9, 0), (9, 3), (16, 1), (3, 0), (10, 0), (18, 0), (-1, 0)]
)
def test_any_other_api_or_version_is_refused(key: int, version: int) -> None:
    request = struct.pack("!hhih", key, version, 1, -1)
    with pytest.raises(RefusedRequestError, match=f"version {version} of API {key} is not answered"):
        broker(1).answer(request)


def header(key: int, version: int) -> bytes:
    return struct.pack("!hhih", key, version, 1, -1)


@pytest.mark.parametrize(
    "request_",
    [
        header(2, 0) + struct.pack("!iih1sIiqi", -1, 1, 1, b"a", 1, 0, 1_600_000_000_000, 1),
        header(2, 1) + struct.pack("!iih1siiq", -1, 1, 1, b"a", 1, 0, -3),
        header(2, 0) + struct.pack("!ii", -1, 1 << 30),
        header(2, 0) + struct.pack("!ii", -1, -1),
        header(2, 0) + struct.pack("!iih1si", -1, 1, 1, b"\xff", 0),
        header(2, 0) + struct.pack("!iihi", -1, 1, -1, 0),
        header(9, 1) + struct.pack("!h1si", 1, b"g", -1),
        header(9, 2) + struct.pack("!hi", -1, -1),
        struct.pack("!hhih", 16, 0, 1, -2),
    ],
    ids=[
        "time",
        "strange time",
        "huge array",
        "null array",
        "no UTF-8",
        "null topic",
        "all in v1",
        "null group",
        "client",
    ],
)
def test_nonsense_is_refused(request_: bytes) -> None:
    with pytest.raises(RefusedRequestError):
        broker(1).answer(request_)


@given(
    key=st.sampled_from([(2, 0), (2, 1), (9, 1), (9, 2), (16, 0)]),
    body=st.binary(max_size=100),
)
def test_any_bytes_are_answered_or_refused(key: tuple[int, int], body: bytes) -> None:
    try:
        answer = broker(1).answer(header(*key) + body)
    except RefusedRequestError:
        return
    assert answer[:4] == struct.pack("!i", 1)
