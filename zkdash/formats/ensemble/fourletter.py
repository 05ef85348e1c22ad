"""ZooKeeper's four-letter words: what the answers to srvr, mntr and isro say, and what refusals say.

Keys that are not known are passed over, numbers may have decimals (3.6+). Source: ZooKeeper's
Administrator's Guide, "The Four Letter Words", and org.apache.zookeeper.server.command.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from typing import Final

import msgspec

from zkdash.formats.ensemble.values import Told

_NOT_ALLOWED: Final = b"is not in the whitelist"
_NOT_SERVING: Final = b"not currently serving requests"
_VERSION: Final = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,6}){1,3}(?:-(?:alpha|beta)(?![0-9A-Za-z]))?")
_DECIMAL: Final = re.compile(r"[0-9]{1,20}(?:[.,][0-9]{1,20})?(?:[eE][+-]?[0-9]{1,2})?")
_MODES: Final = frozenset({"leader", "follower", "observer", "standalone", "read-only"})
_MOST: Final = (1 << 63) - 1

_SRVR: Final = {
    "Connections": "connections",
    "Outstanding": "outstanding",
    "Node count": "znodes",
}
_MNTR: Final = {
    "zk_min_latency": "latency_min",
    "zk_avg_latency": "latency_avg",
    "zk_max_latency": "latency_max",
    "zk_num_alive_connections": "connections",
    "zk_outstanding_requests": "outstanding",
    "zk_znode_count": "znodes",
    "zk_watch_count": "watches",
    "zk_ephemerals_count": "ephemerals",
    "zk_approximate_data_size": "data_size",
    "zk_open_file_descriptor_count": "descriptors",
    "zk_max_file_descriptor_count": "max_descriptors",
    "zk_followers": "learners",  # 3.4 and 3.5
    "zk_learners": "learners",  # 3.6+
    "zk_synced_followers": "synced_followers",
    "zk_pending_syncs": "pending_syncs",
    "zk_max_proposal_size": "max_proposal",
}
_LATENCIES: Final = frozenset({"latency_min", "latency_avg", "latency_max"})


class Refusal(enum.Enum):
    """An answer that is none."""

    NOT_ALLOWED = "not allowed"
    NOT_SERVING = "not serving"
    STRANGE = "strange"


_STATES: Final[Mapping[bytes, bool | Refusal]] = {
    b"ro": True,
    b"rw": False,
    b"null": Refusal.NOT_SERVING,
}


def srvr(answer: bytes) -> Told | Refusal:
    """What srvr told."""
    if (refusal := _refusal(answer)) is not None:
        return refusal
    values: dict[str, str | int | float | None] = {}
    for key, value in _lines(answer, ":"):
        if key == "Zookeeper version":
            values["version"] = _version(value)
        elif key.startswith("Latency"):
            numbers = [_decimal(text) for text in value.split("/")]
            if len(numbers) == 3:
                values |= zip(("latency_min", "latency_avg", "latency_max"), numbers, strict=True)
        elif key == "Zxid":
            values["zxid"] = _zxid(value)
        elif key == "Mode":
            values["mode"] = _mode(value)
        elif key in _SRVR:
            values[_SRVR[key]] = _count(value)
    return _told(values)


def mntr(answer: bytes) -> Told | Refusal:
    """What mntr told."""
    if (refusal := _refusal(answer)) is not None:
        return refusal
    values: dict[str, str | int | float | None] = {}
    for key, value in _lines(answer, "\t"):
        if key == "zk_version":
            values["version"] = _version(value)
        elif key == "zk_server_state":
            values["mode"] = _mode(value)
        elif (name := _MNTR.get(key)) is not None:
            values[name] = _decimal(value) if name in _LATENCIES else _count(value)
    return _told(values)


def isro(answer: bytes) -> bool | Refusal:
    """Whether a server is read-only: it lost its quorum and answers reads all the same."""
    if (refusal := _refusal(answer)) is not None:
        return refusal
    return _STATES.get(answer.strip(), Refusal.STRANGE)


def merge(first: Told, other: Told) -> Told:
    """Both together; of what both tell, the second."""
    said = {name: value for name, value in msgspec.structs.asdict(other).items() if value is not None}
    return msgspec.structs.replace(first, **said)


def _refusal(answer: bytes) -> Refusal | None:
    if _NOT_ALLOWED in answer:
        return Refusal.NOT_ALLOWED
    return Refusal.NOT_SERVING if _NOT_SERVING in answer else None


def _told(values: dict[str, str | int | float | None]) -> Told | Refusal:
    """Nothing that is known of a ZooKeeper is not an empty answer but a strange one."""
    given = {name: value for name, value in values.items() if value is not None}
    return Told(**given) if given else Refusal.STRANGE  # type: ignore[arg-type]


def _lines(answer: bytes, separator: str) -> list[tuple[str, str]]:
    pairs = (line.partition(separator) for line in answer.decode(errors="replace").splitlines())
    return [(key.strip(), value.strip()) for key, separator, value in pairs if separator]


def _version(text: str) -> str | None:
    match = _VERSION.match(text)
    return None if match is None else match[0]


def _mode(text: str) -> str | None:
    return text if text in _MODES else None


def _zxid(text: str) -> int | None:
    if not re.fullmatch(r"0x[0-9a-f]{1,16}", text):
        return None
    zxid = int(text, 16)
    return zxid if zxid <= _MOST else None


def _decimal(text: str) -> float | None:
    """A number that is not below zero; a server writes it as its locale does."""
    if not _DECIMAL.fullmatch(text):
        return None
    number = float(text.replace(",", "."))
    return number if number <= _MOST else None


def _count(text: str) -> int | None:
    """A whole number: -1 is ZooKeeper's word for not known."""
    if re.fullmatch(r"[0-9]{1,19}", text):  # exactly, which a float would not be
        return int(text) if int(text) <= _MOST else None
    number = _decimal(text)
    return None if number is None else int(number)
