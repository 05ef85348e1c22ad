"""What a restless cluster does to its topics: leaders, ISRs and configs change, topics come and go.

Every change is one write. A topic that comes takes several, in Kafka's order, and as many when it goes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from bench import tree, wire
from bench.sizes import Shape

_PASSING = 20  # topics that come and go
_OPEN_ACL = b"\0\0\0\1\0\0\0\x1f\0\0\0\x05world\0\0\0\x06anyone"


class Write(NamedTuple):
    """One request: its opcode and body."""

    operation: int
    body: bytes


def writes(shape: Shape, seed: int) -> Iterator[Write]:
    """Writes without end, for a tree of this shape as it was generated."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    passing = Passing(shape, chance)
    epoch = 100
    while True:
        epoch += 1
        if chance.random() < 0.05:
            yield from passing.turn()
        else:
            yield _state(shape, chance, epoch)


class Passing:
    """The topics that come and go, none of which are in the tree at first."""

    def __init__(self, shape: Shape, chance: random.Random) -> None:
        self._shape = shape
        self._chance = chance
        self._here: set[str] = set()

    def turn(self) -> Iterator[Write]:
        """Create one of them, or delete it."""
        name = f"passing-{self._chance.randrange(_PASSING):02}"
        root = f"/brokers/topics/{name}"
        znodes = [
            (f"/config/topics/{name}", b'{"version":1,"config":{}}'),
            (root, b'{"version":3,"partitions":{"0":[1,2,3]},"adding_replicas":{},"removing_replicas":{}}'),
            (f"{root}/partitions", b""),
            (f"{root}/partitions/0", b""),
            (f"{root}/partitions/0/state", tree.state(1, [1, 2, 3])),
        ]
        if name in self._here:
            yield from (Write(wire.DELETE, wire.delete(path.encode())) for path, _ in reversed(znodes))
        else:
            yield from (Write(wire.CREATE, create(path.encode(), data)) for path, data in znodes)
        self._here ^= {name}


def create(path: bytes, data: bytes) -> bytes:
    """The body of a create that is open to everybody and persistent."""
    return wire.text(path) + wire.text(data) + _OPEN_ACL + b"\0\0\0\0"


def _state(shape: Shape, chance: random.Random, epoch: int) -> Write:
    """A partition with another leader and ISR: now and then without a leader, or with a small ISR."""
    topic, partition = chance.randrange(shape.topics), chance.randrange(shape.partitions)
    replicas = tree.replicas(topic, partition)
    luck = chance.random()
    isr = replicas if luck < 0.9 else replicas[:2]
    leader = -1 if luck > 0.98 else chance.choice(isr)
    path = f"/brokers/topics/{tree.topic_name(topic)}/partitions/{partition}/state"
    data = tree.state(leader, isr, leader_epoch=epoch)
    return Write(wire.SET_DATA, wire.set_data(path.encode(), data))
