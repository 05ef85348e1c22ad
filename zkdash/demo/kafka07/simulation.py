"""The simulated cluster of Kafka 0.7 as a whole: brokers with their topics, and consumer groups.

Everything it writes has the form that a real cluster of 0.7.2 wrote. Nobody is in charge: consumers watch
what brokers register.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from zkdash.demo import base_cluster
from zkdash.demo.kafka07 import feed
from zkdash.demo.kafka07.broker import Broker07
from zkdash.demo.kafka07.definitions import BrokerConfig07, ClusterDefinition07
from zkdash.demo.runtime import clock


class Simulation07(base_cluster.BaseCluster):
    """A cluster at `address` (host:port, with or without a chroot). The same seed makes the same happen.

    See `BaseCluster` for the arguments, and for what may be done to brokers and groups.
    """

    def __init__(
        self,
        address: str,
        *,
        seed: int = 1,
        definition: ClusterDefinition07 = feed.FEED,
        time: clock.Clock | None = None,
        after_task: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(address, definition.groups, seed=seed, time=time, after_task=after_task)
        self._address = address
        self.brokers: dict[int, Broker07] = {
            config.id: self._new_broker(config) for config in definition.brokers
        }

    def serve(self, topic: str, partitions: Mapping[int, int]) -> None:
        """A topic's first messages reach brokers; `partitions` is how many each of them makes, by its id."""

        def make_logs() -> None:
            for broker_id, count in partitions.items():
                self.brokers[broker_id].serve(topic, count)

        self.loop.run(make_logs)

    def _start(self) -> None:
        for each in self.brokers.values():
            each.start()
        self.groups.start()

    def _new_broker(self, config: BrokerConfig07) -> Broker07:
        made = Broker07(
            config,
            self._address,
            loop=self.loop,
            time=self.time,
            on_lost=lambda: self._session_lost(config.id),
        )
        self._restart_when_lost(config.id, made.stop)
        return made
