"""What the lanes of a Timeline draw of the time that tables know: who was there, and what was out of sync."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from zkdash.history.queries.window import Span
from zkdash.history.store.tables import Tables
from zkdash.time_units import MINUTE_MS

TABLES: Final = (
    "broker_sessions",
    "controller_epochs",
    "rebalances",
    "under_replicated_minutes",
)
# So many rows of each are read; the newest of more.
_MOST: Final = 2_000
_STEPS: Final = 120


class Term(msgspec.Struct, frozen=True):
    """A broker was registered, or was the controller, from one instant to another (epoch ms)."""

    broker: int
    from_ms: int
    to_ms: int


class Step(msgspec.Struct, frozen=True):
    """The most partitions of any minute of a step: under-replicated, and without a leader."""

    from_ms: int
    under_replicated: int
    offline: int


class Rebalance(msgspec.Struct, frozen=True):
    """A group's, from its first change of an owner to its last; `moved` counts partitions."""

    group: str
    from_ms: int
    to_ms: int
    moved: int
    cause: str


class Past(msgspec.Struct, frozen=True):
    """What the tables know of a window; outside of `spans` nothing. `steps` are `step_ms` long, and one that
    is missing within the spans had nothing out of sync."""

    spans: tuple[Span, ...] = ()
    registered: tuple[Term, ...] = ()
    controllers: tuple[Term, ...] = ()
    steps: tuple[Step, ...] = ()
    step_ms: int = MINUTE_MS
    rebalances: tuple[Rebalance, ...] = ()


NOTHING: Final = Past()


def look(tables: Tables, spans: tuple[Span, ...], from_ms: int, to_ms: int) -> Past:
    """What is known from one instant to another, of the `spans` that the tables know. Raises QueryError."""
    if not spans:
        return NOTHING
    step_ms = max(1, -(-(to_ms - from_ms) // (_STEPS * MINUTE_MS))) * MINUTE_MS
    # What lasts goes on for as long as the tables tell of anything.
    wanted = {"from": from_ms, "to": to_ms, "reach": spans[-1].to_ms, "most": _MOST}
    return Past(
        spans=spans,
        registered=tuple(Term(**row) for row in _rows(tables, "broker_sessions", "broker", wanted)),
        controllers=tuple(Term(**row) for row in _rows(tables, "controller_epochs", "broker", wanted)),
        steps=tuple(
            Step(**row)
            for row in tables.rows(
                """
                SELECT minute - minute % $step AS from_ms, max(partitions)::BIGINT AS under_replicated,
                    max(offline_partitions)::BIGINT AS offline
                FROM under_replicated_minutes WHERE minute >= $from AND minute < $to
                GROUP BY from_ms ORDER BY from_ms
                """,
                {"from": from_ms - step_ms, "to": to_ms, "step": step_ms},
            )
        ),
        step_ms=step_ms,
        rebalances=tuple(
            Rebalance(**row) for row in _rows(tables, "rebalances", '"group", moved, cause', wanted)
        ),
    )


def _rows(tables: Tables, table: str, columns: str, wanted: dict[str, Any]) -> list[dict[str, Any]]:
    """What of a table overlaps the window, oldest first."""
    rows = tables.rows(
        f"""
        SELECT {columns}, from_ms, coalesce(to_ms, greatest(from_ms, $reach)) AS to_ms FROM {table}
        WHERE from_ms < $to AND coalesce(to_ms, $reach) >= $from AND {columns.partition(",")[0]} IS NOT NULL
        ORDER BY from_ms DESC LIMIT $most
        """,  # noqa: S608 - our own words
        wanted,
    )
    return rows[::-1]
