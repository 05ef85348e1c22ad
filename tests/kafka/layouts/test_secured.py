"""ACLs, delegation tokens, and the configurations that may hold secrets."""

from __future__ import annotations

import pytest

from zkdash.kafka import secrets
from zkdash.kafka.layouts.acls import parse_acl
from zkdash.kafka.layouts.config import parse_entity_config
from zkdash.kafka.layouts.tokens import parse_token
from zkdash.kafka.values import AclEntry, EntityConfig, ResourceAcl, Token, Unparsable

_HIDDEN = secrets.HIDDEN.encode()


def test_the_entries_of_an_acl_are_read_in_their_order() -> None:
    data = (
        b'{"version":1,"acls":[{"principal":"User:a","permissionType":"Allow","operation":"Read","host":"*"},'
        b'{"principal":"User:b","permissionType":"Deny","operation":"All","host":"10.0.0.1"}]}'
    )
    entries = (AclEntry("User:a", "Allow", "Read", "*"), AclEntry("User:b", "Deny", "All", "10.0.0.1"))
    assert parse_acl(data) == (ResourceAcl(entries), ())


@pytest.mark.parametrize("data", [None, b"", b'{"version":1,"acls":[]}'])
def test_an_acl_may_hold_nothing(data: bytes | None) -> None:
    assert parse_acl(data) == (ResourceAcl(()), ())


def test_a_wrong_entry_of_an_acl_is_left_out_and_said() -> None:
    data = b'{"version":1,"acls":[{"principal":"User:a","permissionType":"Allow","operation":1,"host":"*"}]}'
    assert parse_acl(data) == (
        ResourceAcl(()),
        ('entry 0: "operation" holds a number where text belongs',),
    )


@pytest.mark.parametrize("version", [1, 3])
def test_the_times_of_a_token_are_read_as_numbers_and_as_text(version: int) -> None:
    data = f'{{"version":{version},"issueTimestamp":1,"maxTimestamp":"3","expiryTimestamp":2}}'
    assert parse_token(data.encode()) == (Token(version, 1, 3, 2), ())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "empty where a delegation token belongs"),
        (_HIDDEN, "not a delegation token; it may hold secrets, so nothing of it is shown"),
        (
            b'{"version":1}',
            '"issueTimestamp" is missing; "maxTimestamp" is missing; "expiryTimestamp" is missing',
        ),
    ],
)
def test_what_is_no_token_says_why(data: bytes | None, reason: str) -> None:
    assert parse_token(data)[0] == Unparsable(reason)


def test_a_configuration_tells_the_names_of_what_is_hidden() -> None:
    data = secrets.redact(
        "/config/brokers/1",
        b'{"version":1,"config":{"ssl.keystore.password":"hush","leader.replication.throttled.rate":"7"}}',
    )
    config = {"ssl.keystore.password": secrets.HIDDEN, "leader.replication.throttled.rate": "7"}
    assert parse_entity_config(data) == (EntityConfig(config), ())


@pytest.mark.parametrize("data", [None, b""])
def test_an_entity_may_have_no_configuration_of_its_own(data: bytes | None) -> None:
    assert parse_entity_config(data) == (EntityConfig({}), ())


def test_a_configuration_that_is_hidden_wholly_says_so_without_a_byte_of_it() -> None:
    reason = "not a configuration; it may hold secrets, so nothing of it is shown"
    assert parse_entity_config(_HIDDEN) == (Unparsable(reason), (reason,))
