"""The tree as it was after a transaction: the newest checkpoint before it, and the changes since.

A snapshot is fuzzy: it holds all up to `zxid` and perhaps some up to `zxid_upto`, so it serves for moments
from `zxid_upto` on only. What is missing in between is never guessed: MomentError says so. Where no logs
cover a moment, the recorder's changes tell it, as far as a watcher can: of Kafka's znodes alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from zkdash.cluster.changes import row
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.history.places.location import Location
from zkdash.history.queries import trees
from zkdash.history.store import watching
from zkdash.history.store.tables import Tables
from zkdash.znode import Batch, Znode

# What a moment is read of.
TABLES: Final = ("changes", "coverage", "znodes_checkpoint", watching.NAME)
_FROM_START: Final = 0  # with no checkpoint: every transaction there ever was is in the tables
_COUNTER: Final = (1 << 32) - 1


class MomentError(LookupError):
    """The tree at that moment cannot be told; one sentence says why.

    `near_ms` are the moments next to it that can (epoch ms), as far as they are known.
    """

    def __init__(self, sentence: str, *near_ms: int) -> None:
        super().__init__(sentence)
        self.near_ms = near_ms


class Moment(msgspec.Struct, frozen=True):
    """The whole tree under the chroot after transaction `zxid`; `checkpoint` is where the changes began.

    `source` says whose changes they were: `row.LOGGED` or `row.WATCHED`.
    """

    zxid: int
    checkpoint: int
    znodes: dict[str, Znode]
    source: str = row.LOGGED

    @property
    def batch(self) -> Batch:
        return Batch(changed=self.znodes, zxid=self.zxid, whole=True)

    def state(self) -> ClusterState:
        """What the tree means, by the same layouts as live."""
        state, _ = advance.advance(ClusterState(), self.batch)
        return state


def at(directory: Location, zxid: int) -> Moment:
    """The tree of the cluster whose tables lie below `directory`. Raises MomentError, QueryError."""
    bounds = {"changes": {"zxid_after": (0, zxid)}}
    with Tables(directory, TABLES, bounds=bounds) as tables:
        return read(tables, zxid)


def read(tables: Tables, zxid: int) -> Moment:
    """The same of TABLES that are open. Raises MomentError, QueryError."""
    source, checkpoint = base(tables, zxid)
    return Moment(zxid, checkpoint, trees.read(tables, source, checkpoint, zxid), source)


def base(tables: Tables, zxid: int) -> tuple[str, int]:
    """Whose changes tell the moment, and the checkpoint that they begin at: logs tell more than a watcher.

    Raises MomentError.
    """
    try:
        checkpoint = _checkpoint(tables, zxid)
        _check_coverage(tables, checkpoint, zxid)
    except MomentError:
        watched = intervals(tables)
        if not watched:
            raise
        return row.WATCHED, _watched(tables, watched, zxid)
    # A checkpoint tells its own moment, whoever wrote it.
    is_recorders = checkpoint == zxid and not covered(tables)
    return row.WATCHED if is_recorders else row.LOGGED, checkpoint


def intervals(tables: Tables) -> Sequence[Mapping[str, Any]]:
    """What the recorder saw without a break, in its order, as the table `watched` has it."""
    return tables.lasting("SELECT * FROM watched ORDER BY from_ms, zxid_from")


def covered(tables: Tables) -> Sequence[Mapping[str, Any]]:
    """Which transactions were read of logs, in their order, as the table `coverage` has it."""
    return tables.lasting("SELECT zxid_from, zxid_upto FROM coverage ORDER BY zxid_from")


def _checkpoint(tables: Tables, zxid: int) -> int:
    """The newest one that serves; one of the whole tree, which a recorder's is not, where there is any."""
    serving = (_serving(tables, zxid, sql) for sql in (_WHOLE_CHECKPOINTS, _CHECKPOINTS))
    return next((checkpoint for checkpoint in serving if checkpoint is not None), _FROM_START)


def _serving(tables: Tables, zxid: int, checkpoints: str) -> int | None:
    """The newest of some checkpoints that is not ahead of a transaction."""
    listed = tables.lasting(checkpoints)
    return max((int(each["zxid"]) for each in listed if each["zxid_upto"] <= zxid), default=None)


def _watched(tables: Tables, watched: Sequence[Mapping[str, Any]], zxid: int) -> int:
    """The checkpoint from which the recorder's changes lead to a transaction that it saw."""
    begun = 0  # what was before was not caught up
    for each in watched:
        if each["zxid_from"] - 1 > zxid:
            why = each["why"] or "it was not recorded"
            raise MomentError(f"the tree at 0x{zxid:x} cannot be told: {why}")
        if each["why"] is not None and not each["is_caught_up"]:
            begun = each["zxid_from"] - 1
        if zxid <= each["zxid_upto"] or zxid == each["zxid_from"] - 1:
            break
    else:
        last = max(each["zxid_upto"] for each in watched)
        raise MomentError(f"the tree at 0x{zxid:x} cannot be told: it is recorded up to 0x{last:x} only")
    newest = _serving(tables, zxid, _CHECKPOINTS)
    if newest is None or newest < begun:
        raise MomentError(f"the tree at 0x{zxid:x} cannot be told: no checkpoint was written by then")
    return newest


def settled(tables: Tables, checkpoint: int) -> int:
    """The first transaction whose tree a checkpoint tells: from there on it is not fuzzy any more."""
    listed = tables.lasting(_CHECKPOINTS)
    return max((int(each["zxid_upto"]) for each in listed if each["zxid"] == checkpoint), default=checkpoint)


def check_joined(tables: Tables, source: str, after: int, upto: int) -> None:
    """See that the changes of a source lead from one transaction to a later one. Raises MomentError."""
    if source == row.LOGGED:
        _check_coverage(tables, after, upto)
        return
    for each in intervals(tables):
        is_between = after + 1 < each["zxid_from"] <= upto
        if is_between and each["zxid_upto"] > after and each["why"] is not None and not each["is_caught_up"]:
            raise MomentError(f"what led to 0x{each['zxid_from']:x} is not recorded: {each['why']}")


def _check_coverage(tables: Tables, checkpoint: int, zxid: int) -> None:
    """Whether every transaction after the checkpoint up to `zxid` was read.

    The first of a later epoch follows the last of the one before: a server that missed some of that one
    took a snapshot, which is then the newer checkpoint.
    """
    reached = checkpoint
    for interval in covered(tables):
        if interval["zxid_upto"] <= checkpoint:
            continue
        if reached >= zxid:
            return
        if not _follows(reached, interval["zxid_from"]):
            break
        reached = max(reached, interval["zxid_upto"])
    if reached < zxid:
        since = f"after the checkpoint at 0x{checkpoint:x}" if checkpoint else "from the first one on"
        raise MomentError(
            f"the tree at 0x{zxid:x} cannot be told: {since}, "
            f"transactions are recorded without a gap up to 0x{reached:x} only"
        )


def _follows(reached: int, first: int) -> bool:
    return first <= reached + 1 or (first >> 32 > reached >> 32 and first & _COUNTER <= 1)


# Of some checkpoint nobody can tell where it is not fuzzy any more: it serves nobody.
_CHECKPOINTS: Final = "SELECT DISTINCT zxid, zxid_upto FROM znodes_checkpoint WHERE zxid_upto IS NOT NULL"
_WHOLE_CHECKPOINTS: Final = f"{_CHECKPOINTS} AND path = '/'"
