from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import recorded
from tests.fixtures import hostile
from zkdash.kafka import secrets

_SECRET_PATHS = (
    "/config/users/alice",
    "/config/users/alice/clients/app",
    "/config/users",
    "/config/brokers/1",
    "/config/brokers/<default>",
)
_DELEGATED = "/delegation_token/tokens/abc"


def _config(**settings: object) -> bytes:
    return json.dumps({"version": 1, "config": settings}).encode()


@pytest.mark.parametrize("path", _SECRET_PATHS)
def test_a_quota_keeps_its_value_and_a_credential_only_its_name(path: str) -> None:
    data = _config(**{"producer_byte_rate": "1024", "SCRAM-SHA-256": "salt=hush"})
    assert msgspec.json.decode(secrets.redact(path, data) or b"") == {
        "version": 1,
        "config": {"producer_byte_rate": "1024", "SCRAM-SHA-256": secrets.HIDDEN},
    }


@pytest.mark.parametrize("name", sorted(secrets.SHOWN))
def test_each_quota_and_throttle_is_shown(name: str) -> None:
    for value in ("1000000", "0.5", "1.0E7", 12):
        data = secrets.redact("/config/brokers/1", _config(**{name: value}))
        assert msgspec.json.decode(data or b"")["config"] == {name: value}


@pytest.mark.parametrize(
    "value", ["hush", "1024 hush", "1024\n", "", "1" * 40, ["1"], {"1": "1"}, None, True, 1.5]
)
def test_what_is_no_number_is_hidden_even_under_a_quotas_name(value: object) -> None:
    data = secrets.redact("/config/users/alice", _config(producer_byte_rate=value))
    assert msgspec.json.decode(data or b"")["config"] == {"producer_byte_rate": secrets.HIDDEN}


@pytest.mark.parametrize(
    "data",
    [
        b"hush",
        b'{"config":{"a":"hush"',
        b'["hush"]',
        b'{"config":"hush"}',
        b'{"a":"hush"}',
        b"[" * 10_000,
        b"\xffhush",
    ],
)
def test_a_malformed_configuration_is_hidden_wholly(data: bytes) -> None:
    assert secrets.redact("/config/users/alice", data) == secrets.HIDDEN.encode()


def test_keys_beside_the_configuration_are_dropped() -> None:
    data = b'{"version":1,"config":{},"password":"hush"}'
    assert secrets.redact("/config/brokers/1", data) == b'{"version":1,"config":{}}'


def test_of_a_delegation_token_its_version_and_times_stay() -> None:
    times = {"issueTimestamp": 1, "maxTimestamp": "3", "expiryTimestamp": -2}
    token = {"version": 3, "owner": "hush", "renewers": ["hush"], "tokenId": "hush", **times}
    data = secrets.redact(_DELEGATED, json.dumps(token).encode())
    assert msgspec.json.decode(data or b"") == {"version": 3, **times}


@pytest.mark.parametrize(
    "value", ["hush", "1 hush", "1\n", "", "1" * 20, "1.5", 1.5, ["1"], {"1": 1}, None, True]
)
def test_what_is_no_time_of_a_token_does_not_enter(value: object) -> None:
    data = json.dumps({"version": value, "expiryTimestamp": value, "maxTimestamp": 1}).encode()
    assert secrets.redact(_DELEGATED, data) == b'{"maxTimestamp":1}'


@pytest.mark.parametrize("data", [b"hush", b'{"expiryTimestamp":"hush"', b'["hush"]', b"\xffhush"])
def test_a_malformed_token_is_hidden_wholly(data: bytes) -> None:
    assert secrets.redact(_DELEGATED, data) == secrets.HIDDEN.encode()


def test_of_a_delegation_token_that_changed_nothing_enters() -> None:
    assert secrets.redact("/delegation_token/token_changes/token_change_0000000000", b"abc") is None


@pytest.mark.parametrize("path", [*_SECRET_PATHS, _DELEGATED])
def test_null_and_empty_data_stay_what_they_are(path: str) -> None:
    assert secrets.is_secret(path)
    assert secrets.redact(path, None) is None
    assert secrets.redact(path, b"") == b""


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/config",
        "/config/topics/t",
        "/config/usersx",
        "/config/clients/c",
        "/brokers/ids/1",
        "/x/config/users/a",
    ],
)
def test_all_other_paths_keep_their_data(path: str) -> None:
    data = b'{"config":{"a":"b"}}'
    assert not secrets.is_secret(path)
    assert secrets.redact(path, data) is data


@given(st.binary() | st.builds(_config))
def test_redacting_never_fails_and_twice_is_once(data: bytes) -> None:
    for path in ("/config/users/u", _DELEGATED):
        once = secrets.redact(path, data)
        assert secrets.redact(path, once) == once


@given(
    st.dictionaries(st.text(), st.recursive(st.text() | st.integers() | st.none(), st.lists, max_leaves=8))
)
def test_no_value_survives_but_a_number(settings: dict[str, object]) -> None:
    planted = {name: {"x": value, "y": "hush"} for name, value in settings.items()}
    shown = secrets.redact("/config/users/u", json.dumps({"config": planted}).encode())
    assert b"hush" not in (shown or b"")


def test_no_canary_of_the_hostile_tree_survives() -> None:
    planted = hostile.CANARY.encode()
    tree = recorded.load(recorded.HOSTILE)
    assert sum(planted in bytes(znode) for znode in tree.values()) == 10
    assert not any(planted in bytes(znode) for znode in hostile.admitted().values())


@pytest.mark.parametrize("chroot", ["", "/kafka", "/a/b", "/config/users/of"])
def test_a_secret_is_hidden_under_whatever_chroot(chroot: str) -> None:
    secret = b'{"version":1,"config":{"SCRAM-SHA-256":"hush","producer_byte_rate":"1"}}'
    for below in ("/config/users/alice", "/config/brokers/1", "/delegation_token/tokens/x"):
        assert b"hush" not in (secrets.redact_anywhere(chroot + below, secret) or b"")
    for other in ("/config/topics/t", "/x/config/usersx"):
        assert secrets.redact_anywhere(other, secret) is secret
