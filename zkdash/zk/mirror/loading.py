"""One reading of everything below the roots, beside what is held and published so far.

Pure bookkeeping, as `reading` is. Re-reads of paths that changed meanwhile go into the same place: requests
of one connection are answered in order, so the last answer is the newest.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from zkdash.kafka import secrets
from zkdash.zk.mirror import reading, results
from zkdash.znode import Znode

_NO_CHILDREN = b"\0\0\0\0"

log = logging.getLogger(__name__)


class Loading:
    """A load under way. `stored` is what was published; equal values are shared with it.

    `done_at` is when the walk ended, for whoever waits for a quiet point.
    """

    def __init__(self, roots: Sequence[str], stored: Mapping[str, results.Value]) -> None:
        self.fresh: dict[str, results.Value] = {}
        self.done_at: float | None = None
        self._walk = reading.Walk(roots)
        self._held = stored
        self._roots = len(roots)

    @property
    def is_walked(self) -> bool:
        return self._walk.is_done

    @property
    def expected(self) -> int | None:
        """About how many znodes there are, as far as the children counted so far tell."""
        return max(self._walk.expected + self._roots, len(self.fresh)) if self._walk.expected else None

    def next(self, cap: int) -> reading.Read | None:
        """Return the walk's next request, None while it waits for answers or is done."""
        return self._walk.next(self._held, cap)

    def take(
        self, read: reading.Read, znodes: Sequence[Znode | int], listings: Sequence[list[str] | int]
    ) -> None:
        """Take the answer to one of the walk's requests."""
        walk, fresh, level = self._walk, self.fresh, read.level
        find, value_of = walk.found, results.value
        stored = self._held.get if self._held else None
        if walk.has_guesses:
            walk.checked(read.gets, znodes)
        for path, result in zip(read.gets, znodes, strict=True):
            value: results.Value | None
            if result.__class__ is Znode and not path.startswith(secrets.MARKS):
                value = result  # nearly always, and half a million times
            else:
                value = value_of(path, result)
            if value is None:
                fresh.pop(path, None)
                continue
            before = stored(path) if stored else None
            fresh[path] = before if before is not None and before == value else value
            if value.__class__ is Znode and value[-12:-8] != _NO_CHILDREN:
                find(level, path, value)
        for path, names in zip(read.lists, listings, strict=True):
            if isinstance(names, list):
                walk.listed(level, path, names)
        walk.answered()


def compare(
    stored: Mapping[str, results.Value],
    fresh: Mapping[str, results.Value],
    pending: Mapping[str, results.Value | None],
    *,
    takes_older: bool,
) -> dict[str, results.Value | None]:
    """Return what was read and differs from what is held, and what of `pending` was never published."""
    if not stored and not pending:
        return dict(fresh)
    changed: dict[str, results.Value | None] = {}
    for path, value in fresh.items():
        before = stored.get(path)
        if before is value:
            continue
        if not takes_older and results.is_older(value, before):
            log.warning("%s was read older than it is held", path)
        changed[path] = value
    for path in stored.keys() - fresh.keys():
        changed[path] = None
    for path in pending.keys() - changed.keys():
        changed[path] = fresh.get(path)
    return changed
