"""What a Timeline is asked for: its query, read and written in one place, and which changes it means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlencode

import msgspec

from zkdash.cluster.changes import Change
from zkdash.history.queries.timeline import Entry, Place, Search
from zkdash.kafka import paths
from zkdash.kafka.znode_kinds import ZNODE_KINDS, Kind
from zkdash.live.feed import Feed
from zkdash.web.frame.parameters import Parameters, of_canonical
from zkdash.web.history import spans

AREAS: Final = tuple(sorted({kind.area for kind in ZNODE_KINDS}))
NEWEST: Final = 20
_LONGEST: Final = 300
_MOST_FIELDS: Final = 20
OF: Final = ("topic", "broker", "group", "path")
FILTERS: Final = (*OF, "area", "q", "from", "to")
_PARAMETERS: Final = Parameters(frozenset({*FILTERS, "before", "most"}), _LONGEST, _MOST_FIELDS)
_OF_TOPIC: Final = {Kind.TOPIC, Kind.PARTITION_COUNT, Kind.STATE, Kind.DELETION, Kind.TOPIC_CONFIG}
_OF_GROUP: Final = {Kind.GROUP, Kind.MEMBER, Kind.OWNER}


class TimelineQuery(msgspec.Struct, frozen=True):
    """A canonical query: what is searched for, its filters as pairs, and whether a short part is enough."""

    search: Search
    pairs: tuple[tuple[str, str], ...]
    is_short: bool

    @property
    def is_newest(self) -> bool:
        """Whether it is the page that goes on as things happen."""
        return self.search.before is None and self.search.to_ms is None


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """The query with what is not understood left out, and a sentence for each of these."""
    given = _PARAMETERS.read(raw)
    kept: list[tuple[str, str]] = []
    for name in (*FILTERS, "before", "most"):
        value = given.last(name)
        if not value:
            continue
        note = _wrong(name, value)
        if note:
            given.notes.append(note)
        else:
            kept.append((name, value))
    return urlencode(kept, errors="surrogatepass"), tuple(given.notes)


def understood(query: str) -> TimelineQuery:
    """A canonical query, understood."""
    given = of_canonical(query)
    search = Search(
        topic=given.get("topic", ""),
        broker=int(given["broker"]) if "broker" in given else None,
        group=given.get("group", ""),
        path=given.get("path", ""),
        area=given.get("area", ""),
        text=given.get("q", ""),
        from_ms=spans.instant(given["from"]) if "from" in given else None,
        to_ms=spans.instant(given["to"]) if "to" in given else None,
        before=Place.read(given.get("before", "")),
    )
    pairs = tuple((name, given[name]) for name in FILTERS if name in given)
    return TimelineQuery(search, pairs, "most" in given)


def in_memory(feed: Feed, search: Search) -> Iterator[Entry]:
    """The changes that a watcher keeps and a search means, the newest reading first."""
    for news in reversed(feed.news):
        for number, change in reversed([*enumerate(news.changes)]):
            entry = Entry(
                change.when,
                change.zxid,
                number,
                change.area,
                change.what,
                change.before,
                change.after,
                change.path,
            )
            if is_meant(change, search) and (search.before is None or _is_older(entry, search.before)):
                yield entry


def is_meant(change: Change, search: Search) -> bool:
    """Whether a search means a change; `before` and `upto` are another question."""
    if search.from_ms is not None and change.when < search.from_ms:
        return False
    if search.to_ms is not None and change.when >= search.to_ms:
        return False
    if search.area and change.area != search.area:
        return False
    if search.path and change.path != search.path:
        return False
    if search.text and search.text.lower() not in f"{change.what} {change.path}".lower():
        return False
    return _is_of(change, search)


def _is_of(change: Change, search: Search) -> bool:
    if not (search.topic or search.group or search.broker is not None):
        return True
    place = paths.locate(change.path)
    if search.topic and search.topic not in change.topics:
        if not (place.kind in _OF_TOPIC and place.name == search.topic):
            return False
        if search.partition is not None and place.kind is Kind.STATE and place.key != str(search.partition):
            return False
    if search.group and search.group != _group(change):
        return False
    if search.broker is None:
        return True
    number = {Kind.BROKER: place.name, Kind.PARTITION_COUNT: place.key}.get(place.kind)
    return number == str(search.broker)


def _group(change: Change) -> str:
    place = paths.locate(change.path)
    if place.kind in _OF_GROUP:
        return place.name
    return change.path.split("/")[2] if change.claims else ""


def order(entry: Entry) -> tuple[int, int, int]:
    """Where an entry stands, as the tables sort."""
    return entry.time, entry.zxid or 0, entry.op_index


def _is_older(entry: Entry, before: Place) -> bool:
    return order(entry) < (before.time, before.zxid, before.op_index)


def _wrong(name: str, value: str) -> str:
    if name == "broker" and not paths.is_id(value):
        return f"“{value}” is not a broker’s id."
    if name == "before" and Place.read(value) is None:
        return f"“{value}” is no place in the timeline; this is its newest part."
    if name == "most" and value != str(NEWEST):
        return f"“{value}” is no length of this page; it may be {NEWEST}."
    if name == "area" and value not in AREAS:
        return f"“{value}” is not an area; there are {', '.join(AREAS)}."
    if name in {"from", "to"} and spans.instant(value) is None:
        return f"“{value}” is not a time; it is to be UTC, like 2026-11-20T10:42Z."
    return ""
