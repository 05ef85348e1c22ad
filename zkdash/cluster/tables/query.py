"""What a table is asked for, and one page of the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

import msgspec

from zkdash.cluster.model.ranking import Entry, Ranking, rank
from zkdash.cluster.model.severity import Severity

R = TypeVar("R")

SIZES = (50, 200, 1000)
STATUSES = tuple(severity.value for severity in Severity)

Keys = Mapping[str, Callable[[R], Any]]
DEFAULT_ORDER: Keys[Any] = {}  # of a table that is not to be sorted otherwise


class Query(msgspec.Struct, frozen=True):
    """What a list page was asked for. What is not allowed falls back to the default.

    `sort` is a key of the table's, with "-" before it to fall; "" is the default order. `page` counts from 1.
    """

    q: str = ""
    status: tuple[str, ...] = ()
    sort: str = ""
    page: int = 1
    size: int = SIZES[0]

    @property
    def ticked(self) -> frozenset[str]:
        """The statuses asked for; all where none is."""
        return frozenset(self.status).intersection(STATUSES) or frozenset(STATUSES)

    def order(self, allowed: Iterable[str]) -> tuple[str | None, bool]:
        """(key to sort by, whether it falls); (None, False) for the default order."""
        key = self.sort.removeprefix("-")
        return (key, self.sort.startswith("-")) if key in allowed else (None, False)


class Selection(msgspec.Struct, Generic[R], frozen=True):
    """The rows of one page.

    `total` counts the table's rows, `matched` those that pass the query, `counts` those that pass its text,
    by status (so that each status tick-box can say what it would show). `page` is of `pages`, at least 1.
    """

    rows: tuple[R, ...]
    total: int
    matched: int
    page: int
    pages: int
    counts: Mapping[str, int]


def choose(
    rows: Sequence[R], query: Query, keys: Keys[R], severity: Callable[[R], Severity], *, total: int
) -> Selection[R]:
    """The page of rows that already pass the query's text: by status, sorted, cut."""
    severities = Counter(map(severity, rows))
    ticked = query.ticked
    if len(ticked) < len(STATUSES):
        rows = [row for row in rows if severity(row).value in ticked]
    key, falls = query.order(keys)
    if key is not None:
        rows = in_order(rows, keys[key], falls=falls)
    page, pages, cut = window(query, len(rows))
    counts = {severity.value: severities[severity] for severity in Severity}
    return Selection(tuple(rows[cut]), total, len(rows), page, pages, counts)


def first(ranking: Ranking, severities: Sequence[int], query: Query, row: Callable[[str], R]) -> Selection[R]:
    """The default order, of which only the page is read. `severities` counts what is ranked, by status."""
    return page_of(_ranked(ranking, severities, query.ticked), severities, query, row)


def ticked(entries: Iterable[Entry], query: Query) -> Iterator[str]:
    """Of what is ranked but no `Ranking`, the names with the statuses that are asked for."""
    ranks = {severity.rank for severity in Severity if severity.value in query.ticked}
    if len(ranks) == len(Severity):
        return (name for _, name in entries)
    return (name for place, name in entries if rank(place) in ranks)


def page_of(
    names: Iterable[str], severities: Sequence[int], query: Query, row: Callable[[str], R]
) -> Selection[R]:
    """The page of names that have the statuses asked for, in their order, read up to the page's end.

    `severities` counts all that there are, by status.
    """
    counts = dict(zip(STATUSES, severities, strict=True))
    matched = sum(counts[status] for status in query.ticked)
    page, pages, cut = window(query, matched)
    shown = islice(names, cut.start, cut.stop)
    return Selection(tuple(map(row, shown)), sum(severities), matched, page, pages, counts)


def with_rows(chosen: Selection[Any], row: Callable[[Any], R]) -> Selection[R]:
    """The selection with a row made of each of its rows."""
    made = tuple(map(row, chosen.rows))
    return Selection(made, chosen.total, chosen.matched, chosen.page, chosen.pages, chosen.counts)


def window(query: Query, matched: int) -> tuple[int, int, slice]:
    """(page, pages, its rows); a page that is not there is the nearest that is."""
    size = query.size if query.size in SIZES else SIZES[0]
    pages = max(1, -(-matched // size))
    page = min(max(query.page, 1), pages)
    return page, pages, slice((page - 1) * size, page * size)


def _ranked(ranking: Ranking, severities: Sequence[int], ticked: frozenset[str]) -> Iterator[str]:
    """The names with these statuses, read as far as is asked for."""
    start = 0
    for severity, count in zip(Severity, severities, strict=True):
        if severity.value in ticked:
            yield from (name for _, name in ranking.between(start, start + count))
        start += count


def in_order(rows: Sequence[R], key: Callable[[R], Any], *, falls: bool) -> list[R]:
    """Sorted by a key, equal ones in their order; those without a value last, rising or falling."""
    # By their places, as a pair for each row would have the collector look at all that is in memory.
    values = [key(row) for row in rows]
    places = [place for place, value in enumerate(values) if value is not None]
    places.sort(key=values.__getitem__, reverse=falls)
    return [rows[place] for place in places] + [
        row for row, value in zip(rows, values, strict=True) if value is None
    ]
