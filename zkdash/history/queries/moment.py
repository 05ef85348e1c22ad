"""The tree as it was after a transaction: the newest checkpoint before it, and the changes since.

A snapshot is fuzzy: it holds all up to `zxid` and perhaps some up to `zxid_upto`, so it serves for moments
from `zxid_upto` on only. What is missing in between is never guessed: MomentError says so. Where no logs
cover a moment, the recorder's changes tell it, as far as a watcher can: of Kafka's znodes alone.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import msgspec

from zkdash.cluster.changes import row
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.history.store import watching
from zkdash.history.store.location import Location
from zkdash.history.store.tables import Tables
from zkdash.znode import Batch, Stat, Znode

# What a moment is read of.
TABLES: Final = ("changes", "coverage", "znodes_checkpoint", watching.NAME)
_FROM_START: Final = 0  # with no checkpoint: every transaction there ever was is in the tables
_COUNTER: Final = (1 << 32) - 1
_END: Final = 1 << 31  # behind every place within a transaction
_ROOT: Final = "/"


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
    parameters = {"checkpoint": checkpoint, "zxid": zxid, "source": source}
    tree = tables.rows(_TREE, parameters)
    touched = tables.rows(_TOUCHED, parameters)
    return Moment(zxid, checkpoint, _znodes(tree, touched), source)


def zxid_at(directory: Location, time_ms: int) -> int:
    """The last transaction that a leader wrote at this time or before. Raises MomentError.

    Leaders' clocks differ: it is the last in the order of transactions whose time is not later.
    """
    with Tables(directory, ("changes",)) as tables:
        (row,) = tables.rows("SELECT max(zxid_upto) AS zxid FROM changes WHERE time <= $1", [time_ms])
    if row["zxid"] is None:
        raise MomentError("nothing is recorded of that time, nor of any before it")
    return int(row["zxid"])


def base(tables: Tables, zxid: int) -> tuple[str, int]:
    """Whose changes tell the moment, and the checkpoint that they begin at: logs tell more than a watcher.

    Raises MomentError.
    """
    try:
        checkpoint = _checkpoint(tables, zxid)
        _check_coverage(tables, checkpoint, zxid)
    except MomentError:
        intervals = tables.rows("SELECT * FROM watched ORDER BY from_ms, zxid_from")
        if not intervals:
            raise
        return row.WATCHED, _watched(tables, intervals, zxid)
    # A checkpoint tells its own moment, whoever wrote it.
    is_recorders = checkpoint == zxid and not tables.rows("SELECT 1 FROM coverage LIMIT 1")
    return row.WATCHED if is_recorders else row.LOGGED, checkpoint


def _checkpoint(tables: Tables, zxid: int) -> int:
    """The newest one that serves; one of the whole tree, which a recorder's is not, where there is any."""
    (row,) = tables.rows(
        "SELECT max(zxid) AS zxid, max(zxid) FILTER (path = '/') AS whole FROM znodes_checkpoint "
        "WHERE zxid_upto <= $1",
        [zxid],
    )
    newest = row["zxid"] if row["whole"] is None else row["whole"]
    return _FROM_START if newest is None else int(newest)


def _watched(tables: Tables, intervals: list[dict[str, Any]], zxid: int) -> int:
    """The checkpoint from which the recorder's changes lead to a transaction that it saw."""
    begun = 0  # what was before was not caught up
    for each in intervals:
        if each["zxid_from"] - 1 > zxid:
            why = each["why"] or "it was not recorded"
            raise MomentError(f"the tree at 0x{zxid:x} cannot be told: {why}")
        if each["why"] is not None and not each["is_caught_up"]:
            begun = each["zxid_from"] - 1
        if zxid <= each["zxid_upto"] or zxid == each["zxid_from"] - 1:
            break
    else:
        last = max(each["zxid_upto"] for each in intervals)
        raise MomentError(f"the tree at 0x{zxid:x} cannot be told: it is recorded up to 0x{last:x} only")
    (newest,) = tables.rows("SELECT max(zxid) AS zxid FROM znodes_checkpoint WHERE zxid_upto <= $1", [zxid])
    if newest["zxid"] is None or newest["zxid"] < begun:
        raise MomentError(f"the tree at 0x{zxid:x} cannot be told: no checkpoint was written by then")
    return int(newest["zxid"])


def settled(tables: Tables, checkpoint: int) -> int:
    """The first transaction whose tree a checkpoint tells: from there on it is not fuzzy any more."""
    (bounds,) = tables.rows(
        "SELECT max(zxid_upto) AS upto FROM znodes_checkpoint WHERE zxid = $1", [checkpoint]
    )
    return int(bounds["upto"] or checkpoint)


def check_joined(tables: Tables, source: str, after: int, upto: int) -> None:
    """See that the changes of a source lead from one transaction to a later one. Raises MomentError."""
    if source == row.LOGGED:
        _check_coverage(tables, after, upto)
        return
    intervals = tables.rows("SELECT * FROM watched WHERE zxid_upto > $1 AND zxid_from <= $2", [after, upto])
    for each in intervals:
        if each["why"] is not None and not each["is_caught_up"] and each["zxid_from"] > after + 1:
            raise MomentError(f"what led to 0x{each['zxid_from']:x} is not recorded: {each['why']}")


def _check_coverage(tables: Tables, checkpoint: int, zxid: int) -> None:
    """Whether every transaction after the checkpoint up to `zxid` was read.

    The first of a later epoch follows the last of the one before: a server that missed some of that one
    took a snapshot, which is then the newer checkpoint.
    """
    reached = checkpoint
    covered = tables.rows(
        "SELECT zxid_from, zxid_upto FROM coverage WHERE zxid_upto > $1 ORDER BY zxid_from", [checkpoint]
    )
    for interval in covered:
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


def _znodes(tree: list[dict[str, Any]], touched: list[dict[str, Any]]) -> dict[str, Znode]:
    children = Counter(parent(each["path"]) for each in tree if each["path"] != _ROOT)
    changed = {each["parent"]: each for each in touched}
    made = {}
    for each in sorted(tree, key=lambda each: each["path"]):
        path, data = each["path"], each["data"]
        below = changed.get(path)
        stat = Stat(
            each["czxid"],
            each["mzxid"],
            each["ctime"],
            each["mtime"],
            each["version"],
            _cversion(each, below),
            each["aversion"],
            each["ephemeral_owner"],
            len(data or b"") if each["data_length"] is None else each["data_length"],
            children[path],
            max(each["pzxid"], each["czxid"], below["zxid"] if below else 0),
        )
        made[path] = Znode.of(data, stat)
    return made


def _cversion(each: dict[str, Any], below: dict[str, Any] | None) -> int:
    """Each created and each removed child counts one; a znode made anew begins at 0, within a multi too."""
    if below is None:
        return int(each["cversion"])
    begins = (each["pzxid"], _END) if each["made_index"] is None else (each["czxid"], each["made_index"])
    return int(each["cversion"]) + sum(
        1 for place in below["places"] if (place["zxid"], place["op"]) > begins
    )


def parent(path: str) -> str:
    """The path of the znode above."""
    return path.rpartition("/")[0] or _ROOT


def _words(types: frozenset[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(types))


# The transaction of a change. A watcher may have told a write late, but knows whose it was; of what went it
# knows bounds only.
AT: Final = f"CASE WHEN type IN ({_words(row.REMOVALS | row.OTHERS)}) THEN zxid_upto ELSE zxid_after + 1 END"

# Per path: the last create or removal decides whether it is there; the last write since, what it holds.
# A log before 3.6 does not tell which ephemerals went with a session: those that were there.
_TREE: Final = f"""
WITH recent AS (
    SELECT * REPLACE ({AT} AS zxid), ({AT}, op_index) AS place FROM changes
    WHERE source = $source AND {AT} > $checkpoint AND {AT} <= $zxid AND path IS NOT NULL
), made AS (
    SELECT path, max(place) AS place,
        max_by(struct_pack(type, zxid, op_index, time, data, ephemeral_owner), place) AS last
    FROM recent WHERE type IN ({_words(row.CREATES | row.REMOVALS)}) GROUP BY path
), written AS (
    SELECT path,
        max(place) AS place, max_by(struct_pack(zxid, time, data, version), place) AS last
    FROM recent WHERE type IN ({_words(row.SETS)}) GROUP BY path
), guarded AS (
    SELECT path, max(place) AS place, max_by(struct_pack(version), place) AS last
    FROM recent WHERE type = 'setACL' GROUP BY path
), base AS (
    SELECT *, NULL::INTEGER AS made_index FROM znodes_checkpoint
    WHERE zxid = $checkpoint AND path NOT IN (SELECT path FROM made)
    UNION ALL BY NAME
    SELECT path, last.data AS data, last.zxid AS czxid, last.zxid AS mzxid, last.zxid - 1 AS pzxid,
        last.time AS ctime, last.time AS mtime, 0 AS version, 0 AS cversion, 0 AS aversion,
        last.ephemeral_owner AS ephemeral_owner, last.op_index AS made_index
    FROM made WHERE last.type IN ({_words(row.CREATES)})
)
SELECT base.path, base.czxid, base.ctime, base.cversion, base.ephemeral_owner, base.pzxid, base.made_index,
    coalesce(guarded.last.version, base.aversion) AS aversion,
    CASE WHEN written.path IS NULL THEN base.data ELSE written.last.data END AS data,
    CASE WHEN written.path IS NULL THEN base.mzxid ELSE written.last.zxid END AS mzxid,
    CASE WHEN written.path IS NULL THEN base.mtime ELSE written.last.time END AS mtime,
    CASE WHEN written.path IS NULL THEN base.version ELSE written.last.version END AS version,
    CASE WHEN written.path IS NULL THEN base.data_length END AS data_length
FROM base
LEFT JOIN made ON made.path = base.path
LEFT JOIN written ON written.path = base.path
    AND (made.path IS NULL OR written.place > made.place)
LEFT JOIN guarded ON guarded.path = base.path
    AND (made.path IS NULL OR guarded.place > made.place)
WHERE NOT EXISTS (
    SELECT 1 FROM changes AS closed
    WHERE closed.source = $source AND closed.type = 'closeSession'
    AND closed.path IS NULL AND closed.removed IS NULL AND closed.session = base.ephemeral_owner
    AND closed.zxid > greatest(base.czxid, $checkpoint) AND closed.zxid <= $zxid
)
"""  # noqa: S608 - our own words

# Per parent: the transactions that made or removed a child.
_TOUCHED: Final = f"""
SELECT coalesce(nullif(regexp_replace(path, '/[^/]*$', ''), ''), '/') AS parent,
    max({AT}) AS zxid, list(struct_pack(zxid := {AT}, op := op_index)) AS places
FROM changes
WHERE source = $source AND {AT} > $checkpoint AND {AT} <= $zxid AND path != '/'
    AND type IN ({_words(row.CREATES | row.REMOVALS)})
GROUP BY parent
"""  # noqa: S608 - our own words
