"""Configurations, ACLs, tokens, notifications and what the cluster keeps of itself, in the state."""

from __future__ import annotations

import pytest

from tests.cluster import small
from zkdash.kafka.values import (
    AclChange,
    AclEntry,
    ConfigChange,
    EntityConfig,
    Features,
    Migration,
    ProducerIds,
    ResourceAcl,
    Token,
    Unparsable,
)
from zkdash.znode import Unreadable

REFUSED = Unreadable("no right to read it")
QUOTA = small.json_(version=1, config={"producer_byte_rate": "1"})
ENTRY = {"principal": "User:a", "permissionType": "Allow", "operation": "Read", "host": "*"}

ACL = "/kafka-acl/Topic/t"
PREFIXED = "/kafka-acl-extended/prefixed/Topic/t"
TOKEN = "/delegation_token/tokens/abc"
CHANGE = "/config/changes/config_change_0000000001"


@pytest.mark.parametrize(
    "entity",
    [
        "clients/c",
        "clients/a/b",
        "users/u",
        "users/u/clients/c",
        "brokers/1",
        "brokers/<default>",
        "ips/1.2.3.4",
    ],
)
def test_a_configuration_is_kept_by_its_path_below_config(entity: str) -> None:
    path = f"/config/{entity}"
    state, touched = small.step(small.built(), {path: QUOTA})
    assert state.configs[entity].value == EntityConfig({"producer_byte_rate": "1"})
    assert state.configs[entity].znode == QUOTA
    assert touched.areas == {"configs"}
    after, touched = small.step(state, small.gone(path))
    assert dict(after.configs) == {}
    assert touched.areas == {"configs"}


def test_acls_are_kept_by_path_literal_and_prefixed() -> None:
    state, touched = small.step(
        small.built(), {path: small.json_(version=1, acls=[ENTRY]) for path in (ACL, PREFIXED)}
    )
    acl = ResourceAcl((AclEntry("User:a", "Allow", "Read", "*"),))
    assert {path: seen.value for path, seen in state.acls.items()} == {ACL: acl, PREFIXED: acl}
    assert touched.areas == {"acls"}


def test_a_token_is_kept_by_its_id() -> None:
    times = {"issueTimestamp": 1, "maxTimestamp": 3, "expiryTimestamp": 2}
    state, touched = small.step(small.built(), {TOKEN: small.json_(version=3, **times)})
    assert {name: seen.value for name, seen in state.tokens.items()} == {"abc": Token(3, 1, 3, 2)}
    assert touched.areas == {"acls"}


def test_notifications_are_kept_by_path_until_they_are_gone() -> None:
    acl_change = "/kafka-acl-changes/acl_changes_0000000002"
    state, touched = small.step(
        small.built(),
        {CHANGE: small.json_(version=2, entity_path="topics/t"), acl_change: small.znode("Topic:t")},
    )
    assert {path: seen.value for path, seen in state.notifications.items()} == {
        CHANGE: ConfigChange(2, "topics/t"),
        acl_change: AclChange("Topic", "t", "LITERAL"),
    }
    assert touched.areas == {"notifications"}
    after, _ = small.step(state, small.gone(CHANGE))
    assert set(after.notifications) == {acl_change}


@pytest.mark.parametrize(
    ("path", "field", "key"),
    [
        ("/config/users/u", "configs", "users/u"),
        (ACL, "acls", ACL),
        (TOKEN, "tokens", "abc"),
        (CHANGE, "notifications", CHANGE),
    ],
)
def test_what_may_not_be_read_is_neither_absent_nor_a_problem(path: str, field: str, key: str) -> None:
    state = small.built({path: REFUSED})
    assert getattr(state, field)[key].value == REFUSED
    assert getattr(state, field)[key].znode is None
    assert dict(state.problems) == {}


@pytest.mark.parametrize("path", ["/config/users/u", "/config/brokers/1", TOKEN])
def test_a_malformed_secret_is_a_problem_that_shows_no_byte(path: str) -> None:
    state = small.built({path: small.znode("<hidden>")})
    problem = state.problems[path]
    assert problem.head == b""
    assert "nothing of it is shown" in problem.reason
    assert not problem.critical


def test_a_malformed_acl_is_a_problem_and_its_value_says_so() -> None:
    state = small.built({ACL: small.znode("[]")})
    assert state.acls[ACL].value == Unparsable("a list where an ACL belongs")
    assert state.problems[ACL].head == b"[]"


def test_what_the_cluster_keeps_of_itself_is_in_the_state() -> None:
    tree = {
        "/feature": small.json_(version=2, status=1, features={"f": {"max_version_level": 3}}),
        "/migration": small.json_(
            version=0,
            kraft_controller_id=3000,
            kraft_controller_epoch=2,
            kraft_metadata_offset=7,
            kraft_metadata_epoch=1,
        ),
        "/latest_producer_id_block": small.json_(version=1, broker=1, block_start="0", block_end="999"),
        "/brokers/seqid": small.znode(""),
    }
    state, touched = small.step(small.built(), tree)
    assert state.feature is not None
    assert state.feature.value == Features(2, 1, {"f": (None, 3)})
    assert state.migration is not None
    assert state.migration.value == Migration(3000, 2, 7, 1)
    assert state.producer_ids is not None
    assert state.producer_ids.value == ProducerIds(1, 0, 999)
    assert state.seqid == tree["/brokers/seqid"]
    assert touched.areas == {"controller"}
    after, touched = small.step(state, small.gone(*tree))
    assert (after.feature, after.migration, after.producer_ids, after.seqid) == (None, None, None, None)
    assert touched.areas == {"controller"}


def test_that_no_producer_id_was_given_out_yet_is_not_that_none_can_be() -> None:
    assert small.built().producer_ids is None
    state = small.built({"/latest_producer_id_block": small.znode(None)})
    assert state.producer_ids is not None
    assert state.producer_ids.value is None


def test_the_marker_of_a_topic_to_be_deleted_keeps_its_znode() -> None:
    marker = small.znode(None)
    state = small.built(small.topic("t", {0: [1]}), {"/admin/delete_topics/t": marker})
    assert dict(state.deletion_znodes) == {"t": marker}
    assert state.deletions == {"t"}
    assert state.topics["t"].deleting
    after, touched = small.step(state, small.gone("/admin/delete_topics/t"))
    assert not after.deletions
    assert not after.topics["t"].deleting
    assert "admin" in touched.areas


def test_a_marker_that_may_not_be_read_marks_its_topic_all_the_same() -> None:
    state = small.built(small.topic("t", {0: [1]}), {"/admin/delete_topics/t": REFUSED})
    assert dict(state.deletion_znodes) == {"t": REFUSED}
    assert state.topics["t"].deleting


def test_a_directory_that_may_not_be_read_is_told_until_it_may() -> None:
    state, touched = small.step(
        small.built(), {"/config/users": REFUSED, "/config/brokers": small.znode(None)}
    )
    assert dict(state.refused) == {"/config/users": REFUSED}
    assert {"configs", "acls"} <= touched.areas
    again, touched = small.step(state, {"/config/users": REFUSED})
    assert again.refused is state.refused
    assert touched.areas == frozenset()
    for repaired in (small.znode(None), None):
        after, touched = small.step(state, {"/config/users": repaired})
        assert dict(after.refused) == {}
        assert "configs" in touched.areas


def test_what_a_batch_leaves_alone_is_the_very_same_map() -> None:
    state = small.built({ACL: small.json_(version=1, acls=[ENTRY]), "/config/users/u": QUOTA})
    after, _ = small.step(state, {"/config/users/v": QUOTA})
    assert after.acls is state.acls
    assert after.tokens is state.tokens
    assert after.configs is not state.configs
