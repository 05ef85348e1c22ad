from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.kafka import paths
from zkdash.kafka.znode_kinds import Kind, Place

_PLACES = {
    "/": Place(Kind.OTHER),
    "": Place(Kind.OTHER),
    "brokers": Place(Kind.OTHER),
    "//": Place(Kind.OTHER),
    "/brokers": Place(Kind.OTHER),
    "/brokers/ids": Place(Kind.OTHER),
    "/brokers/ids/7": Place(Kind.BROKER, "7"),
    "/brokers/ids/2147483647": Place(Kind.BROKER, "2147483647"),
    "/brokers/ids/2147483648": Place(Kind.MISNAMED, "broker", "2147483648"),
    "/brokers/ids/07": Place(Kind.MISNAMED, "broker", "07"),
    "/brokers/ids/-1": Place(Kind.MISNAMED, "broker", "-1"),
    "/brokers/ids/²": Place(Kind.MISNAMED, "broker", "²"),
    "/brokers/ids/1\n": Place(Kind.MISNAMED, "broker", "1\n"),
    "/brokers/ids/": Place(Kind.MISNAMED, "broker", ""),
    "/brokers/ids/7/below": Place(Kind.OTHER),
    "/brokers/seqid": Place(Kind.SEQID),
    "/brokers/seqid/below": Place(Kind.OTHER),
    "/brokers/topics": Place(Kind.OTHER),
    "/brokers/topics/t": Place(Kind.TOPIC, "t"),
    "/brokers/topics/a b%/": Place(Kind.OTHER),
    "/brokers/topics/t/0": Place(Kind.PARTITION_COUNT, "t", "0"),
    "/brokers/topics/t/1500": Place(Kind.PARTITION_COUNT, "t", "1500"),
    "/brokers/topics/t/00": Place(Kind.OTHER),
    "/brokers/topics/t/other": Place(Kind.OTHER),
    "/brokers/topics/t/partitions": Place(Kind.PARTITIONS, "t"),
    "/brokers/topics/partitions": Place(Kind.TOPIC, "partitions"),
    "/brokers/topics/partitions/partitions/1/state": Place(Kind.STATE, "partitions", "1"),
    "/brokers/topics/t/partitions/12": Place(Kind.PARTITION, "t", "12"),
    "/brokers/topics/t/partitions/x": Place(Kind.MISNAMED, "partition", "x"),
    "/brokers/topics/t/partitions/12/state": Place(Kind.STATE, "t", "12"),
    "/brokers/topics/t/partitions/99999/state": Place(Kind.STATE, "t", "99999"),
    "/brokers/topics/t/partitions/x/state": Place(Kind.OTHER),
    "/brokers/topics/t/partitions/12/states": Place(Kind.OTHER),
    "/brokers/topics/t/partitions/12/state/below": Place(Kind.OTHER),
    "/elsewhere/topics/t/partitions/12/state": Place(Kind.OTHER),
    "/controller": Place(Kind.CONTROLLER),
    "/controller/below": Place(Kind.OTHER),
    "/controller_epoch": Place(Kind.CONTROLLER_EPOCH),
    "/cluster": Place(Kind.OTHER),
    "/cluster/id": Place(Kind.CLUSTER_ID),
    "/admin/reassign_partitions": Place(Kind.REASSIGNMENT),
    "/admin/preferred_replica_election": Place(Kind.ELECTION),
    "/admin/delete_topics": Place(Kind.OTHER),
    "/admin/delete_topics/t": Place(Kind.DELETION, "t"),
    "/config/topics": Place(Kind.OTHER),
    "/config/topics/t": Place(Kind.TOPIC_CONFIG, "t"),
    "/config/topics/t/below": Place(Kind.OTHER),
    "/config/changes": Place(Kind.OTHER),
    "/config/changes/config_change_0000000001": Place(Kind.CONFIG_CHANGE, "config_change_0000000001"),
    "/config/clients": Place(Kind.OTHER),
    "/config/clients/c": Place(Kind.CLIENT_CONFIG, "c"),
    "/config/clients/app 1/é": Place(Kind.CLIENT_CONFIG, "app 1/é"),
    "/config/users": Place(Kind.OTHER),
    "/config/users/u": Place(Kind.USER_CONFIG, "u"),
    "/config/users/u/clients": Place(Kind.OTHER),
    "/config/users/u/clients/c": Place(Kind.USER_CLIENT_CONFIG, "u", "c"),
    "/config/users/u/clients/c/below": Place(Kind.OTHER),
    "/config/users/clients/clients/clients": Place(Kind.USER_CLIENT_CONFIG, "clients", "clients"),
    "/config/brokers": Place(Kind.OTHER),
    "/config/brokers/1": Place(Kind.BROKER_CONFIG, "1"),
    "/config/brokers/<default>": Place(Kind.BROKER_CONFIG, paths.DEFAULT),
    "/config/ips/10.0.0.1": Place(Kind.IP_CONFIG, "10.0.0.1"),
    "/config/elsewhere/x": Place(Kind.OTHER),
    "/kafka-acl": Place(Kind.OTHER),
    "/kafka-acl/Topic": Place(Kind.OTHER),
    "/kafka-acl/Topic/t": Place(Kind.ACL, "Topic", "t"),
    "/kafka-acl/Group/a/b": Place(Kind.ACL, "Group", "a/b"),
    "/kafka-acl-extended/prefixed": Place(Kind.OTHER),
    "/kafka-acl-extended/prefixed/Topic": Place(Kind.OTHER),
    "/kafka-acl-extended/prefixed/Topic/t": Place(Kind.PREFIXED_ACL, "Topic", "t"),
    "/kafka-acl-extended/odd/Topic/t": Place(Kind.OTHER),
    "/kafka-acl-changes/acl_changes_0000000001": Place(Kind.ACL_CHANGE, "acl_changes_0000000001"),
    "/kafka-acl-extended-changes/acl_changes_0000000001": Place(
        Kind.EXTENDED_ACL_CHANGE, "acl_changes_0000000001"
    ),
    "/delegation_token/tokens": Place(Kind.OTHER),
    "/delegation_token/tokens/t": Place(Kind.TOKEN, "t"),
    "/delegation_token/token_changes/token_change_0000000001": Place(
        Kind.TOKEN_CHANGE, "token_change_0000000001"
    ),
    "/consumers": Place(Kind.OTHER),
    "/consumers/g": Place(Kind.GROUP, "g"),
    "/consumers/g/ids": Place(Kind.OTHER),
    "/consumers/g/ids/c": Place(Kind.MEMBER, "g", "c"),
    "/consumers/ids/ids/ids": Place(Kind.MEMBER, "ids", "ids"),
    "/consumers/g/owners/t": Place(Kind.OTHER),
    "/consumers/g/owners/t/1-0": Place(Kind.OWNER, "g", "t", "1-0"),
    "/consumers/g/offsets/t/0": Place(Kind.OFFSET, "g", "t", "0"),
    "/consumers/g/offsets/t/0/below": Place(Kind.OTHER),
    "/feature": Place(Kind.FEATURE),
    "/migration": Place(Kind.MIGRATION),
    "/latest_producer_id_block": Place(Kind.PRODUCER_ID_BLOCK),
    "/latest_producer_id_block/below": Place(Kind.OTHER),
    "/isr_change_notification": Place(Kind.OTHER),
    "/isr_change_notification/isr_change_0000000001": Place(Kind.ISR_CHANGE, "isr_change_0000000001"),
    "/log_dir_event_notification/log_dir_event_0000000001": Place(
        Kind.LOG_DIR_EVENT, "log_dir_event_0000000001"
    ),
}


@pytest.mark.parametrize(("path", "place"), _PLACES.items(), ids=repr)
def test_a_path_is_located(path: str, place: Place) -> None:
    assert paths.locate(path) == place


@given(
    st.lists(
        st.sampled_from(
            [
                "brokers",
                "ids",
                "topics",
                "partitions",
                "state",
                "consumers",
                "owners",
                "offsets",
                "admin",
                "config",
                "t",
                "0",
                "１",
                "²",
                "",
            ]
        ),
        max_size=9,
    )
)
def test_every_path_is_located_and_its_ids_are_numbers(pieces: list[str]) -> None:
    place = paths.locate("/" + "/".join(pieces))
    if place.kind is Kind.BROKER:
        assert str(int(place.name)) == place.name
    if place.kind in (Kind.PARTITION, Kind.STATE, Kind.PARTITION_COUNT):
        assert str(int(place.key)) == place.key


@given(st.text())
def test_any_text_is_located(text: str) -> None:
    assert isinstance(paths.locate(text), Place)


@given(st.integers(min_value=-2, max_value=2**32))
def test_an_id_is_a_number_that_fits_an_int32(number: int) -> None:
    assert paths.is_id(str(number)) == (0 <= number < 2**31)


def test_what_is_built_is_located_as_what_it_is() -> None:
    assert paths.locate(paths.broker(3)) == Place(Kind.BROKER, "3")
    assert paths.locate(paths.topic("t")) == Place(Kind.TOPIC, "t")
    assert paths.locate(paths.partitions("t")) == Place(Kind.PARTITIONS, "t")
    assert paths.locate(paths.state("t", 5)) == Place(Kind.STATE, "t", "5")
    assert paths.locate(paths.partition_count("t", 5)) == Place(Kind.PARTITION_COUNT, "t", "5")
    assert paths.locate(paths.topic_config("t")) == Place(Kind.TOPIC_CONFIG, "t")
    assert paths.locate(paths.deletion("t")) == Place(Kind.DELETION, "t")
    assert paths.locate(paths.group("g")) == Place(Kind.GROUP, "g")
    assert paths.locate(paths.member("g", "c")) == Place(Kind.MEMBER, "g", "c")
    assert paths.locate(paths.owner("g", "t", "1-0")) == Place(Kind.OWNER, "g", "t", "1-0")
    assert paths.locate(paths.offset("g", "t", "3")) == Place(Kind.OFFSET, "g", "t", "3")


def test_every_kind_lives_under_a_root() -> None:
    for path, place in _PLACES.items():
        if place.kind is not Kind.OTHER:
            assert path.startswith(tuple(paths.ROOTS))
