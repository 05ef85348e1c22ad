from __future__ import annotations

import pytest

from zkdash.kafka.layouts.partitions import parse_state
from zkdash.kafka.values import PartitionState, Unparsable


@pytest.mark.parametrize(
    ("data", "state"),
    [
        (
            b'{ "controller_epoch":1, "isr":[ 3, 0, 1 ], "leader":3, "leader_epoch":0, "version":1 }',
            PartitionState(3, 0, 1, (3, 0, 1)),
        ),
        (
            b'{"controller_epoch":4,"leader":-1,"version":1,"leader_epoch":9,"isr":[]}',
            PartitionState(-1, 9, 4, ()),
        ),
        (
            b'{"controller_epoch":4,"leader":2,"version":1,"leader_epoch":9,"isr":[2],"leader_recovery_state":1}',
            PartitionState(2, 9, 4, (2,), 1),
        ),
    ],
    ids=["0.8.0", "offline", "3.2"],
)
def test_a_state_is_read(data: bytes, state: PartitionState) -> None:
    assert parse_state(data) == (state, ())


def test_identical_bytes_give_the_identical_state() -> None:
    data = b'{"controller_epoch":1,"leader":5,"version":1,"leader_epoch":77,"isr":[5,6]}'
    assert parse_state(data)[0] is parse_state(bytes(bytearray(data)))[0]


def test_equal_isrs_of_different_states_are_one_object() -> None:
    one, _ = parse_state(b'{"controller_epoch":1,"leader":5,"version":1,"leader_epoch":1,"isr":[5,6]}')
    two, _ = parse_state(b'{"controller_epoch":1,"leader":6,"version":2,"leader_epoch":2,"isr":[5,6]}')
    assert isinstance(one, PartitionState)
    assert isinstance(two, PartitionState)
    assert one.isr is two.isr


def test_every_missing_field_is_named() -> None:
    assert parse_state(b'{"version":1,"leader":1,"leader_epoch":null}') == (
        Unparsable('"leader_epoch" holds null; "controller_epoch" is missing; "isr" is missing'),
        ('"leader_epoch" holds null', '"controller_epoch" is missing', '"isr" is missing'),
    )


def test_a_huge_state_is_read_and_not_remembered() -> None:
    data = b'{"controller_epoch":1,"leader":5,"leader_epoch":1,"isr":[5],"x":"%b"}' % (b"x" * 1_000_000)
    one, two = parse_state(data)[0], parse_state(data)[0]
    assert one == two == PartitionState(5, 1, 1, (5,))
    assert one is not two
