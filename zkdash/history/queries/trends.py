"""What the charts of Trends show, asked of the derived tables: a few lines each over one window.

Unknown is not zero: a step of which nothing was read holds None. In a step that was read, counts that have
no row are 0; rates and lags are None there, since a group that did not commit has no rate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from zkdash.history.queries import window as windows
from zkdash.history.queries.window import Span, Window
from zkdash.history.store.tables import Tables
from zkdash.time_units import DAY_MS, HOUR_MS, MINUTE_MS

MOST_LINES: Final = 4
MOST_PATHS: Final = 15


class Line(msgspec.Struct, frozen=True):
    """One line: a value for each step of the window, None where it is not known. `is_all` sums all names."""

    name: str
    values: tuple[float | None, ...]
    is_all: bool = False


class Chart(msgspec.Struct, frozen=True):
    """Lines of one unit. `names` counts what they were chosen from: those with the highest values."""

    id: str
    title: str
    unit: str
    lines: tuple[Line, ...]
    names: int
    missing: str


class HotPath(msgspec.Struct, frozen=True):
    """A prefix of paths: changes at or below it, and bytes of data that they wrote."""

    prefix: str
    writes: int
    bytes: int


class Trends(msgspec.Struct, frozen=True):
    """All charts of one window. `spans` are what the tables know, also outside of it; `writes` are all."""

    window: Window
    spans: tuple[Span, ...]
    charts: tuple[Chart, ...]
    hot_paths: tuple[HotPath, ...]
    writes: int


class _Question(msgspec.Struct, frozen=True):
    """How a chart is asked: `found` yields step, name (null for all of them together) and value.

    A `count` that has no row in a step that was read is 0. `unit` is told the length of a step in words.
    """

    id: str
    title: str
    unit: Callable[[str], str]
    found: str
    count: bool
    missing: str
    all: str = ""


_STEP: Final = "minute - minute % $step AS step"
_WITHIN: Final = "minute >= $from AND minute < $to"

_QUESTIONS: Final = (
    _Question(
        "under-replicated",
        "Under-replicated minutes",
        lambda step: f"partition-minutes in {step}",
        f"""
        SELECT {_STEP}, unnest(['under-replicated', 'without leader']) AS name,
            unnest([sum(partition_seconds) / 60, sum(offline_seconds) / 60]) AS value
        FROM under_replicated_minutes WHERE {_WITHIN} GROUP BY step
        """,  # noqa: S608 - our own words
        True,
        "No partition was under-replicated in what is known of this time.",
    ),
    _Question(
        "leader-churn",
        "Leader changes",
        lambda step: f"changes in {step}",
        f"""
        SELECT {_STEP}, topic AS name, sum(changes) AS value FROM leader_churn WHERE {_WITHIN}
        GROUP BY GROUPING SETS ((step, topic), (step))
        """,  # noqa: S608 - our own words
        True,
        "No leader changed in what is known of this time.",
        "all topics",
    ),
    _Question(
        "rebalances",
        "Rebalances",
        lambda step: f"begun in {step}",
        """
        SELECT from_ms - from_ms % $step AS step, "group" AS name, count(*) AS value FROM rebalances
        WHERE from_ms >= $from AND from_ms < $to GROUP BY GROUPING SETS ((step, "group"), (step))
        """,
        True,
        "No group rebalanced in what is known of this time.",
        "all groups",
    ),
    _Question(
        "commit-rates",
        "Commit rates",
        lambda _: "messages a second",
        f"""
        SELECT step, name, sum(rate) AS value FROM (
            SELECT {_STEP}, "group" AS name, avg(per_second) AS rate FROM offset_rates
            WHERE {_WITHIN} AND per_second IS NOT NULL GROUP BY step, "group", topic, part
        ) GROUP BY step, name
        """,  # noqa: S608 - our own words
        False,
        "No group committed twice to ZooKeeper in what is known of this time: there is no rate.",
    ),
    _Question(
        "lag",
        "Lag",
        lambda _: "messages",
        f"""
        SELECT step, name, sum(lag) AS value FROM (
            SELECT {_STEP}, "group" AS name, arg_max(lag, minute) AS lag FROM lag_estimates
            WHERE {_WITHIN} GROUP BY step, "group", topic, part
        ) GROUP BY step, name
        """,  # noqa: S608 - our own words
        False,
        "Lag is unknown: ZooKeeper holds no log ends, and none were recorded from the brokers in this time.",
    ),
    _Question(
        "writes",
        "Writes to ZooKeeper",
        lambda step: f"changes in {step}",
        f"""
        SELECT {_STEP}, nullif(prefix, '/') AS name, sum(writes) AS value FROM hot_paths
        WHERE {_WITHIN} AND regexp_matches(prefix, '^/[^/]*$') GROUP BY step, prefix
        """,  # noqa: S608 - our own words
        True,
        "Nothing was written in what is known of this time.",
        "all paths",
    ),
    _Question(
        "disk",
        "Brokers’ disks",
        lambda step: f"bytes by the last look in {step}",
        """
        SELECT step, name, sum(bytes) AS value FROM (
            SELECT minute - minute % $step AS step, topic AS name, broker, arg_max(bytes, minute) AS bytes
            FROM disk_usage WHERE minute >= $from AND minute < $to GROUP BY step, topic, broker
        ) GROUP BY GROUPING SETS ((step, name), (step))
        """,
        False,
        "No run of the pipeline looked at log directories of the brokers in this time.",
        "all topics",
    ),
)
# What each chart is called, by its id, in their order.
TITLES: Final = {question.id: question.title for question in _QUESTIONS}
_UNITS: Final = (
    (DAY_MS, "a day", "days"),
    (HOUR_MS, "an hour", "hours"),
    (MINUTE_MS, "a minute", "minutes"),
)
# What a look at the charts reads.
_BY_MINUTE: Final = (
    "under_replicated_minutes",
    "leader_churn",
    "offset_rates",
    "lag_estimates",
    "hot_paths",
    "disk_usage",
)
TABLES: Final = (*windows.SOURCES, *_BY_MINUTE, "rebalances")


def bounds(window: Window) -> dict[str, dict[str, tuple[int, int]]]:
    """What `Tables` may leave out of TABLES where no more than a window is asked for."""
    within = window.from_ms, window.to_ms - 1
    return {**{name: {"minute": within} for name in _BY_MINUTE}, "rebalances": {"from_ms": within}}


def look(tables: Tables, window: Window) -> Trends:
    """All charts of a window. Raises QueryError."""
    spans = windows.spans(tables)
    covered = window.known(spans)
    writes, paths = _hot_paths(tables, window)
    return Trends(
        window=window,
        spans=spans,
        charts=tuple(_chart(tables, window, covered, question) for question in _QUESTIONS),
        hot_paths=paths,
        writes=writes,
    )


def _chart(tables: Tables, window: Window, covered: frozenset[int], question: _Question) -> Chart:
    rows = tables.rows(
        f"""
        WITH found AS ({question.found}),
        highest AS (
            SELECT name FROM found WHERE name IS NOT NULL
            GROUP BY name ORDER BY max(value) DESC, name LIMIT {MOST_LINES}
        )
        SELECT step, name, value, (SELECT count(DISTINCT name) FROM found) AS names
        FROM found WHERE name IS NULL OR name IN (FROM highest)
        """,  # noqa: S608 - our own words
        {"from": window.from_ms, "to": window.to_ms, "step": window.step_ms},
    )
    lines: dict[str, dict[int, float]] = {}
    for row in rows:
        lines.setdefault(row["name"] or "", {})[row["step"]] = float(row["value"])
    return Chart(
        id=question.id,
        title=question.title,
        unit=question.unit(words(window.step_ms)),
        lines=tuple(
            Line(name or question.all, _values(window, covered, values, question.count), not name)
            for name, values in sorted(lines.items(), key=_all_first_then_highest)
        ),
        names=rows[0]["names"] if rows else 0,
        missing=question.missing,
    )


def _all_first_then_highest(line: tuple[str, dict[int, float]]) -> tuple[bool, float, str]:
    name, values = line
    return bool(name), -max(values.values()), name


def _values(
    window: Window, covered: frozenset[int], values: dict[int, float], count: bool
) -> tuple[float | None, ...]:
    return tuple(values.get(step, 0.0 if count and step in covered else None) for step in window.steps)


def _hot_paths(tables: Tables, window: Window) -> tuple[int, tuple[HotPath, ...]]:
    """All writes, and the prefixes with the most of them, a shorter one before what lies below it."""
    rows = tables.rows(
        f"""
        SELECT prefix, sum(writes)::BIGINT AS writes, sum(bytes)::BIGINT AS bytes FROM hot_paths
        WHERE {_WITHIN} GROUP BY prefix ORDER BY writes DESC, prefix LIMIT {MOST_PATHS + 1}
        """,  # noqa: S608 - our own words
        {"from": window.from_ms, "to": window.to_ms},
    )
    hot_paths = {row["prefix"]: HotPath(**row) for row in rows}
    everything = hot_paths.pop("/", None)
    return everything.writes if everything else 0, tuple(hot_paths.values())[:MOST_PATHS]


def words(step_ms: int) -> str:
    """The length of a step: "a minute", "5 minutes", "an hour", "6 hours", "a day"."""
    for length, single, many in _UNITS:
        if step_ms == length:
            return single
        if step_ms > length:
            return f"{step_ms // length} {many}"
    raise ValueError(f"{step_ms} ms is shorter than a minute")
