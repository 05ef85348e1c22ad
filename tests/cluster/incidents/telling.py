"""What incidents hold, for tests to compare: a story from trees, and counts over its raw changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests import recorded
from tests.cluster import small
from zkdash.cluster import changes
from zkdash.cluster.changes import Change
from zkdash.cluster.incidents import Incident, Incidents, fold, in_order
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.znode import Batch, Znode

START = 1_800_000_000_000


class Story:
    """A cluster that goes from tree to tree, and what that folds into, at a time of its own (epoch ms)."""

    def __init__(self, *trees: small.AnyTree) -> None:
        self.now = START
        self.state = small.built(*trees)
        self.incidents = Incidents()
        self.told: list[Change] = []

    def then(self, *trees: small.AnyTree, after_s: float = 1.0) -> Story:
        """One reading more."""
        self.now += int(after_s * 1000)
        merged: small.Tree = {}
        for tree in trees:
            merged |= {path: small.at(read, self.now) for path, read in tree.items()}
        batch = Batch(merged, self.state.zxid + 1)
        after, _ = advance.advance(self.state, batch)
        reading = in_order(changes.of_batch(self.state, after, batch, now_ms=self.now))
        self.state, self.incidents = after, fold(self.incidents, reading)
        self.told += reading
        return self

    @property
    def kinds(self) -> list[tuple[str, str, bool]]:
        return [about(one) for one in reversed(self.incidents.newest)]


def recorded_story(*names: str) -> tuple[Incidents, list[Change]]:
    """What happened between recorded trees of one cluster: all that differs is one reading a tree."""
    state, incidents, told = ClusterState(), Incidents(), list[Change]()
    before: dict[str, Znode] = {}
    for name in names:
        tree = recorded.load(name)
        changed: small.Tree = {path: None for path in before if path not in tree}
        changed |= {path: znode for path, znode in tree.items() if before.get(path) != znode}
        batch = Batch(changed, max(znode.mzxid for znode in tree.values()), whole=not before)
        after, _ = advance.advance(state, batch)
        reading = in_order(changes.of_batch(state, after, batch, now_ms=recorded.taken_ms(name)))
        state, incidents, before = after, fold(incidents, reading), tree
        told += reading
    return incidents, told


def rows(incidents: Incidents) -> Sequence[Change]:
    """Every change that an incident keeps."""
    return [change for one in incidents.newest for change in one.rows]


def replicas(changes_: Iterable[Change]) -> tuple[int, int]:
    """How many replicas left an ISR and came back, read from what each row says was in it."""
    left = back = 0
    for change in changes_:
        if change.path.endswith("/state") and "ISR" in change.what.split()[-1]:
            was, now = ({*(text or "").split(", ")} - {""} for text in (change.before, change.after))
            left, back = left + len(was - now), back + len(now - was)
    return left, back


def leaders(changes_: Iterable[Change]) -> tuple[int, int, int]:
    """How many leaders moved to another broker, were lost, and were found again."""
    rows_ = [change for change in changes_ if change.path.endswith("/state")]
    rows_ = [change for change in rows_ if not change.what.endswith(" ISR")]
    moved = sum(row.before is not None and row.after is not None for row in rows_)
    lost = sum(row.after is None for row in rows_)
    return moved, lost, sum(row.before is None for row in rows_)


def about(one: Incident) -> tuple[str, str, bool]:
    return one.kind.value, one.subject, one.ended is None
