from __future__ import annotations

import pytest

from zkdash.kafka.layouts.cluster import parse_cluster_id
from zkdash.kafka.layouts.controller import parse_controller, parse_controller_epoch
from zkdash.kafka.values import ClusterId, Controller, Unparsable


@pytest.mark.parametrize(
    ("data", "controller"),
    [
        (b"3", Controller(3, 0)),
        (b'{"version":1,"brokerid":0,"timestamp":"1525741822769"}', Controller(0, 1, 1525741822769)),
        (
            b'{"version":2,"brokerid":1,"timestamp":"1795261424209","kraftControllerEpoch":-1}',
            Controller(1, 2, 1795261424209, -1),
        ),
        (b'{"version":2,"brokerid":3000,"kraftControllerEpoch":5}', Controller(3000, 2, None, 5)),
    ],
    ids=["0.8.0-beta1", "v1", "v2", "KRaft"],
)
def test_each_version_of_controller_is_read(data: bytes, controller: Controller) -> None:
    assert parse_controller(data) == (controller, ())


def test_a_controller_without_a_broker_is_unparsable() -> None:
    assert parse_controller(b'{"version":1}')[0] == Unparsable('"brokerid" is missing')


@pytest.mark.parametrize(("data", "epoch"), [(b"1", 1), (b"0", 0), (b"2147483647", 2**31 - 1)])
def test_a_controller_epoch_is_read(data: bytes, epoch: int) -> None:
    assert parse_controller_epoch(data) == (epoch, ())


def test_an_epoch_beyond_an_int_is_read_and_said() -> None:
    assert parse_controller_epoch(b"2147483648") == (
        2147483648,
        ("a controller epoch is 0 to 2147483647, not 2147483648",),
    )


def test_a_cluster_id_is_read_though_its_version_is_text() -> None:
    assert parse_cluster_id(b'{"version":"1","id":"iAZYM0SaQ-elhe1rT4ifIg"}') == (
        ClusterId("iAZYM0SaQ-elhe1rT4ifIg"),
        (),
    )
    assert parse_cluster_id(b'{"version":1,"id":"x"}') == (ClusterId("x"), ())


def test_a_cluster_id_of_a_version_to_come_is_read_and_said() -> None:
    assert parse_cluster_id(b'{"version":"2","id":"x"}') == (
        ClusterId("x"),
        ('version "2" is not known (1 is)',),
    )
    assert parse_cluster_id(b'{"version":[],"id":"x"}') == (
        ClusterId("x"),
        ('"version" holds a list where a number belongs',),
    )
