"""The offsets of one consumer under /consumers/G/offsets: read at a claim, committed later."""

from __future__ import annotations

from collections.abc import Collection
from random import Random

from zkdash.demo import session

Partition = tuple[str, int]


class Offsets:
    """Positions of the partitions that a consumer owns, and messages that come in by chance."""

    def __init__(self, zookeeper: session.Session, group: str, random: Random) -> None:
        self._zookeeper = zookeeper
        self._root = f"/consumers/{group}/offsets"
        self._random = random
        self._positions: dict[Partition, int | None] = {}

    def claim(self, owned: Collection[Partition]) -> None:
        """Go on from what was committed last; a partition without an offset begins at 0."""
        reads = self._zookeeper.get_all([self._path(key) for key in owned])
        self._positions = {
            key: None if read is None else int(read.data) for key, read in zip(owned, reads, strict=True)
        }

    def commit(self) -> None:
        """Set the offset of each partition on which messages came; the first commit creates it."""
        moved = {
            key: (offset or 0) + self._random.randrange(1, 400)
            for key, offset in self._positions.items()
            if self._random.random() < 0.7
        }
        if not moved:
            return
        topics = dict.fromkeys(topic for topic, _ in moved)
        parents = [self._root, *(f"{self._root}/{topic}" for topic in topics)]
        make, put = self._zookeeper.making, self._zookeeper.setting
        fresh = [key for key in moved if self._positions[key] is None]
        if fresh:
            self._zookeeper.commit([make(path, None)] for path in parents)
        self._zookeeper.commit(
            [
                make(self._path(key), _text(offset))
                if key in fresh
                else put(self._path(key), _text(offset), -1)
            ]
            for key, offset in moved.items()
        )
        self._positions |= moved

    def _path(self, key: Partition) -> str:
        return f"{self._root}/{key[0]}/{key[1]}"


def _text(offset: int) -> bytes:
    return str(offset).encode()
