"""Offsets asked for once; what real brokers answer is in tests/kafka_live/test_offsets_at.py."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import pytest
from kafka.protocol.consumer import ListOffsetsRequest, ListOffsetsResponse

from tests.broker.listening import Asked, Behaviour, Listening, ends, framed
from zkdash.broker import offsets_at
from zkdash.broker.offsets_at import EARLIEST, LATEST, Absent, At, Found, Reason
from zkdash.kafka.values import Broker, Layout

T = 1_700_000_000_000
LEADERS: Mapping[str, Mapping[int, int | None]] = {"orders": {0: 1, 1: 2, 2: 1, 3: -1, 4: None, 5: 9}}


def broker(number: int, port: int, version: int = 5) -> Broker:
    endpoint = (f"PLAINTEXT://127.0.0.1:{port}",) if version > 1 else ()
    return Broker(number, Layout.V08, "127.0.0.1", port, version, endpoint)


def at_times(tell: Callable[[int, int], tuple[int, int]]) -> Behaviour:
    """Answer ListOffsets version 1: `tell` gives an error code and the offset of a partition and a time."""

    def answer(asked: Asked) -> bytes:
        assert (asked.key, asked.version) == (2, 1)
        topic_of = ListOffsetsResponse.ListOffsetsTopicResponse
        partition_of = topic_of.ListOffsetsPartitionResponse
        topics = []
        for topic in ListOffsetsRequest.decode(asked.body, version=1).topics:
            told = []
            for one in topic.partitions:
                error, offset = tell(one.partition_index, one.timestamp)
                told.append(
                    partition_of(
                        partition_index=one.partition_index, error_code=error, timestamp=-1, offset=offset
                    )
                )
            topics.append(topic_of(name=topic.name, partitions=told))
        body: bytes = ListOffsetsResponse(topics=topics).encode(version=1)
        return framed(asked, body)

    return answer


def ask(brokers: list[Broker], *numbers: int, at: int = T, limit_s: float = 5.0) -> dict[int, Found]:
    registered = {one.id: one for one in brokers}
    asked = [("orders", number) for number in numbers]
    found = offsets_at.ask(registered, LEADERS.get, asked, at, limit_s=limit_s)
    assert sorted(found) == sorted(asked)
    return {number: found["orders", number] for number in numbers}


def test_each_leader_is_asked_once_for_all_that_it_leads() -> None:
    with (
        Listening(at_times(lambda number, at: (0, number + at))) as first,
        Listening(at_times(lambda _number, _at: (0, 7))) as second,
    ):
        found = ask([broker(1, first.port), broker(2, second.port)], 0, 1, 2)
        assert found == {0: At(T), 1: At(7), 2: At(T + 2)}
        assert (len(first.requests), len(second.requests)) == (1, 1)


@pytest.mark.parametrize("at", [EARLIEST, LATEST])
@pytest.mark.parametrize("version", [1, 3, 4, 5])
def test_both_ends_are_exact_whatever_the_release(version: int, at: int) -> None:
    old, new = ends(lambda _: 70), at_times(lambda _number, at: (0, 0 if at == EARLIEST else 70))
    with Listening(new if version > 3 else old) as server:
        assert ask([broker(1, server.port, version)], 0, at=at) == {0: At(0 if at == EARLIEST else 70)}


def test_a_broker_that_knows_the_times_of_segments_only_is_told_apart() -> None:
    with Listening(ends(lambda _: 70)) as server:
        assert ask([broker(1, server.port, version=1)], 0) == {0: At(70, is_exact=False)}


def test_a_log_without_such_an_offset_is_no_zero_and_tells_the_nearest_end() -> None:
    with Listening(at_times(lambda _number, _at: (0, -1))) as server:
        assert ask([broker(1, server.port)], 0) == {
            0: Absent("the log holds no message as late as that", LATEST)
        }


def test_a_broker_that_refuses_a_partition_tells_why() -> None:
    with Listening(at_times(lambda number, _at: (6, -1) if number else (43, -1))) as server:
        assert ask([broker(1, server.port)], 0, 2) == {
            0: Reason("the topic's messages have no times (message.format.version before 0.10)"),
            2: Reason("it no longer leads this partition"),
        }


def test_partitions_without_a_registered_leader_are_not_asked_about() -> None:
    assert ask([], 0, 3, 4, 7) == {
        0: Reason("no leader: broker 1, its last, is not registered"),
        3: Reason("no leader"),
        4: Reason("no leader"),
        7: Reason("nothing is known of partition 7 of orders"),
    }
    assert offsets_at.ask({}, LEADERS.get, [("nope", 0)], T) == {
        ("nope", 0): Reason("there is no topic nope")
    }


def test_what_one_broker_does_not_tell_leaves_the_others_alone() -> None:
    with Listening(lambda _: None) as silent, Listening(at_times(lambda _number, _at: (0, 5))) as good:
        began = time.monotonic()
        found = ask([broker(1, silent.port), broker(2, good.port)], 0, 1, 2, limit_s=2.0)
        assert time.monotonic() - began < 60  # it is silent for ever
    assert found[1] == At(5)
    assert isinstance(found[0], Reason)
    assert found[0] == found[2]
    assert "within 2 s" in found[0].sentence


def test_a_broker_that_is_gone_is_named_with_its_address() -> None:
    with Listening(ends(lambda _: 70)) as server:
        gone = broker(1, server.port)
    found = ask([gone], 0)
    assert found == {0: Reason(f"cannot ask broker 1: connection refused at 127.0.0.1:{gone.port}")}


def test_many_partitions_are_asked_about_in_batches() -> None:
    leaders = {"wide": dict.fromkeys(range(2_500), 1)}
    with Listening(at_times(lambda number, _at: (0, number))) as server:
        asked = [("wide", number) for number in leaders["wide"]]
        found = offsets_at.ask({1: broker(1, server.port)}, leaders.get, asked, T)
        assert len(server.requests) == 3
    assert found == {("wide", number): At(number) for number in leaders["wide"]}


def test_kafka_0_7_is_not_asked() -> None:
    old = Broker(1, Layout.V07, "127.0.0.1", 9092)
    assert ask([old], 0) == {0: Reason("Kafka 0.7 is not asked: its protocol is not spoken here")}


def test_a_tls_only_broker_is_not_dialled() -> None:
    tls = Broker(1, Layout.V08, None, -1, 5, ("SSL://127.0.0.1:9093",))
    found = ask([tls], 0)
    assert found == {0: Reason("cannot ask broker 1: it offers only SSL (SSL://127.0.0.1:9093)")}
