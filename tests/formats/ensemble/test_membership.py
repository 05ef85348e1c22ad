"""/zookeeper/config and quotas as servers write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.formats.ensemble import membership, quotas
from zkdash.formats.ensemble.values import Member, Membership, Quota


def test_a_dynamic_configuration_tells_roles_and_where_clients_go() -> None:
    data = (
        b"server.2=zk2:2888:3888:participant;0.0.0.0:2181\n"
        b"server.1=10.0.0.1:2888:3888:participant;10.1.0.1:2181\n"
        b"server.3=[fd00::3]:2888:3888:observer;[::]:2182\n"
        b"server.4=zk4:2888:3888;2181\n"
        b"version=100000003"
    )
    assert membership.read(data) == Membership(
        (
            Member(1, "10.0.0.1", True, "10.1.0.1", 2181),
            Member(2, "zk2", True, "", 2181),
            Member(3, "fd00::3", False, "", 2182),
            Member(4, "zk4", True, "", 2181),
        ),
        0x100000003,
    )


def test_a_static_configuration_tells_no_port_for_clients() -> None:
    data = b"server.1=zk1:2888:3888:participant\nserver.2=zk2:2888:3888:participant\nversion=0"
    assert membership.read(data) == Membership((Member(1, "zk1", True), Member(2, "zk2", True)), 0)


def test_several_addresses_of_a_server_are_one_member() -> None:
    found = membership.read(b"server.1=a:2888:3888|b:2889:3889:participant;2181\n")
    assert found == Membership((Member(1, "a", True, "", 2181),))


def test_weighed_votes_are_not_counted_by_heads() -> None:
    found = membership.read(b"server.1=a:1:2:participant;3\ngroup.1=1:2\nweight.1=0\n")
    assert found is not None
    assert found.has_groups


@pytest.mark.parametrize("data", [b"", b"version=0", b"standaloneEnabled=true\n", b"\xff\xfe"])
def test_a_standalone_server_has_no_membership(data: bytes) -> None:
    assert membership.read(data) is None


def test_lines_that_cannot_be_understood_are_counted_and_no_more_than_some_members_taken() -> None:
    odd = b"server.1=a b:1:2;3\nserver.2=zk2:2888\nserver.3=zk3:1:2:participant;99999\n"
    assert membership.read(odd) == Membership((Member(3, "zk3", True),), unread=2)
    many = b"".join(b"server.%d=h%d:1:2:participant;2181\n" % (one, one) for one in range(1, 1000))
    found = membership.read(many)
    assert found is not None
    assert len(found.members) == membership.MOST_MEMBERS
    assert found.unread == 999 - membership.MOST_MEMBERS


@given(st.binary(max_size=300))
def test_no_data_raises(data: bytes) -> None:
    for before in (b"", b"server.1=", b"server.1=a:1:2;", b"version="):
        membership.read(before + data)
    quotas.read("/a", data, data)


def test_a_quota_of_3_4_has_soft_limits_alone() -> None:
    assert quotas.read("/kafka", b"count=100,bytes=-1", b"count=7,bytes=120") == Quota(
        "/kafka", znodes=100, used_znodes=7, used_bytes=120
    )


def test_a_quota_of_3_7_may_have_hard_limits() -> None:
    limits = b"count=-1,bytes=-1=;byteHardLimit=4096;countHardLimit=-1"
    assert quotas.read("/kafka", limits, b"count=7,bytes=120") == Quota(
        "/kafka", hard_bytes=4096, used_znodes=7, used_bytes=120
    )
