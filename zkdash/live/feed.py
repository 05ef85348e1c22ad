"""The last changes of a cluster in the order they were seen in: for pages, which show the newest, and for
programs, which go on where they were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from zkdash.cluster.changes import Change

MOST = 1000
# So many more come before old ones are forgotten, which is done for many at a time.
_SLACK = 250


class Place(NamedTuple):
    """Where a program stands: after `batch` readings that ended at transaction `zxid`.

    Several may end there, since what went away carries no transaction of its own.
    """

    zxid: int
    batch: int

    def __str__(self) -> str:
        return f"{self.zxid}-{self.batch}"


class News(NamedTuple):
    """What one reading changed, oldest first, and the place after it."""

    place: Place
    changes: tuple[Change, ...]


class Feed(msgspec.Struct, frozen=True):
    """What is kept: everything that came after `begins`, oldest first; `begins` is None before the load.

    `kept` counts the changes in it. `loaded_at` is the transaction of the first load.
    """

    begins: Place | None = None
    news: tuple[News, ...] = ()
    kept: int = 0
    loaded_at: int | None = None

    @property
    def ends(self) -> Place | None:
        """The place after all of it."""
        return self.news[-1].place if self.news else self.begins

    def loaded(self, zxid: int) -> Feed:
        """The feed of a cluster that was read for the first time."""
        return Feed(Place(zxid, 0), loaded_at=zxid)

    def told(self, zxid: int, changes: tuple[Change, ...]) -> Feed:
        """The feed with one more reading's changes (newest first); of old ones MOST stay."""
        begins, ends = self.begins, self.ends
        if begins is None or ends is None or not changes:
            return self
        place = Place(zxid, 1) if zxid > ends.zxid else Place(ends.zxid, ends.batch + 1)
        news = (*self.news, News(place, tuple(reversed(changes))))
        kept, over = self.kept + len(changes), 0
        if kept > MOST + _SLACK:
            while kept > MOST and over < len(news) - 1:
                begins, kept, over = news[over].place, kept - len(news[over].changes), over + 1
        return Feed(begins, news[over:], kept, self.loaded_at)

    def newest(self) -> Iterator[Change]:
        """All that is kept, the newest first."""
        for entry in reversed(self.news):
            yield from reversed(entry.changes)

    def since(self, place: Place) -> tuple[News, ...] | None:
        """What came after a place; None where that is not known any more, or from elsewhere."""
        if self.begins is None or place < self.begins:
            return None
        return tuple(news for news in self.news if news.place > place)
