"""Samples what only brokers know of one cluster: log ends, and offsets that groups keep in Kafka.

One thread with an event loop of its own. Nobody waits for it: it is told of brokers and leaders, and of what
somebody looks at, by pointers and a queue; its samples are read by one pointer.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping

from zkdash.broker.ledger import Ledger, Moved, Sampled
from zkdash.broker.pace import Pace
from zkdash.broker.resolver import Lookup, addresses
from zkdash.broker.rounds import Leaders, Needs, Rounds
from zkdash.broker.samples import Samples
from zkdash.configuration.brokers import IN_THE_CLEAR, Security
from zkdash.kafka.values import Broker

log = logging.getLogger(__name__)

STOP_LIMIT_S = 5.0
_NOTHING = Sampled()


def _unheard(_: Sampled) -> None:
    return None


class Sampler:
    """The sampler of one cluster. `on_change(moved)` is called on its thread, at most once in a while.

    `keeps_all` has all groups that brokers list asked about slowly, and the logs of their topics.
    `on_samples(sampled)` is called on its thread after each tick, whether or not anything was told anew;
    whatever it takes, no broker is asked meanwhile. `clock` gives monotonic seconds, `wall` epoch seconds,
    `lookup` the addresses of a host; `security` is how brokers are spoken to.
    """

    def __init__(
        self,
        cluster: str,
        *,
        on_change: Callable[[Moved], None],
        on_samples: Callable[[Sampled], None] = _unheard,
        keeps_all: bool = False,
        pace: Pace | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        lookup: Lookup = addresses,
        security: Security = IN_THE_CLEAR,
    ) -> None:
        self._cluster = cluster
        self._on_change = on_change
        self._on_samples = on_samples
        self._wall = wall
        self._pace = pace or Pace()
        self._clock = clock
        self._lookup = lookup
        self._security = security
        self._ledger = Ledger(wall)
        self._needs = Needs(keeps_all=keeps_all)
        self._announced_at = float("-inf")
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"sampler {cluster}", daemon=True)

    @property
    def samples(self) -> Samples:
        """What is known now: one immutable whole."""
        return self._ledger.samples

    def start(self) -> None:
        """Start the thread; nobody is asked anything before somebody wants it."""
        self._thread.start()

    def stop(self) -> None:
        """Stop asking, close the connections and wait for the thread's end."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(STOP_LIMIT_S)

    def update(self, brokers: Mapping[int, Broker], leaders: Leaders, topics: Collection[str] = ()) -> None:
        """Tell of the registered brokers, of who leads what, and of the names of all topics; all immutable,
        a pointer each.

        A broker whose registration changed is asked afresh, whatever its breaker said.
        """
        self._needs.world = (brokers, leaders, topics)

    def want(self, topics: Collection[str] = (), groups: Mapping[str, Collection[str]] = {}) -> None:
        """Somebody looks at these now; call again at least every `pace.lease_s` while they do.

        `groups` maps a group to the topics that it is known to use: brokers before 0.10.2 tell commits of
        named topics only. Where none is known they are asked about all, slowly.
        """
        self._needs.wanted.append((topics, groups))

    def want_listing(self) -> None:
        """Somebody looks at the names of all groups; call again as for `want`. Asked each `slow_s`."""
        self._needs.listing = True

    def keep(self, topics: Collection[str], groups: Mapping[str, Collection[str]]) -> None:
        """Name all that is worth a slow round though nobody looks; immutable, replaces what was named."""
        self._needs.kept = (topics, groups)

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except Exception:
            log.exception("Cluster %s: the sampler ended", self._cluster)

    async def _main(self) -> None:
        rounds = Rounds(
            self._needs,
            self._ledger,
            pace=self._pace,
            clock=self._clock,
            wall=self._wall,
            lookup=self._lookup,
            security=self._security,
        )
        try:
            while not self._stopping.is_set():
                try:
                    await rounds.tick()
                    self._announce()
                except Exception:
                    log.exception("Cluster %s: a round of the sampler failed", self._cluster)
                await asyncio.sleep(self._pace.tick_s)
        finally:
            await rounds.stop()

    def _announce(self) -> None:
        # First what is made of samples, so that who hears that they moved finds it made.
        self._on_samples(self._ledger.sampled() or _NOTHING)
        now = self._clock()
        if now - self._announced_at < self._pace.announce_s:
            return
        self._announced_at = now
        moved = self._ledger.moved()
        if moved:
            self._on_change(moved)
