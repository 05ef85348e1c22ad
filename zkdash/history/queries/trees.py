"""The znodes of a tree after a transaction, as the rows of a checkpoint and the changes since tell them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

from zkdash.cluster.changes import row
from zkdash.history.store.tables import LEAST, MOST, Bounds, Tables
from zkdash.znode import Stat, Znode

if TYPE_CHECKING:
    import pyarrow as pa

_END: Final = 1 << 31  # behind every place within a transaction
_ROOT: Final = "/"
_AT_ONCE: Final = 10_000  # rows
# A znode as the query for a tree tells it: all of its Stat but the number of its children, which are rows.
_COLUMNS: Final = ("path", "data", *(name for name in Stat._fields if name != "num_children"))
_COUNT: Final = Stat._fields.index("num_children")


def read(tables: Tables, source: str, checkpoint: int, zxid: int) -> dict[str, Znode]:
    """The tree after a transaction, by path, as a source's changes since a checkpoint lead to it.

    Raises QueryError.
    """
    parameters = {"checkpoint": checkpoint, "zxid": zxid, "source": source}
    files = bounds_from(checkpoint, zxid)
    tree = tables.query(_tree(), parameters, files)
    return _znodes(tree, tables.rows(_TOUCHED, parameters, files), _child_counts(tree))


def before(
    tables: Tables, source: str, checkpoint: int, zxid: int, later: tuple[int, Mapping[str, Znode]]
) -> dict[str, Znode | None] | None:
    """The same of those znodes alone that were changed, or had a child made or removed, from then to
    a `later` transaction, beside which its tree stands: None for what was not there.

    None in all where the changes do not say of which znodes they are: some log before 3.6 is among them. They
    lead from the one to the other. Raises QueryError.
    """
    upto, now = later
    between = {"source": source, "zxid": zxid, "upto": upto}
    if tables.rows(_UNTOLD, between, bounds(zxid, upto)):
        return None
    parameters = {**between, "checkpoint": checkpoint}
    paths = {str(each["path"]) for each in tables.rows(_APART, between, bounds(zxid, upto))}
    files = bounds_from(checkpoint, upto)
    tree = tables.query(_tree(among=f"AND path IN ({_APART})"), parameters, files)
    children = Counter({path: now[path].num_children for path in paths if path in now})
    children.subtract(parent(path) for path in paths if path in now and path != _ROOT)
    children.update(_child_counts(tree))
    given = {name: value for name, value in parameters.items() if name != "upto"}
    return {**dict.fromkeys(paths), **_znodes(tree, tables.rows(_TOUCHED, given, files), children)}


def _znodes(tree: pa.Table, touched: list[dict[str, Any]], children: Mapping[str, int]) -> dict[str, Znode]:
    """The znodes that rows make, in the order of their paths; `children` says how many each path has."""
    made: dict[str, Znode] = {}
    # Never are all rows there at once: one takes ten times what its znode does.
    for batch in tree.select(_COLUMNS).to_batches(_AT_ONCE):
        paths, data, *stats = (column.to_pylist() for column in batch.columns)
        stats.insert(_COUNT, [*map(children.get, paths, repeat(0))])
        made.update(zip(paths, Znode.of_columns(data, stats), strict=True))
    anew = tree.select(["path", "made_index"]).filter(tree["made_index"].is_valid()).to_pylist()
    indexes = {each["path"]: each["made_index"] for each in anew}
    for each in touched:
        if (znode := made.get(each["parent"])) is not None:
            stat, index = znode.stat, indexes.get(each["parent"])
            # of one made anew children count from where it was made
            begins = (stat.pzxid, _END) if index is None else (stat.czxid, index)
            cversion, pzxid = stat.cversion + _children(each, begins), max(stat.pzxid, each["zxid"])
            made[each["parent"]] = Znode.of(znode.data, stat._replace(cversion=cversion, pzxid=pzxid))
    return made


def _child_counts(tree: pa.Table) -> Counter[str]:
    """How many rows are of a child of each path."""
    children = Counter[str]()
    for batch in tree.select(["path"]).to_batches(_AT_ONCE):
        children.update([path.rpartition("/")[0] for path in batch["path"].to_pylist() if path != _ROOT])
    if "" in children:
        children[_ROOT] = children.pop("")
    return children


def _children(below: dict[str, Any], begins: tuple[int, int]) -> int:
    """How many children of a znode were made or removed behind a place, within a multi too."""
    return sum(1 for place in below["places"] if (place["zxid"], place["op"]) > begins)


def parent(path: str) -> str:
    """The path of the znode above."""
    return path.rpartition("/")[0] or _ROOT


def _words(types: frozenset[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(types))


# The transaction of a change. A watcher may have told a write late, but knows whose it was; of what went it
# knows bounds only.
AT: Final = f"CASE WHEN type IN ({_words(row.REMOVALS | row.OTHERS)}) THEN zxid_upto ELSE zxid_after + 1 END"


def placed(after: str, upto: str) -> str:
    """The condition that the transaction of a change is after one and up to another.

    The bounds of columns say the same less exactly: by these, files and parts of them are passed over.
    """
    return f"{AT} > {after} AND {AT} <= {upto} AND zxid_upto > {after} AND zxid_after < {upto}"


def bounds(after: int, upto: int) -> Bounds:
    """Those of what is `placed`: its columns say the same of the files."""
    return {"changes": {"zxid_upto": (after + 1, MOST), "zxid_after": (LEAST, upto - 1)}}


def bounds_from(checkpoint: int, upto: int) -> Bounds:
    """Those of a checkpoint, and of what is placed after it."""
    return {**bounds(checkpoint, upto), "znodes_checkpoint": {"zxid": (checkpoint, checkpoint)}}


def _tree(among: str = "") -> str:
    """The query for the rows of a tree, of those `among` some paths.

    Per path: the last create or removal decides whether it is there; the last write since, what it holds.
    A log before 3.6 does not tell which ephemerals went with a session: those that were there.
    """
    return _TREE.format(among=among)


_PLACED: Final = placed("$checkpoint", "$zxid")
# The end of a session of which its log, as one before 3.6, does not say which ephemerals went with it.
_IS_UNTOLD: Final = "type = 'closeSession' AND path IS NULL AND removed IS NULL"
# Of a change within a transaction and among those of all: one number is compared sooner than a pair is.
_PLACE: Final = f"({AT})::HUGEINT * {1 << 32} + op_index"
_TREE: Final = f"""
WITH recent AS (
    SELECT * REPLACE ({AT} AS zxid), {_PLACE} AS place FROM changes
    WHERE source = $source AND {_PLACED} AND path IS NOT NULL {{among}}
), made AS (
    SELECT path, max(place) AS place,
        max_by(struct_pack(type, zxid, op_index, time, data, ephemeral_owner), place) AS last
    FROM recent WHERE type IN ({_words(row.CREATES | row.REMOVALS)}) GROUP BY path
), written AS (
    SELECT path, max(place) AS place, arg_max_null(zxid, place) AS zxid, arg_max_null(time, place) AS time,
        arg_max_null(data, place) AS data, arg_max_null(version, place) AS version
    FROM recent WHERE type IN ({_words(row.SETS)}) GROUP BY path
), guarded AS (
    SELECT path, max(place) AS place, arg_max_null(version, place) AS version
    FROM recent WHERE type = 'setACL' GROUP BY path
), closed AS (
    SELECT session, max(zxid) AS zxid FROM changes
    WHERE source = $source AND {_IS_UNTOLD} AND zxid > $checkpoint AND zxid <= $zxid
    GROUP BY session
), base AS (
    SELECT *, NULL::INTEGER AS made_index, NULL::HUGEINT AS made_place FROM znodes_checkpoint
    WHERE zxid = $checkpoint AND path NOT IN (SELECT path FROM made) {{among}}
    UNION ALL BY NAME
    SELECT path, last.data AS data, last.zxid AS czxid, last.zxid AS mzxid, last.zxid - 1 AS pzxid,
        last.time AS ctime, last.time AS mtime, 0 AS version, 0 AS cversion, 0 AS aversion,
        last.ephemeral_owner AS ephemeral_owner, last.op_index AS made_index, place AS made_place
    FROM made WHERE last.type IN ({_words(row.CREATES)})
)
SELECT base.path, base.czxid, base.ctime, base.cversion, base.ephemeral_owner, base.made_index,
    greatest(base.czxid, base.pzxid) AS pzxid,
    coalesce(guarded.version, base.aversion) AS aversion,
    CASE WHEN written.path IS NULL THEN base.data ELSE written.data END AS data,
    CASE WHEN written.path IS NULL THEN base.mzxid ELSE written.zxid END AS mzxid,
    CASE WHEN written.path IS NULL THEN base.mtime ELSE written.time END AS mtime,
    CASE WHEN written.path IS NULL THEN base.version ELSE written.version END AS version,
    coalesce(
        CASE WHEN written.path IS NULL THEN coalesce(base.data_length, octet_length(base.data))
        ELSE octet_length(written.data) END, 0
    ) AS data_length
FROM base
LEFT JOIN written ON written.path = base.path
    AND (base.made_place IS NULL OR written.place > base.made_place)
LEFT JOIN guarded ON guarded.path = base.path
    AND (base.made_place IS NULL OR guarded.place > base.made_place)
LEFT JOIN closed ON closed.session = base.ephemeral_owner
WHERE closed.zxid IS NULL OR closed.zxid <= base.czxid
ORDER BY base.path
"""  # noqa: S608 - our own words

_PARENT: Final = "coalesce(nullif(regexp_replace(path, '/[^/]*$', ''), ''), '/')"
# Per parent: the transactions that made or removed a child.
_TOUCHED: Final = f"""
SELECT {_PARENT} AS parent,
    max({AT}) AS zxid, list(struct_pack(zxid := {AT}, op := op_index)) AS places
FROM changes
WHERE source = $source AND {_PLACED} AND path != '/'
    AND type IN ({_words(row.CREATES | row.REMOVALS)})
GROUP BY parent
"""  # noqa: S608 - our own words
_BETWEEN: Final = f"FROM changes WHERE source = $source AND {placed('$zxid', '$upto')}"
# What is not the same after `$upto` as after `$zxid`, if anything.
_APART: Final = f"""
SELECT path {_BETWEEN} AND path IS NOT NULL
UNION
SELECT {_PARENT} AS path {_BETWEEN} AND path != '/' AND type IN ({_words(row.CREATES | row.REMOVALS)})
"""
_UNTOLD: Final = f"SELECT 1 {_BETWEEN} AND {_IS_UNTOLD} LIMIT 1"
