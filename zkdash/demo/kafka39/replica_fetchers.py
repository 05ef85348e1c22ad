"""Fetching whole logs to new replicas, and how far each fetch is by the clock. Pure.

Every broker receives, and sends, so many bytes a second, shared evenly by the fetches that run; a throttle is
shared by those that it names. What a replica has fetched stays with it when the controller, or it, restarts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping

from zkdash.demo.kafka39.throttles import Throttles
from zkdash.demo.kafka39.topic_partition import PartitionAndReplica

NETWORK_BYTES_S = 500e6

_Broker = tuple[int, bool]  # a broker, and whether it receives (or sends)
_Limit = tuple[_Broker, float]


class ReplicaFetchers:
    """The fetches of a cluster, whoever is its controller. `size` tells how many bytes a log holds."""

    def __init__(self, size: Callable[[str, int], int]) -> None:
        self.throttles = Throttles()
        self._size = size
        self._fetched: dict[PartitionAndReplica, float] = {}
        self._running: Mapping[PartitionAndReplica, int] = {}
        self._at = 0.0

    @property
    def is_fetching(self) -> bool:
        """Whether any fetch runs since the last call of `advance`."""
        return bool(self._running)

    def advance(
        self, now: float, wanted: Collection[PartitionAndReplica], running: Mapping[PartitionAndReplica, int]
    ) -> list[PartitionAndReplica]:
        """Let time pass up to `now`, and return the fetches that are complete.

        Of fetches that are not `wanted` nothing is kept: they begin anew when they are wanted again.
        `running` are those of the wanted that can run from now on, with the leader that each fetches from.
        """
        elapsed, self._at = now - self._at, now
        rates = self._rates()
        self._fetched = {
            fetch: self._fetched.get(fetch, 0.0) + elapsed * rates.get(fetch, 0.0) for fetch in wanted
        }
        complete = [fetch for fetch in running if self._fetched[fetch] >= self._size(*fetch[0])]
        self._running = {fetch: leader for fetch, leader in running.items() if fetch not in complete}
        return complete

    def _rates(self) -> dict[PartitionAndReplica, float]:
        """Bytes a second of each fetch that has been running since the last call."""
        limits = {fetch: self._limits(fetch, leader) for fetch, leader in self._running.items()}
        sharing = Counter(limit for bounds in limits.values() for limit in bounds)
        return {fetch: min(limit[1] / sharing[limit] for limit in bounds) for fetch, bounds in limits.items()}

    def _limits(self, fetch: PartitionAndReplica, leader: int) -> list[_Limit]:
        """What bounds a fetch: the networks of both brokers, and their throttles where these name it."""
        key, follower = fetch
        receiver, sender = (follower, True), (leader, False)
        throttles = [
            (receiver, self.throttles.follower_rate(key, follower)),
            (sender, self.throttles.leader_rate(key, leader)),
        ]
        return [
            (receiver, NETWORK_BYTES_S),
            (sender, NETWORK_BYTES_S),
            *((broker, rate) for broker, rate in throttles if rate is not None),
        ]
