"""Whom the configuration and /zookeeper/config name together."""

from __future__ import annotations

import pytest

from zkdash.formats.ensemble.values import Member
from zkdash.zk.ensemble.targets import Target, targets_of

THREE = (("zk1", 2181), ("zk2", 2181), ("zk3", 2181))


def member(
    number: int, host: str = "", port: int | None = None, client: str = "", *, votes: bool = True
) -> Member:
    return Member(number, host or f"zk{number}", votes, client, port)


def test_without_a_membership_the_address_is_all() -> None:
    assert targets_of(THREE, ()) == (tuple(Target(*one) for one in THREE), ())


def test_a_member_with_a_port_is_the_configured_server_there() -> None:
    members = (member(1, "10.0.0.1", 2181, "ZK1"), member(2, port=2181), member(3, port=2181, votes=False))
    targets, untold = targets_of(THREE, members)
    assert [(one.host, one.myid, one.is_voter) for one in targets] == [
        ("zk1", 1, True),
        ("zk2", 2, True),
        ("zk3", 3, False),
    ]
    assert untold == ()


def test_a_member_with_a_port_that_is_not_configured_is_asked_too() -> None:
    targets, untold = targets_of(THREE[:1], (member(1, port=2181), member(2, port=2182)))
    assert targets[1:] == (Target("zk2", 2182, 2, True, is_configured=False),)
    assert untold == ()


def test_a_member_of_a_static_configuration_is_the_configured_server_with_its_host() -> None:
    targets, untold = targets_of(THREE, (member(3), member(2), member(1)))
    assert [one.myid for one in targets] == [1, 2, 3]
    assert untold == ()


def test_of_several_members_on_one_host_it_is_not_said_which_is_which() -> None:
    servers = (("h", 2181), ("h", 2182), ("h", 2183))
    targets, untold = targets_of(servers, tuple(member(one, "h") for one in (1, 2, 3)))
    assert [(one.myid, one.is_voter) for one in targets] == [(None, True)] * 3
    assert untold == ()
    mixed = (member(1, "h"), member(2, "h"), member(3, "h", votes=False))
    assert [one.is_voter for one in targets_of(servers, mixed)[0]] == [None] * 3


def test_a_member_that_nothing_tells_the_port_of_is_not_asked() -> None:
    targets, untold = targets_of(THREE[:1], (member(1), member(2), member(3)))
    assert targets == (Target("zk1", 2181, 1, True),)
    assert untold == (member(2), member(3))


def test_members_under_other_names_may_be_the_configured_ones() -> None:
    """As many strangers as members without a port: listing these beside those would count them twice."""
    targets, untold = targets_of(THREE, tuple(member(one, f"10.0.0.{one}") for one in (1, 2, 3)))
    assert [one.is_voter for one in targets] == [None] * 3
    assert untold == ()


@pytest.mark.parametrize("twice", [(("zk1", 2181), ("zk1", 2181))])
def test_a_server_that_is_named_twice_is_asked_once(twice: tuple[tuple[str, int], ...]) -> None:
    assert targets_of(twice, ())[0] == (Target("zk1", 2181),)
