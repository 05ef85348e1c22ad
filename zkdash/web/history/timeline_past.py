"""What the tables tell to a Timeline: changes before those that a watcher keeps, earlier incidents, lanes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

import msgspec

from zkdash.cluster import incidents
from zkdash.cluster.incidents import Incidents
from zkdash.history.queries import lanes, timeline
from zkdash.history.queries import window as windows
from zkdash.history.queries.lanes import Past
from zkdash.history.queries.timeline import Entry, Found, Search
from zkdash.history.queries.window import Span
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.time_units import MINUTE_MS
from zkdash.web.history import lane_stretches, recorded, timeline_query

# So many changes of the tables are folded into earlier incidents.
_FOLDED: Final = 5_000
_MOST_KEPT: Final = 64
_NONE: Final = Found((), False, None)


class Recorded(msgspec.Struct, frozen=True):
    """What is recorded of a page of the Timeline; `trouble` says why the tables do not answer."""

    changes: Found = _NONE
    earlier: Incidents = Incidents()
    past: Past = lanes.NOTHING
    trouble: str = ""


class Merged(msgspec.Struct, frozen=True):
    """One page of the changes, the newest first: `entries`, of which the first `from_memory` are those that
    the watcher keeps. `more` tells that there are older ones."""

    entries: tuple[Entry, ...] = ()
    from_memory: int = 0
    more: bool = False


def merged(snapshot: Snapshot, search: Search, size: int, older: Found) -> Merged:
    """The changes that the watcher keeps, and then those of the tables, none of which is among them."""
    kept = newest_kept(snapshot, search, size + 1)
    entries = (*kept, *older.entries)
    return Merged(entries[:size], min(len(kept), size), len(entries) > size or older.more)


def newest_kept(snapshot: Snapshot, search: Search, most: int) -> tuple[Entry, ...]:
    """The newest changes that the watcher keeps."""
    entries = timeline_query.in_memory(snapshot.feed, search)
    return tuple(sorted(entries, key=timeline_query.order, reverse=True)[:most])


def has_gap(snapshot: Snapshot, recorded_changes: Found) -> bool:
    """Whether something may have happened that neither the tables nor the watcher know."""
    begins = snapshot.feed.begins
    return begins is not None and (
        recorded_changes.reach_zxid is None or recorded_changes.reach_zxid < begins.zxid
    )


class _Pasts:
    """What the tables answered for pages that may be open: live frames ask no table."""

    def __init__(self) -> None:
        self._by_page: OrderedDict[tuple[str | None, str], Past] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, key: PageKey, past: Past) -> None:
        with self._lock:
            self._by_page[key.cluster, key.query] = past
            self._by_page.move_to_end((key.cluster, key.query))
            while len(self._by_page) > _MOST_KEPT:
                self._by_page.popitem(last=False)

    def get(self, key: PageKey) -> Past:
        with self._lock:
            return self._by_page.get((key.cluster, key.query), lanes.NOTHING)


_pasts = _Pasts()
kept = _pasts.get


def changes(snapshot: Snapshot, search: Search, size: int) -> Recorded:
    """The newest changes that the watcher does not keep."""
    before = _before_memory(snapshot, search)
    newest, trouble = recorded.told(
        snapshot.cluster,
        timeline.TABLES,
        (before, size),
        lambda tables: timeline.newest(tables, before, size),
        _NONE,
    )
    return Recorded(newest, trouble=trouble)


def everything(snapshot: Snapshot, key: PageKey, search: Search, size: int, drawn: Span) -> Recorded:
    """The same with the incidents, and the lanes of the time that is drawn, kept while the page is open."""
    read = changes(snapshot, search, size)
    if read.trouble:
        return read
    folded, trouble = earlier(snapshot, search)
    past, other = _past(snapshot, drawn)
    _pasts.keep(key, past)
    return Recorded(read.changes, folded, past, trouble or other)


def _before_memory(snapshot: Snapshot, search: Search) -> Search:
    """The search for what came before all that the watcher keeps."""
    begins, news = snapshot.feed.begins, snapshot.feed.news
    if begins is None:
        return search
    oldest = min((change.when for entry in news[:1] for change in entry.changes), default=None)
    now_ms = 1 << 62 if snapshot.past is None else snapshot.past.instant.time_ms + 1
    return msgspec.structs.replace(
        search, upto=begins.zxid, unknown_before=now_ms if oldest is None else oldest
    )


def earlier(snapshot: Snapshot, search: Search) -> tuple[Incidents, str]:
    """The incidents of the tables, until this process loaded the cluster: what came then it folded itself."""
    span = Search(from_ms=search.from_ms, to_ms=search.to_ms, upto=snapshot.feed.loaded_at, unknown_before=0)
    folded, trouble = recorded.told(
        snapshot.cluster,
        timeline.TABLES,
        ("incidents", span),
        lambda tables: timeline.folded(tables, span, _FOLDED),
        Incidents(),
    )
    # What was quiet since is over, though no change says so.
    return incidents.expire(folded, lane_stretches.proved_ms(snapshot)), trouble


def _past(snapshot: Snapshot, drawn: Span) -> tuple[Past, str]:
    """What the tables know of the lanes, in whole minutes: not asked for anew with each sample."""
    unknown: tuple[Span, ...] = ()
    spans, trouble = recorded.told(snapshot.cluster, windows.SOURCES, "spans", windows.spans, unknown)
    if trouble:
        return lanes.NOTHING, trouble
    from_ms = drawn.from_ms - drawn.from_ms % MINUTE_MS
    to_ms = drawn.to_ms + -drawn.to_ms % MINUTE_MS
    return recorded.told(
        snapshot.cluster,
        lanes.TABLES,
        ("lanes", from_ms, to_ms),
        lambda tables: lanes.look(tables, spans, from_ms, to_ms),
        lanes.NOTHING,
    )
