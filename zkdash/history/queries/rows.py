"""The rows of one derived table: those of a stretch of time and of a name, the newest first, page by page."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from zkdash.history.store.derived_columns import COLUMNS
from zkdash.history.store.tables import Tables

# By which columns rows may be chosen, where the table has them.
NAMES: Final = ("topic", "group", "broker", "session", "prefix")
# Which column tells when a row was, where it is no stretch from from_ms to to_ms.
_INSTANTS: Final = ("minute", "time")
# Rows further behind are not read: whoever wants them asks for a shorter time, or reads the table itself.
MOST_BEFORE: Final = 100_000


class Question(msgspec.Struct, frozen=True):
    """Rows of a table of `derived_columns` that were at any time from `from_ms` to `to_ms` (without it).

    `names` are values of some of NAMES, and all of them hold. `page` counts from 1, of `size` rows each.
    """

    table: str
    from_ms: int
    to_ms: int
    names: tuple[tuple[str, str | int], ...] = ()
    page: int = 1
    size: int = 50


class Rows(msgspec.Struct, frozen=True):
    """One page of the `matched` rows, by their columns; `page` is of `pages`, at least 1."""

    rows: tuple[dict[str, Any], ...] = ()
    matched: int = 0
    page: int = 1
    pages: int = 1


def look(tables: Tables, question: Question) -> Rows:
    """The page that is asked for; one that is not there is the nearest that is. Raises QueryError."""
    where, values = _where(question)
    (count,) = tables.rows(
        f'SELECT count(*)::BIGINT AS matched FROM "{question.table}" WHERE {where}',  # noqa: S608 - our words
        values,
    )
    matched: int = count["matched"]
    pages = max(1, -(-min(matched, MOST_BEFORE) // question.size))
    page = min(question.page, pages)
    shown = tables.rows(
        f"""
        SELECT {_listed(_columns(question.table))} FROM "{question.table}" WHERE {where}
        ORDER BY {_order(question.table)} LIMIT $size OFFSET $before
        """,  # noqa: S608 - our own words
        {**values, "size": question.size, "before": (page - 1) * question.size},
    )
    return Rows(tuple(shown), matched, page, pages)


def names(table: str) -> tuple[str, ...]:
    """By which of NAMES a table's rows can be chosen."""
    columns = _columns(table)
    return tuple(name for name in NAMES if name in columns)


def has_time(table: str) -> bool:
    """Whether its rows are of some time; those of others are of now."""
    return _instant(table) is not None


def _where(question: Question) -> tuple[str, dict[str, object]]:
    """The condition, and the values of its parameters."""
    terms, values = ["true"], dict[str, object]()
    instant = _instant(question.table)
    if instant is not None:
        values |= {"from": question.from_ms, "to": question.to_ms}
        terms += [f"{instant} < $to", f"{_end(question.table, instant)} >= $from"]
    for number, (name, value) in enumerate(question.names):
        terms.append(f'"{name}" = $name{number}')
        values[f"name{number}"] = value
    return " AND ".join(terms), values


def _instant(table: str) -> str | None:
    columns = _columns(table)
    return next((name for name in ("from_ms", *_INSTANTS) if name in columns), None)


def _end(table: str, instant: str) -> str:
    """What lasts has no end: it is of any later time."""
    return "coalesce(to_ms, $to)" if "to_ms" in _columns(table) else instant


def _order(table: str) -> str:
    """The newest first; rows of one instant by all else, so that pages neither repeat nor miss one."""
    instant, columns = _instant(table), _columns(table)
    newest = [f"{instant} DESC"] if instant else []
    return ", ".join([*newest, _listed([name for name in columns if name != instant])])


def _columns(table: str) -> list[str]:
    return [column.name for column in COLUMNS[table]]


def _listed(columns: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)
