"""The problems of a cluster while a batch is applied: raised, repaired and counted."""

from __future__ import annotations

import immutables

from zkdash.cluster.model.draft import Draft
from zkdash.kafka import secrets
from zkdash.kafka.values import Problem
from zkdash.znode import Unreadable, Znode

HEAD = 200  # bytes of a malformed znode that are shown


class Ledger:
    """Collects what does not parse. One per batch, thrown away after `close`."""

    def __init__(self, problems: immutables.Map[str, Problem], critical: int) -> None:
        self._problems = Draft(problems)
        self.holds_any = bool(problems)
        self.critical = critical

    def note(
        self, path: str, read: Znode | Unreadable | None, reasons: tuple[str, ...], *, critical: bool
    ) -> None:
        """Say what is wrong with the znode at `path` now: nothing (also when it is gone), or the reasons."""
        former = self._problems.get(path)
        now = _problem(path, read, reasons, critical=critical) if reasons else None
        if now != former:
            self._problems.put(path, now)
            self.critical += (now is not None and now.critical) - (former is not None and former.critical)

    def close(self) -> immutables.Map[str, Problem]:
        return self._problems.close()


def _problem(
    path: str, read: Znode | Unreadable | None, reasons: tuple[str, ...], *, critical: bool
) -> Problem:
    data = read.data if isinstance(read, Znode) else None
    head = b"" if data is None or secrets.is_secret(path) else data[:HEAD]
    return Problem(path, "; ".join(reasons), head, critical)
