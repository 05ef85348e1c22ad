"""Faults planted in a real ZooKeeper, and what the checks say of the cluster that is read from there."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kazoo.security import ACL, OPEN_ACL_UNSAFE

from tests.conftest import Chroot
from zkdash.cluster import checks
from zkdash.cluster.checks import CheckContext, Observations, Silence, Thresholds, assignment_audit
from zkdash.cluster.checks.facts import NONE, Facts
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.kafka import paths
from zkdash.zk.config import ClusterConfig, parse_address
from zkdash.zk.connection.session import Session
from zkdash.zk.mirror.mirror import Mirror
from zkdash.znode import Batch

_LIMIT_S = 20.0


class Planted(NamedTuple):
    """A znode to be created, with its parents."""

    data: bytes | None = None
    ephemeral: bool = False
    acl: tuple[ACL, ...] = tuple(OPEN_ACL_UNSAFE)


Tree = dict[str, Planted]


class Case(NamedTuple):
    """A fault and its neighbour.

    `fault` is planted over the healthy cluster (`trees.HEALTHY`); `causes` are the names that the check must
    give, all of them and no other. `neighbour` is as close to the fault as a healthy cluster may be. `gone`
    are paths of the healthy cluster that the fault lacks. `after` is how many seconds later it is looked at
    once more, None for one that holds as soon as it was confirmed. `facts` are what is known beside the
    znodes, of the fault and of the neighbour.
    """

    check: str
    fault: Tree
    causes: frozenset[str]
    neighbour: Tree
    gone: tuple[str, ...] = ()
    after: float | None = None
    facts: tuple[Facts, Facts] = (NONE, NONE)


def of(check: str, causes: Iterable[str], fault: Tree, neighbour: Tree, **more: object) -> Case:
    """A case, its causes as any iterable of names."""
    return Case(check, fault, frozenset(causes), neighbour, **more)  # type: ignore[arg-type]


def text(data: str | None, *, ephemeral: bool = False) -> Planted:
    return Planted(None if data is None else data.encode(), ephemeral)


def document(fields: Mapping[str, object], *, ephemeral: bool = False) -> Planted:
    return Planted(json.dumps(fields).encode(), ephemeral)


def plant(chroot: Chroot, tree: Tree) -> None:
    """Create the znodes of a tree with what stands above them, in one ZooKeeper transaction."""
    every = dict(tree)
    for path in tree:
        parent = path.rpartition("/")[0]
        while parent:
            every.setdefault(parent, Planted())
            parent = parent.rpartition("/")[0]
    grow(chroot, every)


def grow(chroot: Chroot, tree: Tree) -> None:
    """Create znodes whose parents are there, in one ZooKeeper transaction."""
    transaction = chroot.client.transaction()
    for path in sorted(tree):
        data, ephemeral, acl = tree[path]
        transaction.create(path, b"" if data is None else data, acl=list(acl), ephemeral=ephemeral)
    failed = [result for result in transaction.commit() if isinstance(result, Exception)]
    assert not failed, failed


def read(chroot: Chroot) -> ClusterState:
    """The cluster as a mirror reads it whole."""
    sink = _Sink()
    servers, path = parse_address(chroot.address)
    mirror = Mirror(
        ClusterConfig("planted", servers, path), roots=paths.ROOTS, sink=sink, jitter=lambda _low, _high: 0.0
    )
    mirror.start()
    try:
        assert sink.whole.wait(_LIMIT_S), "the cluster was not read"
    finally:
        mirror.stop()
    return sink.state


def causes(state: ClusterState, check: str, facts: Facts = NONE) -> frozenset[str] | None:
    """The names that a check gives now, held or not."""
    sight = CheckContext(
        state, facts, survey=assignment_audit.look(assignment_audit.EMPTY, state), now=time.time()
    )
    found = checks.BY_ID[check].causes(sight)
    return None if isinstance(found, Silence) else frozenset(found)


def watched(state: ClusterState, check: str, after: float | None = None, facts: Facts = NONE) -> Observations:
    """What is raised once the check's own time has gone by: looked at now and `after` seconds later."""
    now = time.time()
    thresholds = Thresholds()
    hold = max(thresholds.confirm, checks.BY_ID[check].holds_for(thresholds)) if after is None else after
    seen = checks.observe(Observations(), state, now, facts)
    return checks.observe(seen, state, now + hold, facts)


class _Sink:
    """Folds the batches of a mirror into a state."""

    def __init__(self) -> None:
        self.state = ClusterState()
        self.whole = threading.Event()

    def batch(self, batch: Batch) -> None:
        self.state, _ = advance.advance(self.state, batch)
        if batch.whole:
            self.whole.set()

    def session(self, session: Session) -> None:
        pass

    def tick(self, now_wall: float) -> None:
        pass
