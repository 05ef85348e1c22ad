"""What was read but not yet published, and when it may be: the rule of whole batches.

Pure: the clock is an argument. A point is quiet when every event received before the last re-read's reply
has itself been re-read, so that a ZooKeeper multi shows whole.
"""

from __future__ import annotations

import enum

from zkdash.znode import Unreadable, Znode

SPACING_S = 0.05
PATIENCE_S = 0.5


class Due(enum.Enum):
    """What to do with what is pending."""

    NOTHING = enum.auto()
    HOLD = enum.auto()  # whole, but too soon after the last: read nothing meanwhile, so that it stays whole
    WHOLE = enum.auto()
    SETTLING = enum.auto()


class Pending:
    """The changes since the last batch."""

    def __init__(self) -> None:
        self.changed: dict[str, Znode | Unreadable | None] = {}
        self.is_quiet = False
        self._since: float | None = None
        self._published = float("-inf")
        self._was_settling = False

    def put(self, path: str, value: Znode | Unreadable | None, now: float) -> None:
        """Add a change; the last one of a path counts."""
        self.changed[path] = value
        if self._since is None:
            self._since = now

    def due(self, now: float) -> Due:
        """Tell what to do now."""
        if not self.changed and not (self.is_quiet and self._was_settling):
            return Due.NOTHING
        if self.is_quiet:
            return Due.WHOLE if now >= self._published + SPACING_S else Due.HOLD
        if self._since is not None and now >= self._since + PATIENCE_S:
            return Due.SETTLING
        return Due.NOTHING

    @property
    def deadline(self) -> float | None:
        """When `due` will tell something else by itself."""
        if not self.changed and not (self.is_quiet and self._was_settling):
            return None
        if self.is_quiet:
            return self._published + SPACING_S
        return None if self._since is None else self._since + PATIENCE_S

    @property
    def reads_from(self) -> float:
        """When to read what is dirty: for a batch's first change not before it could be published.

        Read at once and held until then, it would be told late, and as it was; and many small reads cost
        more than one. (Nothing waits after a quiet spell.)
        """
        return float("-inf") if self.changed else self._published + SPACING_S

    def published(self, now: float, *, settling: bool) -> None:
        """Begin the next batch."""
        self.changed = {}
        self._since = None
        self._published = now
        self._was_settling = settling
