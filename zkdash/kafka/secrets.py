"""Which znodes hold secrets, and what of them may enter: applied where bytes arrive, before they are stored.

/config/users holds SCRAM credentials, /config/brokers may hold encrypted passwords, /delegation_token whole
tokens. Of the configurations the values of quotas and throttles stay, of everything else only the names; of a
token its version and its three times (decision 0015).
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

HIDDEN: Final = "<hidden>"

# Quotas (kafka.server.DynamicConfig.{Client,User,Ip}), throttles (DynamicConfig.Broker), and what says when
# producers are refused: all are numbers.
SHOWN: Final = frozenset(
    {
        "producer_byte_rate",
        "consumer_byte_rate",
        "request_percentage",
        "controller_mutation_rate",
        "connection_creation_rate",
        "leader.replication.throttled.rate",
        "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
        "min.insync.replicas",
    }
)

# When a token was made, until when it may be renewed, and until when it holds: epoch milliseconds.
TOKEN_TIMES: Final = ("issueTimestamp", "maxTimestamp", "expiryTimestamp")

# What stands for data of which nobody can say where in it a secret is.
WHOLLY_HIDDEN: Final = HIDDEN.encode()

_CONFIGS: Final = ("/config/users", "/config/brokers")
_DELEGATION: Final = "/delegation_token"
_TOKENS: Final = "/delegation_token/tokens/"
_PREFIXES: Final = (*_CONFIGS, _DELEGATION)
MARKS: Final = _PREFIXES  # one of these is in every secret path, whatever its chroot
_NUMBER = re.compile(r"[0-9][0-9.eE+-]{0,31}")
_TIME = re.compile(r"-?[0-9]{1,19}")


def is_secret(path: str) -> bool:
    """Whether a path (under the chroot) may hold secrets, so that its bytes must not be shown as read."""
    return path.startswith(_PREFIXES) and any(_is_below(path, root) for root in _PREFIXES)


def redact(path: str, data: bytes | None) -> bytes | None:
    """The data as it may be stored and shown. Most paths get theirs back untouched."""
    if not path.startswith(_PREFIXES) or not data:
        return data
    if path.startswith(_TOKENS):
        return _redact_token(data)
    if _is_below(path, _DELEGATION):
        return None
    return _redact_config(data) if any(_is_below(path, root) for root in _CONFIGS) else data


def redact_anywhere(path: str, data: bytes | None) -> bytes | None:
    """As `redact`, for a path as the ensemble holds it: below whatever chroot, of a known cluster or not."""
    for mark in MARKS:
        at = path.find(mark)
        while at >= 0:
            data = redact(path[at:], data)
            at = path.find(mark, at + 1)
    return data


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root + "/")


def _redact_config(data: bytes) -> bytes:
    """{"version", "config"} with the names of all settings and the values of those that may be shown.

    What has not this shape is replaced wholly.
    """
    document = _object(data)
    config = document.get("config") if document is not None else None
    if document is None or not isinstance(config, dict):
        return WHOLLY_HIDDEN
    kept = {"config": {name: _shown(name, value) for name, value in config.items()}}
    return msgspec.json.encode(_version(document) | kept)


def _redact_token(data: bytes) -> bytes:
    """The version and the times of a token, where they are numbers."""
    document = _object(data)
    if document is None:
        return WHOLLY_HIDDEN
    times = {name: document[name] for name in TOKEN_TIMES if _is_time(document.get(name))}
    return msgspec.json.encode(_version(document) | times)


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        document = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _version(document: dict[str, Any]) -> dict[str, Any]:
    return {"version": document["version"]} if type(document.get("version")) is int else {}


def _is_time(value: object) -> bool:
    return type(value) is int or (isinstance(value, str) and _TIME.fullmatch(value) is not None)


def _shown(name: str, value: object) -> str | int:
    """The value of a quota or throttle where it is a number; every other value is hidden."""
    if name not in SHOWN:
        return HIDDEN
    if type(value) is int or (isinstance(value, str) and _NUMBER.fullmatch(value)):
        return value
    return HIDDEN
