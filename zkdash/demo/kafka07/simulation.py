"""The simulated cluster of Kafka 0.7 as a whole: brokers with their topics, and consumer groups.

Everything it writes has the form that a real cluster of 0.7.2 wrote. Nobody is in charge: consumers watch
what brokers register.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from zkdash.demo import base_cluster
from zkdash.demo.kafka07 import feed
from zkdash.demo.kafka07.broker import Broker07
from zkdash.demo.kafka07.definitions import BrokerSpec07, Catalogue07
from zkdash.demo.runtime import clock


class Simulation07(base_cluster.Story):
    """A cluster at `address` (host:port, with or without a chroot). The same seed tells the same story.

    See `story.Story` for the arguments, and for what may be done to brokers and groups.
    """

    def __init__(
        self,
        address: str,
        *,
        seed: int = 1,
        contents: Catalogue07 = feed.FEED,
        time: clock.Clock | None = None,
        after_step: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(address, contents.groups, seed=seed, time=time, after_step=after_step)
        self._address = address
        self.brokers: dict[int, Broker07] = {spec.id: self._new_broker(spec) for spec in contents.brokers}

    def serve(self, topic: str, partitions: Mapping[int, int]) -> None:
        """A topic's first messages reach brokers; `partitions` is how many each of them makes, by its id."""

        def reach() -> None:
            for broker_id, count in partitions.items():
                self.brokers[broker_id].serve(topic, count)

        self.steps.call(reach)

    def _start(self) -> None:
        for each in self.brokers.values():
            each.start()
        self.groups.start()

    def _new_broker(self, spec: BrokerSpec07) -> Broker07:
        made = Broker07(
            spec, self._address, steps=self.steps, time=self.time, on_lost=lambda: self._lost(spec.id)
        )
        self._await(spec.id, made.stop)
        return made
