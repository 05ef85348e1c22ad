"""One member of an old (ZooKeeper) consumer group: a process that joins and leaves."""

from __future__ import annotations

from random import Random

from zkdash.demo.consumers import connector, offsets, registration
from zkdash.demo.consumers.configs import ConsumerConfig
from zkdash.demo.consumers.connector import Timing
from zkdash.demo.runtime import clock, event_loop, restarter, session
from zkdash.kafka import paths
from zkdash.kafka.values import Layout


class RegisteredError(RuntimeError):
    """The consumer id is registered by another session, as a rule by this consumer's earlier one."""


class Member:
    """A consumer process. `join` after `leave` is a new process, with a new consumer id.

    A session that expires, or whose connection is lost, is followed by a new one under the same consumer
    id, with nothing remembered. `address` is host:port, with or without a chroot. `next_offset`
    tells how far it reads, by default at random.
    """

    def __init__(
        self,
        config: ConsumerConfig,
        address: str,
        *,
        loop: event_loop.EventLoop,
        time: clock.Clock,
        random: Random,
        next_offset: offsets.NextOffset | None = None,
        timing: Timing = Timing(),  # noqa: B008 - frozen
        return_s: float = restarter.RETURN_S,
    ) -> None:
        self.config = config
        self.consumer_id: str | None = None
        self._address = address
        self._loop = loop
        self._time = time
        self._random = random
        random_offsets = offsets.random_offsets_07 if config.layout is Layout.V07 else offsets.random_offsets
        self._next_offset = next_offset or random_offsets(random)
        self._timing = timing
        self._session: session.Session | None = None
        self._connector: connector.ZookeeperConsumerConnector | None = None
        self._restarter = restarter.Restarter(loop, stop=self._end, start=self._start, after_s=return_s)

    @property
    def is_running(self) -> bool:
        """Whether it has joined and not left; one that hangs, or waits for ZooKeeper, runs."""
        return self.consumer_id is not None

    @property
    def is_idle(self) -> bool:
        """Whether its latest rebalance failed for good: registered, and owning nothing."""
        return self._connector is not None and self._connector.is_idle

    @property
    def attempts(self) -> int:
        """How often its latest rebalance was tried."""
        return 0 if self._connector is None else self._connector.attempts

    @property
    def zookeeper(self) -> session.Session:
        """The member's session. Raises RuntimeError while it has none."""
        if self._session is None:
            message = f"no consumer of {self.config.group} has a session here"
            raise RuntimeError(message)
        return self._session

    def join(self) -> None:
        """Connect, register, and take part in the group. Raises RegisteredError where the id is taken."""
        self.consumer_id = self._new_id()
        try:
            self._start()
        except Exception:
            self.leave(commit=False)
            raise

    def leave(self, *, commit: bool = True) -> None:
        """End the process, as a rule after a last commit; registration and owners go with the session."""
        self._restarter.cancel()
        self.consumer_id = None
        self._end(commit=commit)

    def hang(self, *, expires_after_s: float, wakes_after_s: float) -> None:
        """Stop acting, as in a long collection of garbage: ZooKeeper gives the session up meanwhile.

        An expired session and a closed one end in the same transaction, so it is closed then.
        """
        if self._session is None or self._connector is None:
            return
        self._connector.stop(commit=False)
        self._connector = None
        self._session.silence()
        self._loop.call_later(expires_after_s, self._session.close)
        self._restarter.start_in(wakes_after_s)

    def _start(self) -> None:
        """A session, the registration, and a connector that remembers nothing."""
        self._end()
        self._session = session.Session(
            self._address,
            loop=self._loop,
            on_lost=self._restarter.restart,
            timeout_s=self._timing.session_s,
        )
        self._session.start()
        consumer_id = self._register(self._session)
        self._connector = connector.ZookeeperConsumerConnector(
            self._session,
            self.config,
            consumer_id,
            loop=self._loop,
            next_offset=self._next_offset,
            timing=self._timing,
        )
        self._connector.start()

    def _end(self, *, commit: bool = False) -> None:
        ended, self._session = self._session, None
        stopped, self._connector = self._connector, None
        try:
            if stopped is not None:
                stopped.stop(commit=commit)
        finally:
            if ended is not None:
                ended.close()

    def _register(self, zookeeper: session.Session) -> str:
        root, consumer_id = paths.group(self.config.group), self.consumer_id or ""
        zookeeper.create(paths.CONSUMERS, None)
        zookeeper.create(root, self.config.directory)
        zookeeper.create(f"{root}/ids", self.config.directory)
        path = paths.member(self.config.group, consumer_id)
        if not zookeeper.create(path, self._registration(), ephemeral=True):
            raise RegisteredError(f"{consumer_id} is registered already, by another session")
        return consumer_id

    def _registration(self) -> bytes:
        config = self.config
        if config.layout is Layout.V07:
            return registration.encode_07(config.subscription, pattern=config.pattern)
        return registration.encode(
            config.subscription, pattern=config.pattern, timestamp_ms=self._time.wall_ms()
        )

    def _new_id(self) -> str:
        """`<group>_<host>-<epoch ms>-<8 hex>`, as the consumer makes it, or with what consumer.id says."""
        made = f"{self.config.host}-{self._time.wall_ms()}-{self._random.randbytes(4).hex()}"
        return f"{self.config.group}_{self.config.consumer_id or made}"
