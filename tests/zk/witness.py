"""What tests hold a mirror against: a sink that folds batches and judges them, and a walk of its own."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError
from kazoo.security import OPEN_ACL_UNSAFE

from tests.waiting import wait_for
from zkdash.zk.config import ClusterConfig, parse_address
from zkdash.zk.connection.identity import Identity
from zkdash.zk.connection.session import Phase, Session
from zkdash.zk.mirror import offsets
from zkdash.zk.mirror.mirror import Mirror
from zkdash.znode import Batch, Unreadable, Znode

OPEN = OPEN_ACL_UNSAFE

Seen = tuple[bytes | None, int]


class Witness:
    """A sink: `state` is what the batches add up to, `faults` what in their history must not be.

    `twins` are two paths that a writer only changes together, in one ZooKeeper multi.
    """

    def __init__(self, twins: tuple[str, str] | None = None) -> None:
        self.state: dict[str, Znode | Unreadable] = {}
        self.batches: list[Batch] = []
        self.sessions: list[Session] = []
        self.faults: list[str] = []
        self.ticks = 0
        self.is_whole = False
        self._twins = twins
        self._highest: dict[str, tuple[int, int]] = {}
        self._lock = threading.Lock()

    def batch(self, batch: Batch) -> None:
        with self._lock:
            if not self.batches and not batch.whole:
                self.faults.append("the first batch is not whole")
            self.batches.append(batch)
            for path, value in batch.changed.items():
                self._judge(path, value)
                if value is None:
                    self.state.pop(path, None)
                else:
                    self.state[path] = value
            if self._twins and not batch.settling:
                one, other = (self.state.get(path) for path in self._twins)
                if _data(one) != _data(other):
                    self.faults.append(f"a multi shows in part: {_data(one)!r}, {_data(other)!r}")

    def session(self, session: Session) -> None:
        self.sessions.append(session)

    def tick(self, now_wall: float) -> None:
        self.ticks += 1

    def seen(self) -> dict[str, Seen]:
        """Data and version by path, as published."""
        with self._lock:
            return {
                path: (value.data, value.version)
                for path, value in self.state.items()
                if isinstance(value, Znode)
            }

    def get(self, path: str) -> Znode | Unreadable | None:
        with self._lock:
            return self.state.get(path)

    def _judge(self, path: str, value: Znode | Unreadable | None) -> None:
        if not isinstance(value, Znode):
            return
        now, before = (value.czxid, value.mzxid), self._highest.get(path, (0, 0))
        if now < before:
            self.faults.append(f"{path} went back from {before} to {now}")
        self._highest[path] = now


def _data(value: Znode | Unreadable | None) -> bytes | None:
    return value.data if isinstance(value, Znode) else None


class Difference(NamedTuple):
    """Paths that the mirror lacks, has too much, or holds with other data or version."""

    missing: list[str]
    ghost: list[str]
    stale: list[str]

    @property
    def is_none(self) -> bool:
        return not (self.missing or self.ghost or self.stale)


def walk(client: KazooClient, roots: Iterable[str]) -> dict[str, Seen]:
    """Everything below the roots, read with kazoo's own calls and nothing of ours."""
    client.sync("/")
    found: dict[str, Seen] = {}
    level = list(roots)
    while level:
        reads = [(path, client.get_async(path), client.get_children_async(path)) for path in level]
        level = []
        for path, data, children in reads:
            try:
                value, stat = data.get(timeout=60)
                names = children.get(timeout=60)
            except NoNodeError:
                continue
            found[path] = (value, stat.version)
            level.extend(f"{path.rstrip('/')}/{name}" for name in names)
    return found


def difference(mirror: Mapping[str, Seen], zookeeper: Mapping[str, Seen]) -> Difference:
    return Difference(
        missing=sorted(zookeeper.keys() - mirror.keys()),
        ghost=sorted(mirror.keys() - zookeeper.keys()),
        stale=sorted(p for p in zookeeper.keys() & mirror.keys() if zookeeper[p] != mirror[p]),
    )


def no_jitter(low: float, high: float) -> float:
    """The jitter of tests: none."""
    return 0.0


@contextlib.contextmanager
def mirroring(
    address: str,
    roots: Sequence[str],
    *,
    session_timeout_s: float = 2.0,
    sink: Witness | None = None,
    auth: tuple[str, str] | None = None,
) -> Iterator[tuple[Mirror, Witness]]:
    """A started mirror of an address, stopped at the end."""
    servers, chroot = parse_address(address)
    identity = Identity(*auth) if auth else Identity()
    config = ClusterConfig("test", servers, chroot, identity, session_timeout_s)
    witness = sink or Witness()
    mirror = Mirror(config, roots=roots, sink=witness, jitter=no_jitter)
    mirror.start()
    try:
        yield mirror, witness
    finally:
        mirror.stop()


def wait_live(mirror: Mirror, limit_s: float = 60.0) -> None:
    wait_for(lambda: mirror.session.phase is Phase.LIVE, limit_s, lambda: mirror.session)


def wait_proved(mirror: Mirror, limit_s: float = 60.0, delay_s: float | None = None) -> None:
    """Wait until the mirror proves that it knows all that happened until now, offsets too, which are late."""
    now = time.time() + (1.2 * offsets.DELAY_S if delay_s is None else delay_s)
    wait_for(
        lambda: mirror.session.phase is Phase.LIVE and (mirror.proved_at or 0.0) >= now,
        limit_s,
        lambda: (mirror.session, mirror.proved_at),
    )


def wait_phase(mirror: Mirror, *phases: Phase, limit_s: float = 60.0) -> Session:
    return wait_for(
        lambda: mirror.session if mirror.session.phase in phases else None, limit_s, lambda: mirror.session
    )


def wait_sees(
    witness: Witness, condition: Callable[[Mapping[str, Seen]], object], limit_s: float = 30.0
) -> None:
    wait_for(lambda: condition(witness.seen()), limit_s)
