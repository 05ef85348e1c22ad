"""One member of an old (ZooKeeper) consumer group: a process that joins and leaves."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from zkdash.demo import agenda, clock, connector, documents, session
from zkdash.demo.specs import GroupSpec


class Member:
    """A consumer process. `join` after `leave` is a new process, with a new consumer id."""

    def __init__(
        self,
        group: GroupSpec,
        threads: int,
        address: str,
        *,
        steps: agenda.Agenda,
        time: clock.Clock,
        random: Random,
        on_lost: Callable[[], None],
    ) -> None:
        self.group = group
        self._threads = threads
        self._address = address
        self._steps = steps
        self._time = time
        self._random = random
        self._on_lost = on_lost
        self._session: session.Session | None = None
        self._connector: connector.Connector | None = None

    @property
    def is_running(self) -> bool:
        return self._session is not None

    def join(self) -> None:
        """Connect, register, and take part in the group."""
        zookeeper = self._session = session.Session(self._address, steps=self._steps, on_lost=self._on_lost)
        zookeeper.start()
        consumer_id, root = self._new_id(), f"/consumers/{self.group.name}"
        zookeeper.create(root, b"")
        zookeeper.create(f"{root}/ids", b"")
        zookeeper.create(f"{root}/ids/{consumer_id}", self._registration(), ephemeral=True)
        self._connector = connector.Connector(
            zookeeper, self.group, consumer_id, steps=self._steps, random=self._random
        )
        self._connector.start()

    def leave(self, *, commit: bool = True) -> None:
        """End the process, as a rule after a last commit; registration and owners go with the session."""
        left, self._session = self._session, None
        if left is None:
            return
        try:
            if self._connector is not None:
                self._connector.stop(commit=commit)
        finally:
            left.close()

    def _registration(self) -> bytes:
        names = self.group.topics if self.group.white_list is None else (self.group.white_list,)
        return documents.registration(
            dict.fromkeys(names, self._threads),
            pattern="static" if self.group.white_list is None else "white_list",
            timestamp_ms=self._time.wall_ms(),
        )

    def _new_id(self) -> str:
        """`<group>_<host>-<epoch ms>-<8 hex>`, as the consumer makes it."""
        host = f"app-{self._random.randrange(10, 100)}.shop.internal"
        return f"{self.group.name}_{host}-{self._time.wall_ms()}-{self._random.randbytes(4).hex()}"
