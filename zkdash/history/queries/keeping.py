"""Keep a moment, or all from one to another: the rows that tell it, as small tables of their own."""

from __future__ import annotations

import shutil
from typing import Any, Final, NamedTuple

from zkdash.history.places.location import Location
from zkdash.history.queries import instants, moment, trees
from zkdash.history.queries.moment import MomentError
from zkdash.history.queries.neighbours import Instant
from zkdash.history.store import kept
from zkdash.history.store.delta import Table
from zkdash.history.store.kept import Part
from zkdash.history.store.tables import Tables

# What a row takes beside its data and its path, about.
_ROW_BYTES: Final = 100


class TooLargeError(Exception):
    """What is to be kept is more than may be; one sentence says how much."""


class Origin(NamedTuple):
    """What a part begins with: whose changes tell it, its checkpoint, when that was, and the first moment
    that is kept for its own sake."""

    source: str
    checkpoint: int
    begun_ms: int
    first: Instant


def instant(tables: Tables, time_ms: int | None, zxid: int | None) -> Instant:
    """The moment of a time, after a transaction, or the newest. Raises MomentError."""
    if time_ms is not None:
        return instants.at_time(tables, time_ms)
    return instants.latest(tables) if zxid is None else instants.at_zxid(tables, zxid)


def keep(
    tables: Tables, directory: Location, number: int, since: Instant, until: Instant, *, most_bytes: int
) -> int:
    """Keep what tells all from one moment to another, and what led to the first, beside them.

    Returns how many bytes its files take. `most_bytes` bounds what they hold before it is compressed. Raises
    MomentError where it is not recorded whole, TooLargeError, QueryError, OSError.
    """
    from zkdash.history.store import files, schemas  # noqa: PLC0415 - Arrow, which only who keeps needs

    origin = _origin(tables, since)
    moment.check_joined(tables, origin.source, since.zxid, until.zxid)
    source, _ = moment.base(tables, until.zxid)
    if source != origin.source:
        raise MomentError("the two moments are told by different records: keep each by itself")
    values = {
        "source": origin.source,
        "checkpoint": origin.checkpoint,
        "upto": until.zxid,
        "begun_ms": origin.begun_ms,
        "to_ms": until.time_ms,
    }
    _check(tables, values, most_bytes)
    below = kept.staging(directory, number)
    try:
        within = trees.bounds_from(origin.checkpoint, until.zxid)
        for name, sql in _PARTS.items():
            schema = schemas.TABLES[name]
            given = {key: value for key, value in values.items() if f"${key}" in sql}
            rows = tables.query(sql, given, within).select(schema.names).cast(schema)
            files.append(Table(below / name), rows)
        size = sum(path.stat().st_size for path in below.rglob("*") if path.is_file())
        span = (origin.first.zxid, until.zxid, origin.first.time_ms, until.time_ms)
        kept.publish(directory, Part(number, *span, below))
    except BaseException:
        shutil.rmtree(below, ignore_errors=True)
        raise
    return size


def _origin(tables: Tables, since: Instant) -> Origin:
    """As far back as pages of the moment look for incidents, where that is recorded without a gap."""
    source, checkpoint = moment.base(tables, since.zxid)
    lead = instants.lead(tables, source, since)
    if 0 < lead < since.zxid:
        try:
            before, earlier = moment.base(tables, lead)
            if before == source:
                moment.check_joined(tables, source, lead, since.zxid)
                return Origin(source, earlier, _ms(tables, earlier), instants.at_zxid(tables, lead))
        except MomentError:
            pass
    return Origin(source, checkpoint, _ms(tables, checkpoint), since)


def _ms(tables: Tables, checkpoint: int) -> int:
    """When a checkpoint was, 0 where nothing tells."""
    try:
        return instants.at_zxid(tables, checkpoint).time_ms
    except MomentError:
        return 0


def _check(tables: Tables, values: dict[str, Any], most_bytes: int) -> None:
    given = {name: values[name] for name in ("source", "checkpoint", "upto")}
    (answer,) = tables.rows(_BYTES, given, trees.bounds_from(given["checkpoint"], given["upto"]))
    if answer["bytes"] > most_bytes:
        raise TooLargeError(
            f"it holds about {answer['bytes']} bytes, and {most_bytes} may be kept (bookmark_bytes of "
            "[limits]): keep a shorter time"
        )


# What tells all after the checkpoint up to a transaction, by table; and no more, so that a part claims no
# more than it tells.
_CHANGES: Final = f"FROM changes WHERE source = $source AND {trees.placed('$checkpoint', '$upto')}"
_CHECKPOINT: Final = "FROM znodes_checkpoint WHERE zxid = $checkpoint"
_PARTS: Final = {
    "znodes_checkpoint": f"SELECT * {_CHECKPOINT}",
    "changes": f"SELECT * {_CHANGES}",
    "coverage": """
        SELECT greatest(zxid_from, $checkpoint + 1) AS zxid_from, least(zxid_upto, $upto) AS zxid_upto
        FROM coverage WHERE $source = 'txnlog' AND zxid_upto > $checkpoint AND zxid_from <= $upto
    """,
    # by transactions alone: those of an interval may have come a little after its last proof
    "watched": """
        SELECT greatest(zxid_from, $checkpoint + 1) AS zxid_from, least(zxid_upto, $upto) AS zxid_upto,
            CASE WHEN zxid_from <= $checkpoint THEN least(greatest(from_ms, $begun_ms), to_ms)
                ELSE from_ms END AS from_ms,
            CASE WHEN zxid_upto > $upto THEN greatest(least(to_ms, $to_ms), from_ms)
                ELSE to_ms END AS to_ms,
            why, is_caught_up
        FROM watched WHERE $source = 'watch' AND zxid_upto >= $checkpoint AND zxid_from <= $upto + 1
    """,
}
_BYTES: Final = f"""
SELECT coalesce(sum(bytes), 0)::BIGINT AS bytes FROM (
    SELECT {_ROW_BYTES} + coalesce(octet_length(data), 0) + coalesce(strlen(path), 0) AS bytes {_CHECKPOINT}
    UNION ALL
    SELECT {_ROW_BYTES} + coalesce(octet_length(data), 0) + coalesce(strlen(path), 0) AS bytes {_CHANGES}
)
"""  # noqa: S608 - our own words
