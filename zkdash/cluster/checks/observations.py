"""From what holds at a moment to findings: what held long enough, and since when."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from zkdash.cluster.analysis import takeovers
from zkdash.cluster.analysis.takeovers import Histories
from zkdash.cluster.checks import assignment_audit as survey
from zkdash.cluster.checks import topic_standing
from zkdash.cluster.checks.assignment_audit import EMPTY, AssignmentAudit
from zkdash.cluster.checks.catalogue import CHECKS
from zkdash.cluster.checks.check import Check, CheckContext, Silence
from zkdash.cluster.checks.facts import NONE, Facts
from zkdash.cluster.checks.thresholds import Thresholds
from zkdash.cluster.checks.topic_standing import Standing
from zkdash.cluster.model.changed_areas import ChangedAreas
from zkdash.cluster.model.findings import Finding
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState, Seen
from zkdash.cluster.model.topics import Topic
from zkdash.cluster.model.violations import Violation, Violations
from zkdash.kafka.values import Broker


class CheckResult(msgspec.Struct, frozen=True):
    """What one check saw last, at epoch second `at`: its causes, and when each was first seen.

    Without causes to tell of (None) it is its `silence` that says why.
    `held` names those that held long enough, `finding` is what was raised for them, `due` the epoch second at
    which that becomes another though nothing changes, None for never.
    """

    at: float
    causes: Violations | None
    seen: Mapping[str, float] = {}
    held: frozenset[str] = frozenset()
    finding: Finding | None = None
    due: float | None = None
    silence: Silence | None = None


_NOTHING: Final = ChangedAreas()
_EVERYTHING: Final = ChangedAreas(everything=True)


class Observations(msgspec.Struct, frozen=True):
    """What the checks saw so far, the last time at epoch second `at`.

    `looked` is by the check's id. `unseen` is what changed since plans were last compared, as far as
    `put_off` and `observe` were told; `assigned_at` the epoch second at which `follow` last saw a topic come,
    go, be assigned or marked otherwise. `epoch` is the controller's as seen last, `elections` the epoch
    seconds at which it was seen to grow, of the last hour (`Thresholds.elections_within`). `survey` is how
    far the plans of groups were compared with their owners. `brokers` are those registered as seen last,
    `registrations` where each was so lately. `findings` are the raised checks, worst first; `passing` the ids
    of those with nothing against the cluster, `standing` what is against single topics beside their own
    status. What fails but not for long enough yet is in neither.
    """

    thresholds: Thresholds = Thresholds()
    at: float = 0.0
    looked: Mapping[str, CheckResult] = {}
    unseen: ChangedAreas = _NOTHING
    assigned_at: float = 0.0
    epoch: int | None = None
    elections: tuple[float, ...] = ()
    survey: AssignmentAudit = EMPTY
    brokers: Mapping[int, Seen[Broker]] | None = None
    registrations: Histories = {}
    findings: tuple[Finding, ...] = ()
    passing: tuple[str, ...] = ()
    standing: Standing = topic_standing.NOTHING


def observe(
    previous: Observations,
    state: ClusterState,
    now: float,
    facts: Facts = NONE,
    changed: ChangedAreas | None = None,
) -> Observations:
    """Look at a state at an epoch second. Before the first load nothing is known, for or against.

    `changed` names all that changed since `previous`, where somebody kept that: then the groups to compare
    with their plans are looked for among it, else among all, and what was put off stays so.
    """
    if not state.loaded:
        return Observations(previous.thresholds, now)
    surveyed, unseen = previous.survey, previous.unseen
    if changed is not None:
        unseen |= changed
    if int(now) != int(previous.at):  # once a second: batches may come twenty times as often
        surveyed = survey.look(surveyed, state, changed=None if changed is None else unseen)
        unseen = unseen if changed is None else _NOTHING
    noted, sight = _noted(previous, surveyed, state, now, facts)
    looked = {check.id: _look(check, previous.looked.get(check.id), sight, now) for check in CHECKS}
    findings = [result.finding for result in looked.values() if result.finding is not None]
    return msgspec.structs.replace(
        noted,
        looked=looked,
        unseen=unseen,
        findings=tuple(sorted(findings, key=lambda finding: finding.severity.rank)),
        passing=tuple(
            name for name, result in looked.items() if result.causes is not None and not result.causes
        ),
        standing=_standing(previous, looked, state),
    )


def put_off(previous: Observations, changed: ChangedAreas) -> Observations:
    """Remember what changed, for the next to `follow`."""
    return msgspec.structs.replace(previous, unseen=previous.unseen | changed)


def follow(previous: Observations, state: ClusterState, now: float) -> Observations:
    """Note what fails from now on, and what fails no more, of a state that nobody asks for the findings of.

    All that changed since the look before was `put_off`; the cost follows that, not the cluster, but for the
    first look. What holds long enough costs as much as there are causes; it is found by whoever observes
    next, of this state or a later one. Until then findings, passing and standing are those of before.
    """
    if not state.loaded:
        return Observations(previous.thresholds, now)
    changed = previous.unseen if previous.looked else _EVERYTHING
    topics = previous.survey.seen[1]
    is_assigned_otherwise = changed.everything or any(
        not _are_assigned_alike(topics.get(name), state.topics.get(name)) for name in changed.topics
    )
    assigned_at = now if is_assigned_otherwise else previous.assigned_at
    surveyed = survey.look(previous.survey, state, changed=changed)
    noted, sight = _noted(previous, surveyed, state, now, NONE)
    looked = {
        check.id: _follow(check, previous.looked.get(check.id), sight, changed, assigned_at)
        for check in CHECKS
    }
    return msgspec.structs.replace(noted, looked=looked, unseen=_NOTHING, assigned_at=assigned_at)


def _are_assigned_alike(was: Topic | None, now: Topic | None) -> bool:
    if was is None or now is None:
        return was is now
    return was.assignment is now.assignment and was.deleting == now.deleting


def _noted(
    previous: Observations, surveyed: AssignmentAudit, state: ClusterState, now: float, facts: Facts
) -> tuple[Observations, CheckContext]:
    """The observations with all but what checks find, and what these may look at."""
    epoch, elections = _elections(previous, state, now)
    registrations = _registrations(previous, state, now)
    sight = CheckContext(state, facts, previous.thresholds, elections, surveyed, now, registrations)
    noted = msgspec.structs.replace(
        previous,
        at=now,
        epoch=epoch,
        elections=elections,
        survey=surveyed,
        brokers=state.brokers,
        registrations=registrations,
    )
    return noted, sight


_OF_TOPICS = tuple(check for check in CHECKS if topic_standing.has_words(check))


def _standing(previous: Observations, looked: Mapping[str, CheckResult], state: ClusterState) -> Standing:
    """The very same where none of those checks saw anything else."""
    results = [(check, looked[check.id]) for check in _OF_TOPICS]
    if all(_is_as_before(result, previous.looked.get(check.id)) for check, result in results):
        return previous.standing
    standing = topic_standing.standing(
        ((check, result.causes, result.held) for check, result in results if result.held), state
    )
    return previous.standing if standing == previous.standing else standing


def _is_as_before(result: CheckResult, before: CheckResult | None) -> bool:
    if before is None:
        return not result.held
    return result.causes is before.causes and result.held == before.held


def _elections(
    previous: Observations, state: ClusterState, now: float
) -> tuple[int | None, tuple[float, ...]]:
    """The controller's epoch, and when it grew: what was elected before this process watched is not known."""
    seen = state.controller_epoch
    epoch = seen.value if seen is not None and isinstance(seen.value, int) else previous.epoch
    elections = previous.elections
    if elections and elections[0] < now - previous.thresholds.elections_within:
        elections = tuple(when for when in elections if when >= now - previous.thresholds.elections_within)
    if previous.epoch is not None and epoch is not None and epoch > previous.epoch:
        elections = (*elections, *[now] * min(epoch - previous.epoch, _MOST_ELECTIONS))
    return epoch, elections


def _registrations(previous: Observations, state: ClusterState, now: float) -> Histories:
    """The very same while nobody registers: nearly always."""
    if state.brokers is previous.brokers:
        return previous.registrations
    within = previous.thresholds.takeovers_within
    return takeovers.follow(previous.registrations, state.brokers, now, within)


_MOST_ELECTIONS = 100  # in one look: a larger jump was written by hand


def due(observations: Observations) -> float | None:
    """The epoch second at which a finding comes or grows though nothing changes; None for never."""
    return min(
        (result.due for result in observations.looked.values() if result.due is not None), default=None
    )


def begun(looked: CheckResult, name: str, cause: Violation) -> float:
    """The epoch second since which a cause holds: as the znodes tell, or when it was first seen."""
    seen = looked.seen.get(name, looked.at)
    return seen if cause.since is None else min(seen, cause.since)


def _look(check: Check, before: CheckResult | None, sight: CheckContext, now: float) -> CheckResult:
    """Nothing is counted anew where the causes are the very same and nothing came due: nearly always."""
    if before is not None and now - before.at < check.every and (before.due is None or now < before.due):
        return before
    answer = check.causes(sight)
    causes, silence = (None, answer) if isinstance(answer, Silence) else (answer, None)
    if (
        before is not None
        and causes is before.causes
        and silence is before.silence
        and (before.due is None or now < before.due)
    ):
        return before if not check.every else msgspec.structs.replace(before, at=now)
    if not causes:
        return CheckResult(now, causes, silence=silence)
    seen = _seen(before, causes, now)
    looked = CheckResult(now, causes, seen)
    names: list[str] = []
    since, soonest = now, None
    thresholds = sight.thresholds
    own, worse = check.holds_for(thresholds), check.worsens_after(thresholds)
    for name, cause in causes.items():
        began = begun(looked, name, cause)
        hold = 0.0 if cause.at_once else own
        holds_at = max(seen[name] + thresholds.confirm, began + hold)
        if holds_at <= now:
            names.append(name)
            since = min(since, began)
            if worse is not None and began + worse > now:
                soonest = min(began + worse, soonest or began + worse)
        elif soonest is None or holds_at < soonest:
            soonest = holds_at
    finding = _finding(check, [causes[name] for name in names], since) if names else None
    if (
        finding is not None
        and worse is not None
        and since + worse <= now
        and finding.severity is Severity.INFO
    ):
        finding = msgspec.structs.replace(finding, severity=Severity.WARNING)
    return msgspec.structs.replace(looked, held=frozenset(names), finding=finding, due=soonest)


def _follow(
    check: Check, before: CheckResult | None, sight: CheckContext, changed: ChangedAreas, assigned_at: float
) -> CheckResult:
    """When each cause was first seen: what held long enough is due whenever somebody looks."""
    if before is not None and (
        sight.now - before.at < check.every or (check.of_assignments and before.at >= assigned_at)
    ):
        return before
    answer = check.causes(sight)
    causes, silence = (None, answer) if isinstance(answer, Silence) else (answer, None)
    if before is not None and causes is before.causes and silence is before.silence:
        return before if not check.every else msgspec.structs.replace(before, at=sight.now)
    if not causes:
        return CheckResult(sight.now, causes, due=_AT_ONCE, silence=silence)
    is_kept = not check.every and not changed.everything and causes is sight.state.blames.get(check.id)
    seen = _moved(before, causes, sight.now, changed.blamed) if before is not None and is_kept else None
    return CheckResult(sight.now, causes, seen or _seen(before, causes, sight.now), due=_AT_ONCE)


def _moved(
    before: CheckResult, causes: Violations, now: float, blamed: Collection[str]
) -> Mapping[str, float] | None:
    """`_seen` of causes of which those that came or went are all among `blamed`; None where they are not."""
    others = [name for name in blamed if (name in causes) != (name in before.seen)]
    if not others:
        return before.seen if len(before.seen) == len(causes) else None
    seen = {**before.seen, **{name: now for name in others if name in causes}}
    for name in others:
        if name not in causes:
            del seen[name]
    return seen if len(seen) == len(causes) else None


def _seen(before: CheckResult | None, causes: Violations, now: float) -> Mapping[str, float]:
    """When each cause was first seen: the very same where only what is held against them changed."""
    if before is None:
        return dict.fromkeys(causes, now)
    if len(before.seen) == len(causes) and all(map(before.seen.__contains__, causes)):
        return before.seen
    return {name: before.seen.get(name, now) for name in causes}


_AT_ONCE = 0.0


def _finding(check: Check, violations: list[Violation], since: float) -> Finding:
    count = sum(cause.count for cause in violations)
    return Finding(
        check=check.id,
        severity=min(
            (cause.severity or check.severity for cause in violations), key=lambda severity: severity.rank
        ),
        sentence=check.failing(count, len(violations)),
        count=count,
        page=check.page,
        query=check.query,
        since=since,
        remedy=check.remedy,
    )
