"""What a page reads: one cluster at one revision, with the session that it came through."""

from __future__ import annotations

import msgspec

from zkdash.cluster.changes import Change
from zkdash.cluster.checks import Finding
from zkdash.cluster.state import ClusterState
from zkdash.zk.session import Session


class Touched(msgspec.Struct, frozen=True):
    """What a revision changed: pages are rendered again only when it meets what they show.

    Areas: "session", "brokers", "controller", "topics", "groups", "admin", "problems", "findings", "changes".
    `topics` and `groups` name the ones that changed; `everything` is True after a whole batch.
    """

    areas: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    everything: bool = False

    def __or__(self, other: Touched) -> Touched:
        return Touched(
            self.areas | other.areas,
            self.topics | other.topics,
            self.groups | other.groups,
            self.everything or other.everything,
        )


class Snapshot(msgspec.Struct, frozen=True):
    """One cluster as pages see it.

    `revision` counts from 1 in this process and grows with every change of what is shown. `as_of` is the
    epoch second up to which ZooKeeper proved the state true (None before the first load), `stale` is
    True when that is over 3 s ago. `findings` are raised checks, worst first; `passing` the ids of
    checks that hold nothing against the cluster. `changes` are the newest first.
    """

    cluster: str
    address: str
    revision: int
    state: ClusterState
    session: Session
    as_of: float | None
    stale: bool
    findings: tuple[Finding, ...] = ()
    passing: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
