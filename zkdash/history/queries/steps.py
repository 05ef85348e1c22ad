"""From one moment to a later one: the changes between them, transaction by transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

import msgspec

from zkdash.cluster.changes import row
from zkdash.history.queries import moment, trees
from zkdash.history.store.tables import Tables
from zkdash.znode import Stat, Znode

# More changes than these are not stepped through: the later moment is read by itself.
MOST: Final = 5_000
# A step reads so many transactions at once, where they have no more changes: the next steps have them then.
_BLOCK: Final = 1 << 6
_MOST_AT_ONCE: Final = 256


class Step(msgspec.Struct, frozen=True):
    """What one transaction changed, by path, None for what went; `stats` are the parents that it touched.

    `time_ms` (epoch) is by the clock that `row.FIELDS` tells of.
    """

    zxid: int
    time_ms: int
    changed: dict[str, Znode | None]
    stats: dict[str, Znode]


class TooFarError(LookupError):
    """The changes between are not all there, are told by somebody else, or are too many."""


def rows(tables: Tables, source: str, after: int, upto: int) -> list[dict[str, Any]]:
    """The changes of the tables of a moment after one transaction up to another, in their order.

    They lead from the tree at the one to that at the other. Raises TooFarError, QueryError.
    """
    moment.check_joined(tables, source, after, upto)
    listed = _nearby(tables, source, after, upto)
    if listed is None:
        given = {"source": source, "after": after, "upto": upto, "most": MOST + 1}
        listed = tables.rows(_BETWEEN, given, trees.bounds(after, upto))
    if len(listed) > MOST:
        raise TooFarError(f"there are more than {MOST} changes between 0x{after:x} and 0x{upto:x}")
    return listed


def counts(tables: Tables, source: str, after: int, upto: int) -> Counter[int]:
    """How many changes each transaction has of those that `rows` tells. Raises QueryError."""
    listed = tables.rows(_COUNTS, {"source": source, "after": after, "upto": upto}, trees.bounds(after, upto))
    return Counter({int(each["place"]): int(each["count"]) for each in listed})


def count(tables: Tables, source: str, after: int, upto: int) -> int:
    """How many they are in all. Raises QueryError."""
    (answer,) = tables.rows(
        _COUNT, {"source": source, "after": after, "upto": upto}, trees.bounds(after, upto)
    )
    return int(answer["count"])


def _nearby(tables: Tables, source: str, after: int, upto: int) -> list[dict[str, Any]] | None:
    """The same within a block of transactions, read at once for all who step through it; None of what spans
    more, or of a block that holds too much."""
    begins = after // _BLOCK * _BLOCK
    if upto > begins + _BLOCK:
        return None
    most = min(_MOST_AT_ONCE, MOST) + 1
    given = {"source": source, "after": begins, "upto": begins + _BLOCK, "most": most}
    block = tables.lasting(_BETWEEN, given, trees.bounds(begins, begins + _BLOCK))
    if len(block) == most:
        return None
    return [dict(each) for each in block if after < each["place"] <= upto]


def walk(znodes: dict[str, Znode], listed: Iterable[dict[str, Any]]) -> Iterator[Step]:
    """The steps that rows make, each once `znodes` is the tree after it."""
    for zxid, changes in groupby(listed, key=lambda each: int(each["place"])):
        changed, stats, time_ms = dict[str, Znode | None](), dict[str, Znode](), 0
        for each in changes:
            time_ms = max(time_ms, each["time"])
            for path, znode in _change(znodes, zxid, each):
                changed[path] = znode
                is_child = znode is None or each["type"] in row.CREATES
                if is_child and (parent := _touched(znodes, path, zxid, made=znode is not None)):
                    stats[parent] = znodes[parent]
        yield Step(zxid, time_ms, changed, {path: znodes[path] for path in stats if path in znodes})


def _change(znodes: dict[str, Znode], zxid: int, each: dict[str, Any]) -> list[tuple[str, Znode | None]]:
    """Which znodes one row changes, and into what; the tree is changed too."""
    path, kind = each["path"], each["type"]
    if path is None:
        owned = [path for path, znode in znodes.items() if znode.ephemeral_owner == each["session"]]
        for path in owned:
            del znodes[path]
        return [(path, None) for path in owned]
    if kind in row.REMOVALS:
        return [(path, None)] if znodes.pop(path, None) is not None else []
    before = znodes.get(path)
    data = each["data"]
    if kind in row.CREATES:
        time, owner = each["time"], each["ephemeral_owner"]
        stat = Stat(zxid, zxid, time, time, 0, 0, 0, owner, len(data or b""), 0, zxid)
        znodes[path] = Znode.of(data, stat)
    elif before is None:
        return []
    elif kind in row.SETS:
        fields = {"mzxid": zxid, "mtime": each["time"], "version": each["version"]}
        znodes[path] = Znode.of(data, before.stat._replace(**fields, data_length=len(data or b"")))
    else:
        znodes[path] = Znode.of(before.data, before.stat._replace(aversion=each["version"]))
    return [(path, znodes[path])]


def _touched(znodes: dict[str, Znode], path: str, zxid: int, *, made: bool) -> str:
    """The parent of a znode that came or went, counted anew; "" where it is not in the tree."""
    parent = trees.parent(path)
    before = znodes.get(parent)
    if before is None or path == parent:
        return ""
    stat = before.stat
    children = stat.num_children + (1 if made else -1)
    fields = {"cversion": stat.cversion + 1, "num_children": children, "pzxid": max(stat.pzxid, zxid)}
    znodes[parent] = Znode.of(before.data, stat._replace(**fields))
    return parent


# A session's end without a path: of a log that does not tell which ephemerals went with it.
_TOLD: Final = f"""
FROM changes
WHERE source = $source AND {trees.placed("$after", "$upto")}
    AND (path IS NOT NULL OR (type = 'closeSession' AND removed IS NULL))
"""
_COUNT: Final = f"SELECT count(*) AS count {_TOLD}"
_COUNTS: Final = f"SELECT {trees.AT} AS place, count(*) AS count {_TOLD} GROUP BY 1"
_BETWEEN: Final = f"""
SELECT {trees.AT} AS place, op_index, time, type, path, data, version, ephemeral_owner, session {_TOLD}
ORDER BY place, op_index LIMIT $most
"""
