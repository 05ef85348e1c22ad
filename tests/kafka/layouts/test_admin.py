from __future__ import annotations

import pytest

from zkdash.kafka.layouts.admin import parse_election, parse_reassignment
from zkdash.kafka.layouts.config import parse_topic_config
from zkdash.kafka.values import Election, Move, Reassignment, TopicConfig, Unparsable


@pytest.mark.parametrize(
    ("data", "moves"),
    [
        (
            (
                b'{"version":1,"partitions":[{"topic":"orders","partition":2,"replicas":[2,1]},'
                b'{"topic":"t","partition":0,"replicas":[],"log_dirs":["any"]}]}'
            ),
            (Move("orders", 2, (2, 1)), Move("t", 0, ())),
        ),
        (b'{"partitions":[{"topic":"t","partition":0,"replicas":[1]}]}', (Move("t", 0, (1,)),)),
        (b'{"partitions":[]}', ()),
    ],
    ids=["of a tool", "without version", "empty"],
)
def test_a_reassignment_is_read(data: bytes, moves: tuple[Move, ...]) -> None:
    assert parse_reassignment(data) == (Reassignment(moves), ())


def test_a_wrong_move_is_left_out_and_said() -> None:
    data = b'{"partitions":[7,{"topic":"t","partition":0,"replicas":[1]},{"topic":"t","replicas":[1]}]}'
    assert parse_reassignment(data) == (
        Reassignment((Move("t", 0, (1,)),)),
        ("entry 0: is a number where an object belongs", 'entry 2: "partition" is missing'),
    )


def test_a_move_without_replicas_is_said() -> None:
    assert parse_reassignment(b'{"partitions":[{"topic":"t","partition":0}]}') == (
        Reassignment(()),
        ('entry 0: "replicas" is missing',),
    )


def test_a_reassignment_that_is_no_json_is_unparsable() -> None:
    reason = "not JSON: object keys must be strings at byte 1"
    assert parse_reassignment(b"{nope") == (Unparsable(reason), (reason,))


def test_an_election_is_read() -> None:
    data = b'{"version":1,"partitions":[{"topic":"t","partition":0},{"topic":"u","partition":1}]}'
    assert parse_election(data) == (Election((("t", 0), ("u", 1))), ())


def test_a_wrong_entry_of_an_election_is_left_out_and_said() -> None:
    assert parse_election(b'{"version":2,"partitions":[{"topic":"t","partition":"0"}]}') == (
        Election(()),
        ("version 2 is not known (1 is)", 'entry 0: "partition" holds text where a number belongs'),
    )


def test_a_topics_overrides_are_read() -> None:
    data = b'{"version":1,"config":{"cleanup.policy":"compact","segment.bytes":"104857600"}}'
    assert parse_topic_config(data) == (
        TopicConfig({"cleanup.policy": "compact", "segment.bytes": "104857600"}),
        (),
    )


@pytest.mark.parametrize("data", [None, b"", b'{"version":1,"config":{}}'])
def test_a_topic_may_override_nothing(data: bytes | None) -> None:
    assert parse_topic_config(data) == (TopicConfig({}), ())
