"""From what holds at a moment to findings: what held long enough, and since when."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.cluster.checks.catalogue import CHECKS
from zkdash.cluster.checks.check import Check
from zkdash.cluster.checks.thresholds import Thresholds
from zkdash.cluster.findings import Finding
from zkdash.cluster.state import ClusterState


class Observations(msgspec.Struct, frozen=True):
    """What the checks saw so far, the last time at epoch second `at`.

    `since` tells of each check's causes when each began to hold, in epoch seconds. `findings` are the
    raised checks, worst first; `passing` the ids of those with nothing against the cluster. What fails
    but not for long enough yet is in neither.
    """

    thresholds: Thresholds = Thresholds()
    at: float = 0.0
    since: Mapping[str, Mapping[str, float]] = {}
    findings: tuple[Finding, ...] = ()
    passing: tuple[str, ...] = ()


def observe(previous: Observations, state: ClusterState, now: float) -> Observations:
    """Look at a state at an epoch second. Before the first load nothing is known, for or against."""
    if not state.loaded:
        return Observations(previous.thresholds, now)
    since: dict[str, Mapping[str, float]] = {}
    findings, passing = [], []
    for check in CHECKS:
        causes = check.causes(state)
        if causes is None:
            continue
        if not causes:
            passing.append(check.id)
            continue
        known = previous.since.get(check.id, {})
        began = since[check.id] = {cause: known.get(cause, now) for cause in causes}
        limit = now - _hold(check, previous.thresholds)
        held = [cause for cause, when in began.items() if when <= limit]
        if held:
            count = sum(causes[cause] for cause in held)
            findings.append(_finding(check, state, min(began[cause] for cause in held), count, len(held)))
    findings.sort(key=lambda finding: finding.tone.rank)
    return Observations(previous.thresholds, now, since, tuple(findings), tuple(passing))


def due(observations: Observations) -> float | None:
    """The epoch second at which a finding comes or grows though nothing changes; None for never."""
    times = (
        when + _hold(check, observations.thresholds)
        for check in CHECKS
        for when in observations.since.get(check.id, {}).values()
    )
    return min((time for time in times if time > observations.at), default=None)


def _hold(check: Check, thresholds: Thresholds) -> float:
    return max(thresholds.confirm, check.hold(thresholds))


def _finding(check: Check, state: ClusterState, since: float, count: int, causes: int) -> Finding:
    return Finding(
        check=check.id,
        tone=check.tone(state),
        sentence=check.failing(count, causes),
        count=count,
        page=check.page,
        query=check.query,
        since=since,
        remedy=check.remedy,
    )
