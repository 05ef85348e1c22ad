"""How many different pages are kept live: in all, of an address and of a person. On the event loop only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from zkdash.configuration.limits import OF_ADDRESS, OF_PERSON, Limits
from zkdash.live.parts import PageKey
from zkdash.live.sockets.protocols import Who

LIVE_PAGES: Final = "live_pages"


class Shares:
    """Those of one process. Sockets of one page count once for whoever holds them."""

    def __init__(self, limits: Limits) -> None:
        self._most = limits.live_pages
        self._most_of = {suffix: getattr(limits, LIVE_PAGES + suffix) for suffix in (OF_ADDRESS, OF_PERSON)}
        self._sockets: Counter[PageKey] = Counter()
        self._sockets_of: Counter[tuple[str, object, PageKey]] = Counter()
        self._pages_of: Counter[tuple[str, object]] = Counter()

    def take(self, key: PageKey, who: Who) -> str:
        """Count a socket of a page; the limit that stands in the way, "" for none."""
        names = tuple(_of(who))
        for suffix, name in names:
            is_new = not self._sockets_of[suffix, name, key]
            if is_new and self._pages_of[suffix, name] >= self._most_of[suffix]:
                return LIVE_PAGES + suffix
        if not self._sockets[key] and len(self._sockets) >= self._most:
            return LIVE_PAGES
        self._sockets[key] += 1
        for suffix, name in names:
            self._pages_of[suffix, name] += not self._sockets_of[suffix, name, key]
            self._sockets_of[suffix, name, key] += 1
        return ""

    def give(self, key: PageKey, who: Who) -> None:
        _less(self._sockets, key)
        for suffix, name in _of(who):
            if _less(self._sockets_of, (suffix, name, key)):
                _less(self._pages_of, (suffix, name))


def _of(who: Who) -> Iterator[tuple[str, object]]:
    if who.address is not None:
        yield OF_ADDRESS, who.address
    if who.person is not None:
        yield OF_PERSON, who.person


def _less(counts: Counter[Any], of: Any) -> bool:
    """Count one less; True where that was the last, which is forgotten."""
    counts[of] -= 1
    if counts[of]:
        return False
    del counts[of]
    return True
