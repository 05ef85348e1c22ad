"""What is asked of Kafka, as the bytes that its own readers expect, and in portions that fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.kafka import notifications, requests
from zkdash.kafka.assignment import pasted_plans
from zkdash.kafka.consumers import exported_offsets
from zkdash.kafka.layouts import admin, topics
from zkdash.kafka.notifications import Form
from zkdash.kafka.topics import names as topic_names
from zkdash.kafka.topics import options as topic_options
from zkdash.kafka.values import Assignment, Election, Move, Reassignment

MOVES = (Move("t", 0, (1, 2)), Move("é.x", 7, (3,)))


def test_requests_are_read_back_as_they_were_meant() -> None:
    reassignment, reasons = admin.parse_reassignment(requests.reassignment(MOVES))
    assert (reassignment, reasons) == (Reassignment(MOVES), ())
    assert admin.parse_election(requests.election([("t", 1)]))[0] == Election((("t", 1),))
    assert requests.config({"a": "b"}) == b'{"version":1,"config":{"a":"b"}}'


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_new_topic_is_read_back_without_a_reason_and_has_no_topic_id(version: int) -> None:
    data = requests.topic({1: (2, 1), 0: (1, 2)}, version)
    assert topics.parse_assignment(data) == (Assignment(version, {0: (1, 2), 1: (2, 1)}), ())
    assert (b"adding_replicas" in data) is (version > 1)
    assert b"topic_id" not in data


@pytest.mark.parametrize(
    ("form", "data"),
    [
        (Form.NAME, b'"t"'),
        (Form.TYPE, b'{"version":1,"entity_type":"topics","entity_name":"t"}'),
        (Form.PATH, b'{"version":2,"entity_path":"topics/t"}'),
    ],
)
def test_a_notification_is_written_as_each_release_does(form: Form, data: bytes) -> None:
    assert notifications.of_topic("t", form) == data


@given(
    st.lists(st.tuples(st.sampled_from(["t", "a-longer-name", "é"]), st.integers(0, 99)), max_size=60),
    st.integers(1, 20),
    st.integers(100, 2000),
    st.integers(1, 3),
)
def test_batches_hold_everything_once_and_no_more_than_they_may(
    entries: list[tuple[str, int]], most: int, largest: int, names: int
) -> None:
    found = list(requests.batches(entries, most, bytes_each=50, largest=largest, topics=names))
    assert [entry for batch in found for entry in entries[batch.start : batch.stop]] == entries
    for batch in found:
        part = entries[batch.start : batch.stop]
        assert 1 <= len(part) <= most
        assert len({name for name, _ in part}) <= names
        assert len(part) == 1 or len(requests.election(part)) <= largest + 40


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"{", "it is not JSON"),
        (b"{}", '"partitions" is missing'),
        (b'{"partitions":7}', '"partitions" holds a number where a list belongs'),
        (b'{"partitions":[]}', "empty, which jams every controller"),
        (b'{"version":2,"partitions":[]}', "its version 2 is not known"),
        (b'{"partitions":[7]}', "Entry 0 of the plan: it is no object"),
        (b'{"partitions":[{"topic":1,"partition":0,"replicas":[1]}]}', '"topic" holds a number where text'),
        (b'{"partitions":[{"topic":"t","partition":"0","replicas":[1]}]}', '"partition" holds text'),
        (b'{"partitions":[{"topic":"t","partition":0}]}', '"replicas" is missing'),
        (b'{"partitions":[{"topic":"t","partition":0,"replicas":[]}]}', "empty list"),
        (b'{"partitions":[{"topic":"t","partition":0,"replicas":["1"]}]}', "something else than broker ids"),
        (b'{"partitions":[{"topic":"t","partition":0,"replicas":[-1]}]}', "something else than broker ids"),
        (b'{"partitions":[{"topic":"t","partition":0,"replicas":[true]}]}', "something else than broker ids"),
        (b'{"partitions":[{"topic":"t","partition":0,"replicas":[1,1]}]}', "names a broker twice"),
        (
            requests.reassignment([Move("t", 0, (1,)), Move("t", 0, (2,))]),
            "Entry 1 of the plan: t-0 is named twice",
        ),
        (
            b'{"partitions":[{"topic":"t","partition":0,"replicas":[1],"log_dirs":["/data"]}]}',
            "only the brokers' own API",
        ),
        (b" " * 5_000_001, "5000001 bytes; 5000000 are the most"),
    ],
)
def test_a_pasted_plan_that_cannot_be_carried_out_is_refused_in_words(text: bytes, sentence: str) -> None:
    moves, reasons = pasted_plans.read(text)
    assert moves == ()
    assert sentence in " ".join(reasons)


def test_a_pasted_plan_of_kafkas_tool_is_read() -> None:
    text = (
        b'{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2],"log_dirs":["any","any"]}]}'
    )
    assert pasted_plans.read(text) == ((Move("t", 0, (1, 2)),), ())


def test_exported_offsets_are_read_back() -> None:
    offsets = {("g", "t", "0"): 5, ("g-2", "t_x", "1-0"): 0}
    assert exported_offsets.read(exported_offsets.write(offsets.items())) == (offsets, ())


@pytest.mark.parametrize(
    "line",
    [
        "x",
        "/consumers/g/offsets/t/0",
        "/consumers/g/offsets/t/0:-1",
        "/consumers/g/offsets/t/a:1",
        "/consumers/g/owners/t/0:1",
        "/consumers/g/offsets/t/0:9999999999999999999",
    ],
)
def test_a_line_that_is_no_exported_offset_is_named(line: str) -> None:
    offsets, reasons = exported_offsets.read(f"/consumers/g/offsets/t/0:1\n\n{line}\n")
    assert (len(offsets), len(reasons)) == (1, 1)
    assert "Line 3" in reasons[0]


def test_an_offset_that_is_exported_twice_is_named() -> None:
    _, reasons = exported_offsets.read("/consumers/g/offsets/t/0:1\n/consumers/g/offsets/t/0:2\n")
    assert reasons == ("Line 2 names t 0 a second time.",)


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "é", "x" * 250])
def test_a_name_that_kafka_refuses_is_refused(name: str) -> None:
    assert topic_names.fault(name)


@pytest.mark.parametrize("name", ["t", "a.b_c-D9", "...", "x" * 249])
def test_a_name_that_kafka_takes_is_taken(name: str) -> None:
    assert topic_names.fault(name) == ""


def test_names_collide_where_dots_and_underscores_are_the_same() -> None:
    assert topic_names.colliding("a.b", ["x", "a.b", "a_b"]) == "a_b"
    assert topic_names.colliding("a.b", ["a.b", "ab"]) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retention.ms", "-1"),
        ("cleanup.policy", "compact,delete"),
        ("min.cleanable.dirty.ratio", "0.5"),
        ("preallocate", "TRUE"),
        ("leader.replication.throttled.replicas", "0:1,1:2"),
        ("follower.replication.throttled.replicas", "*"),
        ("message.format.version", "0.10.2-IV0"),
    ],
)
def test_an_options_value_is_taken(name: str, value: str) -> None:
    assert topic_options.fault(name, value) == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retention.ms", "a day"),
        ("cleanup.policy", "remove"),
        ("min.insync.replicas", "0"),
        ("min.cleanable.dirty.ratio", "1.5"),
        ("preallocate", "yes"),
        ("leader.replication.throttled.replicas", "0-1"),
        ("retention.hours", "1"),
    ],
)
def test_an_option_or_a_value_that_kafka_does_not_know_is_refused(name: str, value: str) -> None:
    assert name in topic_options.fault(name, value)
