"""Findings that stand, with who took note of them: plain frozen values, none of the database's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from zkdash.cluster.checks import BY_ID, Finding, Observations
from zkdash.cluster.checks.observations import CheckResult
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.violations import Violation


class Acknowledgement(msgspec.Struct, frozen=True):
    """Somebody knows of a finding and says why it need not lead, and be sent, for now.

    `covers` tells how often each cause did it then, by its name; `whole` that the check was meant, and not
    some of its causes. `severity` was the worst of what is covered. Instants are epoch milliseconds; `until`
    is None for as long as the finding stands.
    """

    id: int
    by: str
    at: int
    reason: str
    covers: Mapping[str, int]
    severity: Severity
    whole: bool = True
    until: int | None = None


class OpenAlarm(msgspec.Struct, frozen=True):
    """One occurrence of a finding: `first_seen` (epoch ms) outlives this process."""

    check: str
    number: int
    first_seen: int
    acknowledgements: tuple[Acknowledgement, ...] = ()


class Alarms(msgspec.Struct, frozen=True):
    """What the database tells of a cluster's findings, by the check's id.

    `read` is False until the database was read for the first time; `trouble` says why it cannot be read now,
    and then the rest is as it was. `acknowledged` names the checks whose findings are covered as a whole.
    """

    standing: Mapping[str, OpenAlarm] = {}
    acknowledged: frozenset[str] = frozenset()
    read: bool = False
    trouble: str = ""


EMPTY = Alarms()


class Seen(msgspec.Struct, frozen=True):
    """What this process sees of a cluster. What is not `current` is of the past, and decides nothing."""

    observations: Observations
    current: bool


def first_seen(finding: Finding, standing: OpenAlarm | None) -> int:
    """Since when a finding holds, in epoch ms: what the database remembers may be older than this process."""
    since = int(finding.since * 1000)
    return since if standing is None else min(since, standing.first_seen)


def held(looked: CheckResult) -> Mapping[str, Violation]:
    """The causes that a finding was raised for, by their names."""
    causes = looked.causes or {}
    return {name: cause for name, cause in causes.items() if name in looked.held}


def is_covered(looked: CheckResult, acknowledgements: Iterable[Acknowledgement]) -> bool:
    """Whether somebody took note of every cause of a finding."""
    covered: set[str] = set()
    for acknowledgement in acknowledgements:
        covered.update(acknowledgement.covers)
    return bool(covered) and looked.held <= covered


def worst(check: str, causes: Iterable[Violation]) -> Severity:
    """The worst of some causes of a check, of which there is one."""
    usual = BY_ID[check].severity
    return min((cause.severity or usual for cause in causes), key=lambda severity: severity.rank)


def why_over(acknowledgement: Acknowledgement, check: str, looked: CheckResult, now_ms: int) -> str:
    """Why an acknowledgement holds no longer, as a sentence; "" while it does."""
    if acknowledgement.until is not None and acknowledgement.until <= now_ms:
        return "The time that was given is over."
    violations = held(looked)
    mine = (
        violations
        if acknowledgement.whole
        else {name: cause for name, cause in violations.items() if name in acknowledgement.covers}
    )
    if not mine:
        return "None of its causes is left."
    severity = worst(check, mine.values())
    if severity.rank < acknowledgement.severity.rank:
        return f"It became {severity.value}."
    grown = mine.get("")
    if grown is not None and grown.count > acknowledgement.covers.get("", 0):
        return f"It grew from {acknowledgement.covers.get('', 0)} to {grown.count}."
    new = sorted(name for name in mine if name not in acknowledgement.covers)
    if new:
        others = f" and {len(new) - 1} more" if new[1:] else ""
        return f"Another cause came: {new[0]}{others}."
    return ""
