"""Which changes lie next to a moment, and when it was: looked for nearby first, by transactions or by times.

Whoever goes from moment to moment asks the same block again, whose answer lasts as long as its tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from zkdash.history.queries import trees
from zkdash.history.queries.window import DAY_MS, HOUR_MS
from zkdash.history.store.tables import Tables


class Instant(msgspec.Struct, frozen=True):
    """After a transaction, at a time."""

    zxid: int
    time_ms: int


class _Furthest(NamedTuple):
    """How the first or last transaction of some changes is looked for: among those nearby, then among those
    that a bound of their columns lets lie `beyond` what was found. Where clocks agree these are few."""

    furthest: Callable[[int, int], int]  # min or max
    condition: str
    nearby: str
    beyond: str

    def look(self, tables: Tables, given: Mapping[str, object], bounds: Iterable[int]) -> int | None:
        """The transaction, None where there is none. `bounds` are those of `nearby`, the nearest first."""
        for bound in bounds:
            if (reached := self._ask(tables, self.nearby, {**given, "bound": bound})) is not None:
                further = self._ask(tables, self.beyond, {**given, "bound": reached})
                return reached if further is None else self.furthest(reached, further)
        return None

    def _ask(self, tables: Tables, where: str, given: Mapping[str, object]) -> int | None:
        sought = f"{self.furthest.__name__}({trees.AT}) AS zxid"
        sql = f"SELECT {sought} FROM changes WHERE {self.condition} AND {where}"  # noqa: S608 - our own words
        (answer,) = tables.lasting(sql, given)
        return None if answer["zxid"] is None else int(answer["zxid"])


def last_until(tables: Tables, time_ms: int, source: str = "") -> int | None:
    """The last transaction of a time or before, of one source where one is given; None where there is none.

    It is the last in the order of transactions: the clock of a later leader may be behind.
    """
    first, last = times(tables) or (time_ms, time_ms)
    begins = (min(time_ms, last) - reach for reach in REACHES_MS)
    return _LAST_UNTIL.look(tables, {"time": time_ms, "source": source}, (*begins, first - 1))


def first_since(tables: Tables, time_ms: int, source: str = "") -> int | None:
    """The first transaction of a time or after, likewise."""
    first, last = times(tables) or (time_ms, time_ms)
    ends = (max(time_ms, first) + reach for reach in REACHES_MS)
    return _FIRST_SINCE.look(tables, {"time": time_ms, "source": source}, (*ends, last + 1))


def newest(tables: Tables) -> int | None:
    """The last transaction of all, None where there is none."""
    return _NEWEST.look(tables, {}, (extent(tables)[1],))


def times(tables: Tables) -> tuple[int, int] | None:
    """When the first and the last of the changes was (epoch ms), None where there is none."""
    return tables.extremes("changes", "time")


def latest_time(tables: Tables, zxid: int) -> int | None:
    """When the last change until a transaction was (epoch ms), None where there is none."""
    after, upto = _block(zxid)
    within = tables.lasting(_TIMES, {"after": after, "upto": upto})
    if earlier := [each["time"] for each in within if each["zxid"] <= zxid]:
        return int(earlier[-1])
    for since in _reaching_back(tables, after):
        (answer,) = tables.lasting(_TIME, {"after": since, "zxid": after})
        if answer["time"] is not None:
            return int(answer["time"])
    return None


def of(tables: Tables, source: str, zxid: int, below: Sequence[str]) -> tuple[Instant | None, Instant | None]:
    """The changes of a source before and after the one of a transaction, None for none.

    They are those of znodes at some paths or `below` them, where such are given.
    """
    paths = {f"path_{number}": path for number, path in enumerate(below)}
    meant = " OR ".join(f"path = ${name} OR starts_with(path, ${name} || '/')" for name in paths)
    condition = f"({meant})" if meant else "true"
    given = {"source": source, **paths}
    after, upto = _block(zxid)
    within = tables.lasting(_CHANGED.format(below=condition), {**given, "after": after, "upto": upto})
    before = next((_instant(each) for each in reversed(within) if each["zxid"] < zxid), None)
    behind = next((_instant(each) for each in within if each["zxid"] > zxid), None)
    return (
        before or _before(tables, _LAST.format(below=condition), given, after),
        behind or _behind(tables, _FIRST.format(below=condition), given, upto),
    )


def _before(tables: Tables, sql: str, given: Mapping[str, object], zxid: int) -> Instant | None:
    """The last change up to a transaction."""
    for since in _reaching_back(tables, zxid):
        (answer,) = tables.lasting(sql, {**given, "after": since, "upto": zxid})
        if answer["zxid"] is not None:
            return _instant(answer)
    return None


def _behind(tables: Tables, sql: str, given: Mapping[str, object], zxid: int) -> Instant | None:
    """The first change after a transaction."""
    _, last = extent(tables)
    for reach in (*REACHES, last - zxid):
        if zxid >= last:
            break
        (answer,) = tables.lasting(sql, {**given, "after": zxid, "upto": min(zxid + reach, last)})
        if answer["zxid"] is not None:
            return _instant(answer)
        if zxid + reach >= last:
            break
    return None


def _reaching_back(tables: Tables, zxid: int) -> Iterator[int]:
    """After which transactions to look for something up to one: nearby, further, and all that there is."""
    first, _ = extent(tables)
    for reach in (*REACHES, zxid - first):
        if zxid <= first:
            return
        yield max(zxid - reach, first)
        if zxid - reach <= first:
            return


def extent(tables: Tables) -> tuple[int, int]:
    """After which transaction the changes begin, and at which they end; both are 0 where there are none."""
    first, last = tables.extremes("changes", "zxid_after"), tables.extremes("changes", "zxid_upto")
    return first[0] if first else 0, last[1] if last else 0


def _block(zxid: int) -> tuple[int, int]:
    """The block of a transaction: after which one it begins, and with which it ends."""
    after = (zxid - 1) // BLOCK * BLOCK
    return after, after + BLOCK


def _instant(each: Mapping[str, Any]) -> Instant:
    return Instant(int(each["zxid"]), int(each["time"]))


# So many transactions are read at once; what is not among them is looked for so far, then further.
BLOCK: Final = 1 << 9
REACHES: Final = (1 << 12, 1 << 17)
REACHES_MS: Final = (HOUR_MS, DAY_MS)
# The transaction of a change is above its `zxid_after`, and not above its `zxid_upto`.
_SOURCE: Final = "($source = '' OR source = $source)"
_LAST_UNTIL: Final = _Furthest(max, f"time <= $time AND {_SOURCE}", "time > $bound", "zxid_upto > $bound")
_FIRST_SINCE: Final = _Furthest(min, f"time >= $time AND {_SOURCE}", "time < $bound", "zxid_after < $bound")
_NEWEST: Final = _Furthest(max, "true", "zxid_upto >= $bound", "zxid_upto > $bound")
# What counts as a change of a `$source`.
CHANGES: Final = (
    "source = $source AND path IS NOT NULL AND NOT regexp_matches(path, '^/consumers/[^/]+/offsets/')"
)
_WITHIN: Final = trees.placed("$after", "$upto")
_TIMES: Final = f"""
SELECT {trees.AT} AS zxid, max(time) AS time FROM changes WHERE {_WITHIN} GROUP BY 1 ORDER BY 1
"""  # noqa: S608 - our own words
_TIME: Final = f"""
SELECT arg_max(time, {trees.AT}) AS time FROM changes WHERE {trees.placed("$after", "$zxid")}
"""  # noqa: S608 - our own words
_OF_SOURCE: Final = f"FROM changes WHERE {CHANGES} AND {_WITHIN} AND {{below}}"
_CHANGED: Final = f"SELECT {trees.AT} AS zxid, max(time) AS time {_OF_SOURCE} GROUP BY 1 ORDER BY 1"
_LAST: Final = f"SELECT max({trees.AT}) AS zxid, arg_max(time, {trees.AT}) AS time {_OF_SOURCE}"
_FIRST: Final = f"SELECT min({trees.AT}) AS zxid, arg_min(time, {trees.AT}) AS time {_OF_SOURCE}"
