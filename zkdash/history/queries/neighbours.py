"""Which changes lie next to a moment, and when it was: looked for nearby first, by transactions or by times.

Whoever goes from moment to moment asks the same block again, whose answer lasts as long as its tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from zkdash.history.queries import trees
from zkdash.history.store.tables import LEAST, MOST, Bounds, Tables
from zkdash.time_units import DAY_MS, HOUR_MS


class Instant(msgspec.Struct, frozen=True):
    """After a transaction, at a time."""

    zxid: int
    time_ms: int


class _Bound(NamedTuple):
    """What a column of changes lies above, or below."""

    column: str
    is_above: bool

    @property
    def sql(self) -> str:
        return f"{self.column} {'>' if self.is_above else '<'} $bound"

    def files(self, bound: int, times: tuple[int, int]) -> Bounds:
        """Those of what lies so, and within some times."""
        within = {"time": times}
        least, most = within.get(self.column, (LEAST, MOST))
        lies = (max(least, bound + 1), most) if self.is_above else (least, min(most, bound - 1))
        return {"changes": {**within, self.column: lies}}


class _Furthest(NamedTuple):
    """How the first or last transaction of some changes is looked for: among those nearby, then among those
    that a bound of their columns lets lie `beyond` what was found. Where clocks agree these are few."""

    furthest: Callable[[int, int], int]  # min or max
    condition: str
    nearby: _Bound
    beyond: _Bound

    def look(
        self,
        tables: Tables,
        given: Mapping[str, object],
        bounds: Iterable[int],
        times: tuple[int, int] = (LEAST, MOST),
    ) -> int | None:
        """The transaction, None where there is none: of changes within `times`, as the condition has it.

        `bounds` are those of `nearby`, the nearest first.
        """
        for bound in bounds:
            if (reached := self._ask(tables, self.nearby, given, bound, times)) is not None:
                further = self._ask(tables, self.beyond, given, reached, times)
                return reached if further is None else self.furthest(reached, further)
        return None

    def _ask(
        self,
        tables: Tables,
        within: _Bound,
        given: Mapping[str, object],
        bound: int,
        times: tuple[int, int],
    ) -> int | None:
        sought = f"{self.furthest.__name__}({trees.AT}) AS zxid"
        sql = f"SELECT {sought} FROM changes WHERE {self.condition} AND {within.sql}"  # noqa: S608 - our own words
        (answer,) = tables.lasting(sql, {**given, "bound": bound}, within.files(bound, times))
        return None if answer["zxid"] is None else int(answer["zxid"])


def last_until(tables: Tables, time_ms: int, source: str = "") -> int | None:
    """The last transaction of a time or before, of one source where one is given; None where there is none.

    It is the last in the order of transactions: the clock of a later leader may be behind.
    """
    first, last = times(tables) or (time_ms, time_ms)
    begins = (min(time_ms, last) - reach for reach in REACHES_MS)
    given = {"time": time_ms, "source": source}
    return _LAST_UNTIL.look(tables, given, (*begins, first - 1), (LEAST, time_ms))


def first_since(tables: Tables, time_ms: int, source: str = "") -> int | None:
    """The first transaction of a time or after, likewise."""
    first, last = times(tables) or (time_ms, time_ms)
    ends = (max(time_ms, first) + reach for reach in REACHES_MS)
    given = {"time": time_ms, "source": source}
    return _FIRST_SINCE.look(tables, given, (*ends, last + 1), (time_ms, MOST))


def newest(tables: Tables) -> int | None:
    """The last transaction of all, None where there is none."""
    return _NEWEST.look(tables, {}, (extent(tables)[1] - 1,))


def times(tables: Tables) -> tuple[int, int] | None:
    """When the first and the last of the changes was (epoch ms), None where there is none."""
    return tables.extremes("changes", "time")


def latest_time(tables: Tables, zxid: int) -> int | None:
    """When the last change until a transaction was (epoch ms), None where there is none."""
    after, upto = _block(zxid)
    within = tables.lasting(_TIMES, {"after": after, "upto": upto}, trees.bounds(after, upto))
    if earlier := [each["time"] for each in within if each["zxid"] <= zxid]:
        return int(earlier[-1])
    for since in _reaching_back(tables, after):
        given = {"after": since, "zxid": after}
        (answer,) = tables.lasting(_TIME, given, trees.bounds(since, after))
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
    changed, here = _CHANGED.format(below=condition), trees.bounds(after, upto)
    within = tables.lasting(changed, {**given, "after": after, "upto": upto}, here)
    before = next((_instant(each) for each in reversed(within) if each["zxid"] < zxid), None)
    behind = next((_instant(each) for each in within if each["zxid"] > zxid), None)
    return (
        before or _before(tables, _LAST.format(below=condition), given, after),
        behind or _behind(tables, _FIRST.format(below=condition), given, upto),
    )


def _before(tables: Tables, sql: str, given: Mapping[str, object], zxid: int) -> Instant | None:
    """The last change up to a transaction."""
    for since in _reaching_back(tables, zxid):
        between = {**given, "after": since, "upto": zxid}
        (answer,) = tables.lasting(sql, between, trees.bounds(since, zxid))
        if answer["zxid"] is not None:
            return _instant(answer)
    return None


def _behind(tables: Tables, sql: str, given: Mapping[str, object], zxid: int) -> Instant | None:
    """The first change after a transaction."""
    _, last = extent(tables)
    for reach in (*REACHES, last - zxid):
        if zxid >= last:
            break
        upto = min(zxid + reach, last)
        between = {**given, "after": zxid, "upto": upto}
        (answer,) = tables.lasting(sql, between, trees.bounds(zxid, upto))
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
_UP: Final = _Bound("zxid_upto", is_above=True)
_DOWN: Final = _Bound("zxid_after", is_above=False)
_LAST_UNTIL: Final = _Furthest(max, f"time <= $time AND {_SOURCE}", _Bound("time", is_above=True), _UP)
_FIRST_SINCE: Final = _Furthest(min, f"time >= $time AND {_SOURCE}", _Bound("time", is_above=False), _DOWN)
_NEWEST: Final = _Furthest(max, "true", _UP, _UP)
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
