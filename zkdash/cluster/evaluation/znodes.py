"""What the checks find of a znode whatever it means: its owner, and its size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from zkdash.cluster.model.known import Read
from zkdash.cluster.model.violations import Violation
from zkdash.kafka import paths
from zkdash.kafka.znode_kinds import Kind
from zkdash.znode import STAT_SIZE, Znode

CHECKS = ("D50", "D51", "D54")
# A tenth of ZooKeeper's jute.maxbuffer: what is smaller nobody asks for, whatever the thresholds.
NOTABLE = 104_857

_HEAD = 4  # a Znode's length of data
_NOTABLE = NOTABLE + _HEAD + STAT_SIZE
_NOBODY = bytes(8)
_EPHEMERAL = frozenset({Kind.BROKER, Kind.MEMBER, Kind.OWNER, Kind.PARTITION_COUNT})
_PERSISTENT = frozenset({Kind.TOPIC, Kind.STATE, Kind.OFFSET, Kind.CONTROLLER_EPOCH, Kind.TOPIC_CONFIG})
_CONSUMERS = f"{paths.CONSUMERS}/"
# Paths that may hold what should be ephemeral: only these are looked at twice.
_ROOMS = (f"{paths.BROKER_IDS}/", _CONSUMERS, f"{paths.TOPICS}/")
# org.apache.zookeeper.server.EphemeralType: containers, and znodes with a time to live.
_CONTAINER = bytes.fromhex("8000000000000000")
_TTL = 0xFF


class Fault(NamedTuple):
    """A path, the check that it fails, and the cause."""

    path: str
    check: str
    cause: Violation


def faults(changed: Mapping[str, Read]) -> Iterator[Fault]:
    """The znodes of a batch that are not as their kind should be.

    A first load goes through this half a million times: a znode is understood only where it may be wrong.
    """
    nobody = _NOBODY
    for path, read in changed.items():
        if read.__class__ is not Znode:
            continue
        if len(read) > _NOTABLE:
            yield Fault(path, "D54", Violation(len(read) - _HEAD - STAT_SIZE))
        owner = read[-24:-16]
        if owner != nobody:
            if owner == _CONTAINER or owner[0] == _TTL:
                continue
            if path.startswith(_CONSUMERS) and "/offsets/" not in path:
                continue  # most of these are members and owners, which should be ephemeral
            if paths.locate(path).kind in _PERSISTENT:
                yield Fault(path, "D51", Violation(why=f"session 0x{owner.hex()}"))
        elif "/partitions" in path or "/offsets" in path:
            continue  # most paths are these, which never should be ephemeral
        elif path.startswith(_ROOMS) and paths.locate(path).kind in _EPHEMERAL:
            yield Fault(path, "D50", Violation())
