"""Violations: what a check found of one topic, group, broker or znode, and their ledger during a batch.

Most checks ask of one topic or group at a time: they are judged when it changes, so that their cost follows
the change, and what they find is kept in the state, by the check's id.
"""

from __future__ import annotations

from collections.abc import Mapping

import immutables
import msgspec

from zkdash.cluster.model.draft import Draft
from zkdash.cluster.model.severity import Severity


class Violation(msgspec.Struct, frozen=True, gc=False):
    """Why a check fails: how often one topic, group, broker or znode does it.

    `since` is the epoch second from which the znodes themselves tell that it holds (the age of a marker),
    None where only having seen it can say. `severity` is None where it is as bad as the check says. `why` is
    a detail in words, "" where the count says all. `at_once` tells that it need not hold for the check's own
    time, as it can never end by itself.
    """

    count: int = 1
    since: float | None = None
    severity: Severity | None = None
    why: str = ""
    at_once: bool = False


# By what causes it (a topic's or group's name, a broker's id, a path).
Violations = Mapping[str, Violation]
# By the check's id.
ViolationsByCheck = immutables.Map[str, immutables.Map[str, Violation]]
NOBODY: immutables.Map[str, Violation] = immutables.Map()


class ViolationLedger:
    """The blames while a batch is applied. One per batch, thrown away after `close`."""

    def __init__(self, before: ViolationsByCheck) -> None:
        self._before = before
        self._drafts: dict[str, Draft[str, Violation]] = {}
        self.moved: set[str] = set()  # whom a check blames that did not, or no longer
        self._held = set(before)  # the checks that hold anything against anybody, or did before the batch

    def judge(self, name: str, violations: Mapping[str, Violation], checks: frozenset[str]) -> None:
        """What `checks` have against `name` now: `violations` by id, nothing where one is not in it."""
        self._held.update(violations)
        for check in self._held & checks:
            cause = violations.get(check)
            draft = self._drafts.get(check)
            if draft is None:
                by_name = self._before.get(check)
                if cause is None and (by_name is None or name not in by_name):
                    continue  # nearly always
                draft = self._drafts[check] = Draft(NOBODY if by_name is None else by_name)
            was = draft.get(name)
            if was != cause:
                draft.put(name, cause)
                if was is None or cause is None:
                    self.moved.add(name)

    def blamed(self, check: str) -> list[str]:
        """Who was blamed by a check before the batch."""
        return list(self._before.get(check, NOBODY))

    def close(self) -> ViolationsByCheck:
        blames = Draft(self._before)
        for check, draft in self._drafts.items():
            blames.put(check, draft.close() or None)
        return blames.close()
