"""A stretch of the past: a snapshot after each of its transactions, and the tree at any of them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final

from zkdash.history.queries import steps
from zkdash.history.queries.moment import Moment
from zkdash.history.queries.neighbours import Instant
from zkdash.history.queries.steps import Step
from zkdash.history.store.tables import Tables
from zkdash.live.past import comparing, playback
from zkdash.live.snapshot import Earlier, Past, Snapshot
from zkdash.znode import Znode

# So many frames a stretch may have before it is led no further.
MOST_FRAMES: Final = 20_000


class AsItWas:
    """A cluster at a moment of the past, and the tree that it was read from, by path, once somebody asks."""

    def __init__(self, snapshot: Snapshot, tree: Callable[[], dict[str, Znode]]) -> None:
        self.snapshot = snapshot
        self._tree = tree

    @property
    def past(self) -> Past:
        """Which moment it is."""
        past = self.snapshot.past
        assert past is not None, "it is of the past"  # noqa: S101
        return past

    @cached_property
    def znodes(self) -> dict[str, Znode]:
        """The tree. What is returned belongs to nobody else."""
        return self._tree()


class Reel:
    """A stretch of one cluster, told by one source."""

    def __init__(self, tables: Tables, begun: Moment, first: Snapshot) -> None:
        self.source = begun.source
        self._first = begun.znodes
        self._last = dict(begun.znodes)
        self._zxids = [begun.zxid]
        self._frames = [first]
        self._steps: list[Step] = []
        self._rows = Counter[int]()  # by transaction
        self._before = (begun.checkpoint, steps.count(tables, begun.source, begun.checkpoint, begun.zxid))
        self.reached = begun.zxid
        self._judged: tuple[Instant, Snapshot] | None = None

    def go_on(self, rows: Sequence[dict[str, Any]], reached: int) -> None:
        """Add what came after `reached` up to another transaction."""
        self._rows.update(int(each["place"]) for each in rows)
        for step in steps.walk(self._last, rows):
            self._steps.append(step)
            self._zxids.append(step.zxid)
            self._frames.append(playback.after(self._frames[-1], step))
        self.reached = reached

    def is_of(self, tables: Tables) -> bool:
        """Whether it begins as the tables tell it now. It forgets what came after a change that they tell of
        since: samples of offsets come late."""
        checkpoint, count = self._before
        if steps.count(tables, self.source, checkpoint, self._zxids[0]) != count:
            return False
        rows = steps.counts(tables, self.source, self._zxids[0], self.reached)
        if late := [zxid for zxid in rows.keys() | self._rows.keys() if rows[zxid] != self._rows[zxid]]:
            self._cut(min(late) - 1)
        return True

    def _cut(self, zxid: int) -> None:
        """Reach no further than a transaction."""
        place = self._place(zxid)
        self._last = self._tree(place)
        del self._zxids[place + 1 :], self._frames[place + 1 :], self._steps[place:]
        self._rows = Counter({each: count for each, count in self._rows.items() if each <= zxid})
        self._judged, self.reached = None, zxid

    def holds(self, source: str, zxid: int) -> bool:
        return source == self.source and self._zxids[0] <= zxid

    def has(self, source: str, zxid: int) -> bool:
        """Whether the moment after a transaction is there already."""
        return self.holds(source, zxid) and zxid <= self.reached

    @property
    def is_full(self) -> bool:
        return len(self._frames) > MOST_FRAMES

    def at(self, past: Past) -> AsItWas:
        """A moment that it has reached."""
        place = self._place(past.instant.zxid)
        return AsItWas(playback.shown(self._snapshot(place, past.instant), past), lambda: self._tree(place))

    def before(self, instant: Instant, after: AsItWas) -> Earlier:
        """The same, for a later one to be compared with."""
        place = self._place(instant.zxid)
        return comparing.of_trees(instant, self._frames[place].state, self._tree(place), after.znodes)

    def _snapshot(self, place: int, instant: Instant) -> Snapshot:
        """What a frame is at a moment: judged once for all pages of it."""
        if self._judged is None or self._judged[0] != instant:
            self._judged = instant, playback.judged(playback.until(self._frames[place], instant.time_ms))
        return self._judged[1]

    def _place(self, zxid: int) -> int:
        return bisect_right(self._zxids, zxid) - 1

    def _tree(self, place: int) -> dict[str, Znode]:
        """The tree of a frame."""
        znodes = dict(self._first)
        for step in self._steps[:place]:
            for path, znode in (*step.changed.items(), *step.stats.items()):
                if znode is None:
                    znodes.pop(path, None)
                else:
                    znodes[path] = znode
        return znodes
