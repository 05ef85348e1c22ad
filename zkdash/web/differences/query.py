"""What is asked of the differences of two moments, and what both of their pages have above the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec

from zkdash.cluster.tables.query import SIZES
from zkdash.kafka import paths
from zkdash.kafka.znode_kinds import BY_KIND, ZNODE_KINDS
from zkdash.live.parts import Block, Part, Text
from zkdash.live.snapshot import Past, Snapshot
from zkdash.time_units import MINUTE_MS
from zkdash.web.frame import cells, links, listing, shapes, subjects, times
from zkdash.web.frame.parameters import Parameters, of_canonical
from zkdash.web.frame.subjects import Subject

R = TypeVar("R")

OTHER: Final = "other"
AREAS: Final = (*sorted({"problems", *(kind.area for kind in ZNODE_KINDS)}), OTHER)
_PARAMETERS: Final = Parameters(frozenset({"q", "area", "page", "size", *subjects.NAMES}))
_BEFORE: Final = (
    ("a minute", MINUTE_MS),
    ("15 minutes", 15 * MINUTE_MS),
    ("an hour", 60 * MINUTE_MS),
    ("a day", 24 * 60 * MINUTE_MS),
)
SCHEMAS: Final = {
    "q": shapes.TEXT,
    "area": {"type": "string", "enum": list(AREAS)},
    "page": shapes.PAGE,
    "size": {"type": "integer", "enum": list(SIZES)},
    **subjects.SCHEMAS,
}


class DifferencesQuery(msgspec.Struct, frozen=True):
    """From which moment on (as the address has it, "" for none), of which thing, of which area, with which
    text; and which page of how many rows."""

    since: str = ""
    area: str = ""
    text: str = ""
    page: int = 1
    size: int = SIZES[0]
    subject: Subject | None = None

    def write(self, **changed: object) -> str:
        """The query string, with some of it changed; another selection starts at its first page."""
        if changed and "page" not in changed:
            changed["page"] = 1
        query = msgspec.structs.replace(self, **changed)
        pairs = [("from", query.since)] if query.since else []
        pairs += query.subject.pairs if query.subject is not None else ()
        pairs += [("area", query.area)] if query.area else []
        pairs += [("q", query.text)] if query.text else []
        pairs += [("page", str(query.page))] if query.page > 1 else []
        pairs += [("size", str(query.size))] if query.size != SIZES[0] else []
        return links.query(pairs)

    @property
    def filters(self) -> bool:
        """Whether some of what differs is asked for."""
        return bool(self.subject or self.area or self.text)

    def is_of(self, path: str) -> bool:
        """Whether a znode tells of the thing that is asked for."""
        return self.subject is None or self.subject.holds(path)

    def means(self, area: str, path: str, text: str) -> bool:
        """Whether something of an area that a znode tells, with such words, is asked for."""
        return (
            self.is_of(path)
            and self.area in {"", area}
            and all(word in text.lower() for word in self.text.lower().split())
        )


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """The query with what is not understood left out, and a sentence for each of these."""
    given = _PARAMETERS.read(raw)
    notes = given.notes
    area = given.last("area")
    if area and area not in AREAS:
        notes.append(f"“{area}” is not an area; there are {', '.join(AREAS)}.")
        area = ""
    query = DifferencesQuery(
        subject=subjects.read(given),
        since=given.last("from"),
        area=area,
        text=given.last("q"),
        page=listing.page_number(given.last_as_written("page", "1"), notes),
        size=listing.page_size(given.last_as_written("size", str(SIZES[0])), notes),
    )
    return query.write(), tuple(notes)


def understood(query: str) -> DifferencesQuery:
    """A canonical query, understood."""
    given = of_canonical(query)
    return DifferencesQuery(
        subject=subjects.of_pairs(given),
        since=given.get("from", ""),
        area=given.get("area", ""),
        text=given.get("q", ""),
        page=int(given.get("page", "1")),
        size=int(given.get("size", str(SIZES[0]))),
    )


def area_of(path: str) -> str:
    """The area that a znode is of."""
    kind = BY_KIND.get(paths.locate(path).kind)
    return OTHER if kind is None else kind.area


class Choice(msgspec.Struct, frozen=True):
    """A way to another selection."""

    words: str
    href: str
    is_current: bool = False


class Shown(msgspec.Struct, Generic[R], frozen=True):
    """The rows of one page, of so many that are `matched`, of so many in all."""

    rows: Sequence[R]
    matched: int
    total: int
    place: listing.Slice

    def parts(self, query: DifferencesQuery, noun: str) -> tuple[Part, ...]:
        """How many are shown, and the pages."""
        shown, matched = cells.grouped(len(self.rows)), cells.grouped(self.matched)
        words = f"Showing {shown} of {matched} {noun}"
        if self.matched != self.total:
            words = f"Showing {shown} of {matched} that match, {cells.grouped(self.total)} {noun} in all"
        pager: Block = listing.pager(
            self.place.at, self.place.pages, lambda page: "?" + query.write(page=page)
        )
        return Text("showing", words), pager


def page_of(every: Sequence[R], query: DifferencesQuery, is_meant: Callable[[R], bool]) -> Shown[R]:
    """The page that a query asks for."""
    meant = [each for each in every if is_meant(each)]
    place = listing.cut(len(meant), query.page, query.size)
    return Shown(meant[place.place], len(meant), len(every), place)


def context(snapshot: Snapshot, query: DifferencesQuery, page: str) -> dict[str, Any]:
    """What both pages have above their rows: the two moments, the ways to others, the filter."""
    past = snapshot.past
    at_ms = past.instant.time_ms if past is not None else None
    return {
        "query": query,
        "areas": AREAS,
        "earlier": None if past is None or past.earlier is None else _moment(past.earlier.instant.time_ms),
        "later": None if at_ms is None else _moment(at_ms),
        "apart": _apart(past),
        "befores": tuple(
            Choice(f"{words} before", "?" + query.write(since=_since(at_ms, ms))) for words, ms in _BEFORE
        ),
        "pages": tuple(
            Choice(
                words,
                links.cluster(snapshot.cluster, route, query.write(page=1)),
                route == page,
            )
            for words, route in (("In words", ROUTE), ("Znode by znode", ZNODES_ROUTE))
        ),
        "report": links.cluster(snapshot.cluster, "report/"),
        "clear": "?" + query.write(area="", text="", subject=None) if query.filters else "",
    }


def counts(query: DifferencesQuery, areas: Iterable[str]) -> tuple[Choice, ...]:
    """How many differences are of each area, and the ways to them."""
    return tuple(
        Choice(f"{cells.grouped(count)} in {area}", "?" + query.write(area=area, text=""))
        for area, count in sorted(Counter(areas).items())
    )


def _since(at_ms: int | None, before_ms: int) -> str:
    """So long before a moment, or before now."""
    return f"-{before_ms // 1000}s" if at_ms is None else links.at_time(max(0, at_ms - before_ms))


def _moment(epoch_ms: int) -> str:
    return (times.utc_text(epoch_ms) or f"{epoch_ms} ms")[:19].replace("T", " ")


def _apart(past: Past | None) -> str:
    if past is None or past.earlier is None:
        return ""
    return times.span_text(past.instant.time_ms - past.earlier.instant.time_ms)


ROUTE: Final = "differences/"
ZNODES_ROUTE: Final = "differences/znodes/"
EXTRA: Final = {
    "from": shapes.or_null(shapes.fields(time=shapes.TEXT_OR_NULL, zxid=shapes.COUNT)),
    "at": shapes.or_null(shapes.fields(time=shapes.TEXT_OR_NULL, zxid=shapes.COUNT)),
}


def record(snapshot: Snapshot) -> dict[str, Any]:
    """What JSON has of the two moments, null on a page that compares none."""
    past = snapshot.past
    if past is None or past.earlier is None:
        return {"from": None, "at": None}
    return {
        name: {"time": times.utc_text(instant.time_ms), "zxid": instant.zxid}
        for name, instant in (("from", past.earlier.instant), ("at", past.instant))
    }
