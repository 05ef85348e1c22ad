"""How much any file may make the decoders hold: who wrote it may be mistaken, or hostile.

Bytes alone are no bound: 2 KiB of zstd are 16 MiB of records of 7 bytes, which Python holds in 335 MiB. What
exceeds a bound is a problem with its place, and what follows it is read.
"""

from __future__ import annotations

from typing import Final

# Of one entry of a Kafka segment. A broker takes 1 MiB by default, compressed (`message.max.bytes`).
ENTRY_BYTES: Final = 64 << 20  # that it stands for, uncompressed
RECORDS: Final = 1_000_000  # and so many headers of all of them together
HEADERS: Final = 10_000  # of one record
KEPT: Final = 20_000  # records of an entry that are held at once; of one with more they are read as they go

# Of a compressed snapshot of ZooKeeper, whose znodes are hardly ever a tenth of their size when compressed.
SNAPSHOT_BYTES: Final = 2 << 30
SNAPSHOT_RATIO: Final = 100
SNAPSHOT_ALWAYS: Final = 64 << 20  # bytes that it may stand for, however small it is

# Of one list in ZooKeeper's files (sessions, access lists, parts of a multi, ephemerals of a session), and of
# all lists in one record of __consumer_offsets together.
ELEMENTS: Final = 1 << 18


class ExceededError(ValueError):
    """Bytes that stand for more than they may."""


def of_snapshot(size: int) -> int:
    """How many bytes a compressed snapshot of so many may stand for."""
    return min(SNAPSHOT_BYTES, max(SNAPSHOT_ALWAYS, SNAPSHOT_RATIO * size))
