"""Which znodes hold secrets, and what of them may enter: applied where bytes arrive, before they are stored.

/config/users holds SCRAM credentials, /config/brokers may hold encrypted passwords, /delegation_token whole
tokens. Of the configurations the values of quotas and throttles stay, of everything else only the names.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

HIDDEN: Final = "<hidden>"

# Quotas (kafka.server.DynamicConfig.{Client,User,Ip}) and throttles (DynamicConfig.Broker): all are numbers.
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
    }
)

_CONFIGS: Final = ("/config/users", "/config/brokers")
_TOKENS: Final = "/delegation_token"
_PREFIXES: Final = (*_CONFIGS, _TOKENS)
MARKS: Final = _PREFIXES  # one of these is in every secret path, whatever its chroot
_NUMBER = re.compile(r"[0-9][0-9.eE+-]{0,31}")
_WHOLLY_HIDDEN: Final = HIDDEN.encode()


def is_secret(path: str) -> bool:
    """Whether a path (under the chroot) may hold secrets, so that its bytes must not be shown as read."""
    return path.startswith(_PREFIXES) and any(_is_below(path, root) for root in _PREFIXES)


def redact(path: str, data: bytes | None) -> bytes | None:
    """The data as it may be stored and shown. Most paths get theirs back untouched."""
    if not path.startswith(_PREFIXES) or not data:
        return data
    if _is_below(path, _TOKENS):
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

    What has not this shape is replaced wholly: nobody can say where in it a secret is.
    """
    try:
        document = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return _WHOLLY_HIDDEN
    config = document.get("config") if isinstance(document, dict) else None
    if not isinstance(config, dict):
        return _WHOLLY_HIDDEN
    kept: dict[str, Any] = {"config": {name: _shown(name, value) for name, value in config.items()}}
    if type(document.get("version")) is int:
        kept = {"version": document["version"], **kept}
    return msgspec.json.encode(kept)


def _shown(name: str, value: object) -> str | int:
    """A quota's or throttle's number; anything else, and what is no number under such a name, is hidden."""
    if name not in SHOWN:
        return HIDDEN
    if type(value) is int or (isinstance(value, str) and _NUMBER.fullmatch(value)):
        return value
    return HIDDEN
