"""A list's query in its address: read against allow-lists, written without its defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables.topic_queries import SIZES, Query, Selection
from zkdash.live.parts import Block, Part, Text
from zkdash.web.frame import cells, tables
from zkdash.web.frame.parameters import Parameters

_MOST_WORDS = 20
_PARAMETERS = Parameters(frozenset({"q", "status", "sort", "page", "size"}))


class Spec(msgspec.Struct, frozen=True):
    """What one list understands: its sort keys; by the first of them it is sorted unless asked otherwise."""

    sorts: tuple[str, ...]

    def read(self, raw: str) -> tuple[Query, tuple[str, ...]]:
        """The query, and a sentence for each value that was not understood and is left out."""
        given = _PARAMETERS.read(raw)
        notes = given.notes
        query = Query(
            q=_text(given.last("q"), notes),
            status=_statuses(given.all("status"), notes),
            sort=self._sort(given.last_as_written("sort"), notes),
            page=page_number(given.last_as_written("page", "1"), notes),
            size=page_size(given.last_as_written("size", str(SIZES[0])), notes),
        )
        return query, tuple(notes)

    def write(self, query: Query, **changed: object) -> str:
        """The query string of a query, with some of it changed; another list starts at its first page."""
        if changed and "page" not in changed:
            changed["page"] = 1
        query = msgspec.structs.replace(query, **changed)
        pairs = [("q", query.q)] if query.q else []
        pairs += [("status", status) for status in query.status]
        pairs += [("sort", query.sort)] if query.sort not in {"", self.sorts[0]} else []
        pairs += [("page", str(query.page))] if query.page > 1 else []
        pairs += [("size", str(query.size))] if query.size != SIZES[0] else []
        return urlencode(pairs, errors="surrogatepass")

    def canonical(self, raw: str) -> tuple[str, tuple[str, ...]]:
        query, notes = self.read(raw)
        return self.write(query), notes

    def _sort(self, value: str, notes: list[str]) -> str:
        if not value or value == self.sorts[0]:
            return ""
        if value.removeprefix("-") in self.sorts:
            return value
        notes.append(f"“{value}” is no column to sort by; sorted by {self.sorts[0]}.")
        return ""


class Pager(msgspec.Struct, frozen=True):
    """Where a list stands among its pages; hrefs are "" where there is no such page."""

    what: str
    page: int
    pages: int
    previous: str
    following: str


def blocks(spec: Spec, query: Query, selection: Selection[Any], noun: str) -> tuple[Part, ...]:
    """The live numbers around a list: how many of each status, how many are shown, and the pages."""
    counts = tuple(
        Text(f"count-{severity.value}", cells.grouped(selection.counts.get(severity.value, 0)))
        for severity in Severity
    )
    return (*counts, *tally(spec, query, selection, noun))


def tally(spec: Spec, query: Query, selection: Selection[Any], noun: str) -> tuple[Text, Block]:
    """How many of a list are shown, and its pages: all that there is around a list without statuses."""
    pages = pager(selection.page, selection.pages, lambda page: "?" + spec.write(query, page=page))
    return Text("showing", _showing(selection, noun)), pages


def _showing(selection: Selection[Any], noun: str) -> str:
    shown, matched = cells.grouped(len(selection.rows)), cells.grouped(selection.matched)
    if selection.matched == selection.total:
        return f"Showing {shown} of {matched} {noun}"
    return f"Showing {shown} of {matched} that match, {cells.grouped(selection.total)} {noun} in all"


def pager(
    at: int, last: int, link: Callable[[int], str], *, part: str = "pager", what: str = "the list"
) -> Block:
    """The live pages of a list; `link` makes the address of another."""
    return Block(id=part, template="frame/pager.html", values=of_pages(at, last, link, what))


def of_pages(at: int, last: int, link: Callable[[int], str], what: str) -> Pager:
    """Where a list stands among its pages."""
    return Pager(
        what=what,
        page=at,
        pages=last,
        previous=link(at - 1) if at > 1 else "",
        following=link(at + 1) if at < last else "",
    )


class Slice(msgspec.Struct, frozen=True):
    """One page of what is listed in one way: `first` to `last` as Python slices, page `at` of `pages`."""

    at: int
    pages: int
    first: int
    last: int

    @property
    def place(self) -> slice:
        return slice(self.first, self.last)


def cut(total: int, page: int, size: int) -> Slice:
    """Page `page` of `total` rows, the last where there are fewer pages."""
    pages = max(1, -(-total // size))
    at = min(page, pages)
    return Slice(at, pages, (at - 1) * size, at * size)


def context(
    spec: Spec, query: Query, columns: Sequence[tables.Column[Any]], placeholder: str
) -> dict[str, Any]:
    """What the filter form and the header row need, all of it from the address."""
    return {
        "headings": tables.headings(
            columns, query.sort or spec.sorts[0], lambda sort: "?" + spec.write(query, sort=sort)
        ),
        "query": query,
        "placeholder": placeholder,
        "severities": tuple(Severity),
        "sizes": SIZES,
        "filtered": bool(query.q or query.status),
    }


class Toggle(msgspec.Struct, frozen=True):
    """A link beside the filter that puts one term into its text, or takes it out again."""

    label: str
    href: str


def toggle(spec: Spec, query: Query, term: str, off: str, on: str) -> Toggle:
    """`on` is the label while the term is not asked for, `off` while it is."""
    terms = query.q.split()
    if term in terms:
        terms.remove(term)
        return Toggle(off, "?" + spec.write(query, q=" ".join(terms)))
    return Toggle(on, "?" + spec.write(query, q=" ".join((*terms, term))))


def words(query: Query) -> str:
    """What a filter asks for, as its address says it."""
    terms = [f"q={query.q}"] if query.q else []
    return " and ".join(terms + [f"status={status}" for status in query.status])


def _text(text: str, notes: list[str]) -> str:
    """What is looked for: every word of it is looked for in every row."""
    words = text.split()
    if len(words) <= _MOST_WORDS:
        return text
    notes.append(f"The filter has {len(words)} words; the first {_MOST_WORDS} are looked for.")
    return " ".join(words[:_MOST_WORDS])


def _statuses(values: Sequence[str], notes: list[str]) -> tuple[str, ...]:
    """The statuses by their words or how these begin, in the order of Severity."""
    statuses = set()
    words = dict.fromkeys(word for given in values for word in given.split(","))
    if len(words) > _MOST_WORDS:
        notes.append(f"{len(words)} statuses are asked for; the first {_MOST_WORDS} are looked at.")
    for value in [*words][:_MOST_WORDS]:
        meant = [severity for severity in Severity if value and severity.value.startswith(value)]
        if len(meant) == 1:
            statuses.add(meant[0])
        else:
            names = ", ".join(severity.value for severity in Severity)
            notes.append(f"“{value}” is not a status; there are {names}.")
    return tuple(severity.value for severity in Severity if severity in statuses)


def page_number(value: str, notes: list[str]) -> int:
    if value.isdecimal() and len(value) <= 7 and int(value) >= 1:
        return int(value)
    notes.append(f"“{value}” is not a page; showing the first.")
    return 1


def page_size(value: str, notes: list[str]) -> int:
    for size in SIZES:
        if value == str(size):
            return size
    sizes = ", ".join(map(str, SIZES))
    notes.append(f"“{value}” is not a page size; there are {sizes}.")
    return SIZES[0]
