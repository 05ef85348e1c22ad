"""Two moments beside one another: which znodes are others, and what the earlier tree meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.history.queries.neighbours import Instant
from zkdash.live.snapshot import Earlier
from zkdash.live.tree.znodes import mirrored
from zkdash.znode import Batch, Znode


class OrderError(ValueError):
    """The moment to compare with is not the earlier one."""


def check_order(before: Instant, after: Instant) -> None:
    """See that one moment is not later than another. Raises OrderError."""
    if before.zxid > after.zxid or before.time_ms > after.time_ms:
        raise OrderError


def meaning(znodes: Mapping[str, Znode], zxid: int) -> ClusterState:
    """What a whole tree means."""
    batch = Batch(mirrored(znodes), zxid, whole=True)
    state, _ = advance.advance(ClusterState(), batch)
    return state


def of_trees(
    instant: Instant, state: ClusterState, before: Mapping[str, Znode], after: Mapping[str, Znode]
) -> Earlier:
    """A moment of which the state and the whole tree are there, beside the tree of a later one."""
    return Earlier(state, instant, differing({*before, *after}, before, after))


def of_changed(
    instant: Instant,
    before: Mapping[str, Znode | None],
    later: ClusterState,
    after: Mapping[str, Znode],
) -> Earlier:
    """One of which those znodes are there that differ from a later state and its tree, if any do.

    `before` has them as they were then, None where they were not; and whatever else their changes touched.
    """
    state, _ = advance.advance(later, Batch(mirrored(before), instant.zxid))
    return Earlier(state, instant, differing(before, before, after))


def differing(
    paths: Iterable[str], before: Mapping[str, Znode | None], after: Mapping[str, Znode]
) -> dict[str, tuple[Znode | None, Znode | None]]:
    """The znodes of some paths that are not the same in two trees, by path, in its order: others than those
    whose data were written anew as they were, or of which only children came or went."""
    pairs = ((path, before.get(path), after.get(path)) for path in paths)
    # most are the same object
    return dict(
        sorted((path, (was, now)) for path, was, now in pairs if was is not now and _is_other(was, now))
    )


def _is_other(was: Znode | None, now: Znode | None) -> bool:
    if was is None or now is None:
        return was is not now
    return was.data != now.data or was.czxid != now.czxid or was.stat.aversion != now.stat.aversion
