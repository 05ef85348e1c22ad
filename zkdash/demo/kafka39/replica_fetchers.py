"""Copying whole logs to new replicas: how far each copy is, by the clock. Pure.

Every broker takes, and sends, so many bytes a second, shared evenly by the copies that run; a throttle is
shared by those that it names. What a replica has fetched stays with it when the controller, or it, restarts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping

from zkdash.demo.kafka39.throttles import Throttles
from zkdash.demo.kafka39.topic_partition import TopicPartition

NETWORK_BYTES_S = 500e6

Copy = tuple[TopicPartition, int]  # the partition, and the broker that fetches it
_Broker = tuple[int, bool]  # a broker, and whether it takes (or sends) the copy
_Limit = tuple[_Broker, float]


class Copies:
    """The copies of a cluster, whoever is its controller. `size` tells how many bytes a log holds."""

    def __init__(self, size: Callable[[str, int], int]) -> None:
        self.throttles = Throttles()
        self._size = size
        self._fetched: dict[Copy, float] = {}
        self._flowing: Mapping[Copy, int] = {}
        self._at = 0.0

    @property
    def is_flowing(self) -> bool:
        """Whether any copy runs since the last call of `advance`."""
        return bool(self._flowing)

    def advance(self, now: float, moving: Collection[Copy], flowing: Mapping[Copy, int]) -> list[Copy]:
        """Let time pass up to `now`, and return the copies that are whole.

        `moving` are all that are wanted: others are given up, and begin anew when they are wanted again.
        `flowing` are those of them that can run from now on, and the leader that each is fetched from.
        """
        elapsed, self._at = now - self._at, now
        rates = self._rates()
        self._fetched = {
            copy: self._fetched.get(copy, 0.0) + elapsed * rates.get(copy, 0.0) for copy in moving
        }
        whole = [copy for copy in flowing if self._fetched[copy] >= self._size(*copy[0])]
        self._flowing = {copy: leader for copy, leader in flowing.items() if copy not in whole}
        return whole

    def _rates(self) -> dict[Copy, float]:
        """Bytes a second of each copy that has been running since the last call."""
        limits = {copy: self._limits(copy, leader) for copy, leader in self._flowing.items()}
        sharing = Counter(limit for of in limits.values() for limit in of)
        return {copy: min(limit[1] / sharing[limit] for limit in of) for copy, of in limits.items()}

    def _limits(self, copy: Copy, leader: int) -> list[_Limit]:
        """What bounds a copy: the networks of both brokers, and their throttles where these name it."""
        key, follower = copy
        taking, sending = (follower, True), (leader, False)
        told = [
            (taking, self.throttles.arriving(key, follower)),
            (sending, self.throttles.leaving(key, leader)),
        ]
        return [
            (taking, NETWORK_BYTES_S),
            (sending, NETWORK_BYTES_S),
            *((broker, rate) for broker, rate in told if rate is not None),
        ]
