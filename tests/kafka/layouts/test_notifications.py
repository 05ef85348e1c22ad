from __future__ import annotations

import pytest

from zkdash.kafka.layouts import notifications
from zkdash.kafka.values import (
    AclChange,
    ConfigChange,
    IsrChange,
    LogDirEvent,
    TokenChange,
    Unparsable,
)


@pytest.mark.parametrize(
    ("data", "change"),
    [
        (b'"orders"', ConfigChange(0, "topics/orders")),
        (b'{"version":1,"entity_type":"clients","entity_name":"app 1"}', ConfigChange(1, "clients/app 1")),
        (b'{"version":2,"entity_path":"users/u/clients/c"}', ConfigChange(2, "users/u/clients/c")),
    ],
    ids=["0.8.1", "0.9.0", "0.10.1"],
)
def test_each_form_of_config_change_is_read(data: bytes, change: ConfigChange) -> None:
    assert notifications.parse_config_change(data) == (change, ())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "empty where a config change belongs"),
        (b"orders", "not JSON: invalid character at byte 0"),
        (b'"orders', "not JSON: cut short"),
        (b'{"entity_path":"topics/t"}', '"version" is missing'),
        (b'{"version":1,"entity_path":"topics/t"}', '"entity_type" is missing; "entity_name" is missing'),
        (b'{"version":2,"entity_type":"topics","entity_name":"t"}', '"entity_path" is missing'),
    ],
)
def test_what_is_no_config_change_says_why(data: bytes | None, reason: str) -> None:
    assert notifications.parse_config_change(data)[0] == Unparsable(reason)


def test_a_config_change_of_a_version_to_come_is_read_and_said() -> None:
    assert notifications.parse_config_change(b'{"version":3,"entity_path":"topics/t"}') == (
        ConfigChange(3, "topics/t"),
        ("version 3 is not known (1 to 2 are)",),
    )


def test_the_name_of_a_resource_whose_acl_changed_may_hold_colons() -> None:
    assert notifications.parse_acl_change(b"Group:a:b") == (AclChange("Group", "a:b", "LITERAL"), ())


def test_a_prefixed_acl_change_is_read() -> None:
    data = b'{"version":1,"resourceType":"TOPIC","name":"or","patternType":"PREFIXED"}'
    assert notifications.parse_extended_acl_change(data) == (AclChange("TOPIC", "or", "PREFIXED"), ())


def test_of_a_token_change_nothing_but_its_being_there_is_read() -> None:
    assert notifications.parse_token_change(None) == (TokenChange(), ())


def test_an_isr_change_is_read_and_a_wrong_entry_left_out() -> None:
    data = b'{"version":1,"partitions":[{"topic":"t","partition":1},{"topic":"t"}]}'
    assert notifications.parse_isr_change(data) == (
        IsrChange((("t", 1),)),
        ('entry 1: "partition" is missing',),
    )


def test_a_log_directory_that_failed_is_read() -> None:
    assert notifications.parse_log_dir_event(b'{"version":1,"broker":2,"event":1}') == (LogDirEvent(2, 1), ())
