"""Where a moment lies in what is recorded: its transaction and its time, what came just before and after.

Times are epoch milliseconds, as `row.FIELDS` tells of them.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from zkdash.cluster.changes import row
from zkdash.history.queries import moment, neighbours, trees
from zkdash.history.queries.moment import MomentError
from zkdash.history.queries.neighbours import Instant
from zkdash.history.store import coverage
from zkdash.history.store.coverage import Stretch
from zkdash.history.store.tables import Tables
from zkdash.time_units import MINUTE_MS

# A stretch before a moment is this long, and holds so many changes, at most; with commits so many rows.
LEAD_MS: Final = 10 * MINUTE_MS
LEAD_CHANGES: Final = 2_000
LEAD_ROWS: Final = 4_500  # fewer than `steps.MOST`


class Around(msgspec.Struct, frozen=True):
    """What is recorded around a moment by its `source`: from when to when without a gap, and why not before
    ("" where that is not known); the next changes before and after it, None for none."""

    source: str
    from_ms: int
    to_ms: int
    why: str
    previous: Instant | None
    following: Instant | None


def at_time(tables: Tables, time_ms: int) -> Instant:
    """The moment of a time. Raises MomentError where nothing tells what was then."""
    zxid = neighbours.last_until(tables, time_ms)
    recorded = moment.intervals(tables)
    seen = next((each for each in recorded if each["from_ms"] <= time_ms <= each["to_ms"]), None)
    if seen is not None:
        return Instant(max(zxid or 0, _begun(tables, recorded, seen, time_ms)), time_ms)
    spans = [(each["from_ms"], each["to_ms"]) for each in recorded]
    if changed := neighbours.times(tables):
        spans.append(changed)
    begins, ends = [begin for begin, _ in spans], [end for _, end in spans]
    if not spans:
        raise MomentError("nothing is recorded of this cluster yet")
    if time_ms < min(begins):
        raise MomentError(f"nothing is recorded before {_words(min(begins))}", min(begins))
    if time_ms > max(ends):
        raise MomentError(
            f"it is recorded up to {_words(max(ends))} only; what is newer is told soon", max(ends)
        )
    logged, watched = (row.LOGGED, _stretches(tables)), (row.WATCHED, _runs(recorded))
    is_told = any(_is_within(tables, source, stretches, time_ms) for source, stretches in (logged, watched))
    if zxid is not None and is_told:
        return Instant(zxid, time_ms)
    before = max((end for end in ends if end <= time_ms), default=time_ms)
    after = min((begin for begin in begins if begin >= time_ms), default=time_ms)
    why = next((each["why"] for each in recorded if each["from_ms"] == after and each["why"]), "")
    raise MomentError(
        f"nothing is recorded between {_words(before)} and {_words(after)}" + (f": {why}" if why else ""),
        before,
        after,
    )


def latest(tables: Tables) -> Instant:
    """The newest moment that is recorded. Raises MomentError where none is."""
    ends = [Instant(int(each["zxid_upto"]), int(each["to_ms"])) for each in moment.intervals(tables)]
    zxid, times = neighbours.newest(tables), neighbours.times(tables)
    if zxid is not None and times is not None:
        ends.append(Instant(zxid, times[1]))
    if not ends:
        raise MomentError("nothing is recorded of this cluster yet")
    return Instant(max(end.zxid for end in ends), max(end.time_ms for end in ends))


def at_zxid(tables: Tables, zxid: int) -> Instant:
    """The moment after a transaction; its time is that of the last change until then. Raises MomentError."""
    if (time_ms := neighbours.latest_time(tables, zxid)) is not None:
        return Instant(zxid, time_ms)
    begun = (each["from_ms"] for each in moment.intervals(tables) if each["zxid_from"] - 1 <= zxid)
    if (began_ms := next(begun, None)) is None:
        raise MomentError(f"nothing is recorded of transaction 0x{zxid:x}, nor of any before it")
    return Instant(zxid, int(began_ms))


def around(tables: Tables, source: str, instant: Instant, below: Sequence[str] = ()) -> Around:
    """What is recorded around a moment that a source tells. Commits of offsets are no changes here.

    The next changes are those of znodes at some paths or `below` them, where such are given.
    """
    previous, following = neighbours.of(tables, source, instant.zxid, below)
    if source == row.LOGGED:
        from_ms, to_ms, why = _logged(tables, instant)
    else:
        from_ms, to_ms, why = _watched(moment.intervals(tables), instant)
    return Around(source, from_ms, to_ms, why, previous, following)


def lead(tables: Tables, source: str, instant: Instant) -> int:
    """The transaction after which the stretch before a moment begins."""
    first, _ = neighbours.extent(tables)
    for reach in (*neighbours.REACHES, instant.zxid - first):
        after = max(instant.zxid - reach, first)
        given = {"source": source, "zxid": instant.zxid, "after": after}
        files = trees.bounds(after, instant.zxid)
        answers = tables.rows(_LEAD, {**given, "time": instant.time_ms - LEAD_MS}, files)
        answers += [each for sql in (_MANY_CHANGES, _MANY_ROWS) for each in tables.rows(sql, given, files)]
        # what is found nearby is later than all that is not
        if begins := [int(each["place"]) for each in answers if each["place"] is not None]:
            return max(begins)
        if instant.zxid - reach <= first:
            break
    return 0


def _begun(
    tables: Tables, recorded: Sequence[Mapping[str, Any]], seen: Mapping[str, Any], time_ms: int
) -> int:
    """The transaction that a run of intervals began after, to one of which a time belongs.

    Where a later one of the run begins says nothing of what was at its first time: it is that of the last
    proof, after which transactions of the interval before may have come. The run's checkpoint holds what came
    until the first one ended, of which no change tells: from then on it is what was there.
    """
    upto = recorded[: recorded.index(seen) + 1]
    first = next((each for each in reversed(upto) if each["why"] is not None), upto[0])
    begun = int(first["zxid_from"]) - 1
    if time_ms < first["to_ms"]:
        return begun
    return min(moment.settled(tables, begun), max(begun, int(first["zxid_upto"])))


def _is_within(tables: Tables, source: str, stretches: Sequence[Stretch], time_ms: int) -> bool:
    """Whether a source tells what was next before a time and what was next after it, and all between."""
    if not stretches or (before := neighbours.last_until(tables, time_ms, source)) is None:
        return False
    if (after := neighbours.first_since(tables, time_ms, source)) is None:
        return False
    return any(each.first <= before and after <= each.last for each in stretches)


def _runs(intervals: Sequence[Mapping[str, Any]]) -> list[Stretch]:
    """The transactions of the recorder's intervals, joined where nothing lies between two."""
    runs = list[Stretch]()
    for each in intervals:
        if runs and each["why"] is None:
            runs[-1] = Stretch(runs[-1].first, max(runs[-1].last, each["zxid_upto"]))
        else:
            runs.append(Stretch(each["zxid_from"], each["zxid_upto"]))
    return runs


def _logged(tables: Tables, instant: Instant) -> tuple[int, int, str]:
    alone = Stretch(instant.zxid, instant.zxid)  # a snapshot beside all logs
    stretches = (each for each in _stretches(tables) if each.first <= instant.zxid <= each.last)
    stretch = next(stretches, alone)
    (answer,) = tables.lasting(
        "SELECT min(time) AS first, max(time) AS last FROM changes "
        "WHERE source = $source AND zxid >= $from AND zxid <= $upto",
        {"source": row.LOGGED, "from": stretch.first, "upto": stretch.last},
        {"changes": {"zxid": (stretch.first, stretch.last)}},
    )
    return int(answer["first"] or instant.time_ms), int(answer["last"] or instant.time_ms), ""


def _stretches(tables: Tables) -> list[Stretch]:
    return coverage.joined((each["zxid_from"], each["zxid_upto"]) for each in moment.covered(tables))


def _watched(intervals: Sequence[Mapping[str, Any]], instant: Instant) -> tuple[int, int, str]:
    """The intervals of the recorder that follow one another and hold the moment."""
    from_ms = to_ms = instant.time_ms
    why = ""
    for each in intervals:
        if each["why"] is not None:
            if each["zxid_from"] - 1 > instant.zxid:
                break
            from_ms, why = each["from_ms"], each["why"]
        to_ms = each["to_ms"]
    # an interval ends with its last proof; its last transactions may have come after that
    return min(from_ms, instant.time_ms), max(to_ms, instant.time_ms), why


def _words(time_ms: int) -> str:
    when = datetime.datetime.fromtimestamp(time_ms / 1000, datetime.UTC)
    return when.strftime("%Y-%m-%d %H:%M:%S UTC")


_BEFORE: Final = f"source = $source AND {trees.placed('$after', '$zxid')}"
_LEAD: Final = f"SELECT max({trees.AT}) FILTER (time <= $time) AS place FROM changes WHERE {_BEFORE}"  # noqa: S608 - our own words
_MANY_CHANGES: Final = f"""
SELECT {trees.AT} AS place FROM changes WHERE {neighbours.CHANGES} AND {_BEFORE}
ORDER BY place DESC LIMIT 1 OFFSET {LEAD_CHANGES}
"""  # noqa: S608 - our own words
_MANY_ROWS: Final = f"""
SELECT {trees.AT} AS place FROM changes WHERE {_BEFORE} ORDER BY place DESC LIMIT 1 OFFSET {LEAD_ROWS}
"""  # noqa: S608 - our own words
