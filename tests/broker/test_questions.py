"""What the brokers' answers mean; what real brokers answer is in tests/kafka_live/test_offsets.py."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.consumer import ListOffsetsResponse, OffsetFetchResponse

from zkdash.broker import questions
from zkdash.broker.questions import Told
from zkdash.broker.samples import Commit

A, B = ("orders", 0), ("orders", 1)
LEFT_OUT = "its answer leaves this partition out"


def fetched(*partitions: tuple[int, int, int], code: int = 0) -> Any:
    """An OffsetFetch answer about `orders`: (partition, offset, error code) each."""
    topic = OffsetFetchResponse.OffsetFetchResponseTopic
    told = [
        topic.OffsetFetchResponsePartition(
            partition_index=n, committed_offset=offset, metadata="m", error_code=error
        )
        for n, offset, error in partitions
    ]
    topics = [topic(name="orders", partitions=told)] if told else []
    return OffsetFetchResponse(version=2, topics=topics, error_code=code)


def test_commits_are_read_with_their_metadata() -> None:
    told = questions.read_commits(fetched((0, 7, 0), (1, 8, 0)), [A, B])
    assert told == Told({A: Commit(7, "m"), B: Commit(8, "m")}, {})


@pytest.mark.parametrize("error", [0, 3])
def test_no_commit_is_absent_and_not_zero(error: int) -> None:
    assert questions.read_commits(fetched((0, -1, error)), [A]) == Told({}, {})


def test_a_partition_that_is_refused_says_why() -> None:
    told = questions.read_commits(fetched((0, 7, 0), (1, -1, 29)), [A, B])
    assert told == Told({A: Commit(7, "m")}, {B: "it does not let us read this topic"})


def test_the_same_refusal_of_everything_is_the_groups() -> None:
    answer = fetched((0, -1, 16), (1, -1, 16))
    assert questions.read_commits(answer, [A, B]) == "it is not the group's coordinator"
    assert questions.read_commits(fetched(code=14), None) == "it still loads the group's commits"


def test_an_answer_that_leaves_out_what_was_asked_is_no_answer() -> None:
    assert questions.read_commits(fetched(), [A, B]) == LEFT_OUT
    assert questions.read_commits(fetched((0, 7, 0)), [A, B]) == Told({A: Commit(7, "m")}, {B: LEFT_OUT})


def test_a_group_without_a_commit_has_none_where_all_were_asked_for() -> None:
    assert questions.read_commits(fetched(), None) == Told({}, {})


def test_an_answer_about_what_was_not_asked_is_not_taken() -> None:
    assert questions.read_commits(fetched((0, 7, 0), (1, 8, 0)), [A]) == Told({A: Commit(7, "m")}, {})


def test_an_unknown_error_code_is_told_as_its_number() -> None:
    assert questions.words(87).startswith("it answered error 87 (")
    assert questions.words(-32_000).startswith("it answered error -32000 (")


@given(answer=st.binary(max_size=200))
def test_any_bytes_are_an_answer_or_one_of_the_decoders_errors(answer: bytes) -> None:
    for kind, version in ((ListOffsetsResponse, 0), (OffsetFetchResponse, 1), (OffsetFetchResponse, 2)):
        try:
            found = kind.decode(b"\0\0\0\7" + answer, version=version, header=True)
        except (struct.error, ValueError, TypeError, IndexError):
            continue
        if kind is ListOffsetsResponse:
            assert set(questions.read_log_offsets(found, [A])) == {A}
        else:
            assert isinstance(questions.read_commits(found, [A]), Told | str)
