"""What a process sees of one check of the cluster "shop", made by hand: causes that held for long enough."""

from __future__ import annotations

import datetime
from collections.abc import Mapping

from zkdash.alarms.open_alarms import Seen
from zkdash.cluster.checks import BY_ID, Finding, Observations, Silence
from zkdash.cluster.checks.observations import CheckResult
from zkdash.cluster.model.violations import Violation

START = datetime.datetime(2026, 11, 21, 10, 0, tzinfo=datetime.UTC)
SINCE = START.timestamp() - 3600


def at(seconds: float) -> datetime.datetime:
    return START + datetime.timedelta(seconds=seconds)


def looked(check: str, causes: Mapping[str, Violation]) -> CheckResult:
    severities = [cause.severity or BY_ID[check].severity for cause in causes.values()]
    count = sum(cause.count for cause in causes.values())
    finding = Finding(
        check,
        min(severities, key=lambda severity: severity.rank),
        BY_ID[check].failing(count, len(causes)),
        count,
        BY_ID[check].page,
        BY_ID[check].query,
        SINCE,
        BY_ID[check].remedy,
    )
    return CheckResult(SINCE, causes, dict.fromkeys(causes, SINCE), frozenset(causes), finding)


def failing(check: str, *names: str, current: bool = True, **counts: int) -> Seen:
    """It fails because of these, each once unless counted."""
    causes = {
        **{name: Violation() for name in names},
        **{name: Violation(count) for name, count in counts.items()},
    }
    return of(check, looked(check, causes), current=current)


def passing(check: str) -> Seen:
    return of(check, CheckResult(SINCE, {}))


def silent(check: str, *, is_unknown: bool = False) -> Seen:
    """The check is not for such a cluster, or cannot know."""
    return of(check, CheckResult(SINCE, None, silence=Silence("No group is there", is_unknown)))


def waiting(check: str, *names: str) -> Seen:
    """Something was seen, and not for long enough."""
    causes = {name: Violation() for name in names}
    return of(check, CheckResult(SINCE, causes, dict.fromkeys(causes, SINCE)))


def of(check: str, one: CheckResult, *, current: bool = True) -> Seen:
    findings = () if one.finding is None else (one.finding,)
    passing = (check,) if one.causes is not None and not one.causes else ()
    return Seen(Observations(looked={check: one}, findings=findings, passing=passing), current)
