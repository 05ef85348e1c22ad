"""The offsets of one consumer under /consumers/G/offsets: read at a claim, committed later.

There are no messages: how far a consumer has read is told by a `NextOffset`. After
ZookeeperConsumerConnector.commitOffsets: 0.8 and later leave out what has not moved, 0.7 writes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from random import Random

from zkdash.demo.consumers.configs import ConsumerConfig
from zkdash.demo.consumers.ownership import PartitionKey
from zkdash.demo.runtime import session
from zkdash.kafka import paths
from zkdash.kafka.values import Layout

# From a partition and its offset (None where nothing was committed yet) to the offset of the next commit.
NextOffset = Callable[[PartitionKey, int | None], int | None]

_MESSAGE_BYTES = 187  # what a message of the 0.7 demo takes in its log, on average


def random_offsets(random: Random) -> NextOffset:
    """Messages come in on most partitions between two commits, up to 400."""

    def read(_: PartitionKey, offset: int | None) -> int | None:
        return (offset or 0) + random.randrange(1, 400) if random.random() < 0.7 else offset

    return read


def random_offsets_07(random: Random) -> NextOffset:
    """The same in bytes, each message somewhat longer or shorter; a log that was not read yet is long."""

    def read(_: PartitionKey, offset: int | None) -> int:
        if offset is None:
            return random.randrange(10**8, 4 * 10**9)
        messages = random.randrange(1, 400) if random.random() < 0.7 else 0
        return offset + messages * _MESSAGE_BYTES + random.randrange(-60, 60) * min(messages, 1)

    return read


class ConsumerOffsets:
    """Positions of the partitions that a consumer owns."""

    def __init__(self, zookeeper: session.Session, config: ConsumerConfig, next_offset: NextOffset) -> None:
        self._zookeeper = zookeeper
        self._group = config.group
        self._writes = config.commits
        self._repeats = config.layout is Layout.V07
        self._next_offset = next_offset
        self._positions: dict[PartitionKey, int | None] = {}

    def claim(self, owned: Collection[PartitionKey]) -> None:
        """Go on from what was committed last."""
        reads = self._zookeeper.get_all([self._path(key) for key in owned])
        self._positions = {
            key: None if read is None else int(read.data) for key, read in zip(owned, reads, strict=True)
        }

    def forget(self) -> None:
        self._positions = {}

    def commit(self) -> None:
        """Write how far it has read; the first commit of a partition makes its znode, and the parents."""
        before = self._positions
        after = {key: self._next_offset(key, offset) for key, offset in before.items()}
        self._positions = after
        if self._writes:
            offsets = {key: offset for key, offset in after.items() if offset is not None}
            self._write({k: o for k, o in offsets.items() if self._repeats or o != before[k]}, before)

    def _write(self, moved: Mapping[PartitionKey, int], before: Mapping[PartitionKey, int | None]) -> None:
        make, put = self._zookeeper.create_operation, self._zookeeper.set_operation
        fresh = {key for key in moved if before[key] is None}
        root = f"{paths.group(self._group)}/offsets"
        topics = sorted({topic for topic, _ in fresh})
        parents = [root, *(f"{root}/{topic}" for topic in topics)] if fresh else []
        self._zookeeper.commit([make(path, None)] for path in parents)
        data = {key: str(offset).encode() for key, offset in moved.items()}
        self._zookeeper.commit(
            [make(self._path(key), text) if key in fresh else put(self._path(key), text, -1)]
            for key, text in data.items()
        )

    def _path(self, key: PartitionKey) -> str:
        return paths.offset(self._group, *key)
