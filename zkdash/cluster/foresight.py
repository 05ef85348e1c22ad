"""What the checks would find once a plan is done, and find no more: a state is advanced by its outcome.

Nothing is kept of it. The cost follows what the plan touches, but for the few checks that look at everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from zkdash.cluster.checks.catalogue import CHECKS
from zkdash.cluster.checks.check import Check, CheckContext, Silence
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.violations import NOBODY, Violation, Violations
from zkdash.cluster.plans import outcomes
from zkdash.cluster.plans.values import Plan
from zkdash.cluster.reducer import advance
from zkdash.znode import Batch

# How many partitions, and znodes of groups, are judged for all plans of one look: about a fifth of a second.
MOST: Final = 5000
MOST_CAUSES: Final = 5
# Who owns what is for consumers to settle: after any change some partitions have no owner for a while.
_LEFT_TO_CONSUMERS: Final = frozenset({"D39", "D40", "D41", "D42"})

_Seen = Mapping[str, Violations]


class Foreseen(msgspec.Struct, frozen=True):
    """What one check would find, or find no more.

    `sentence` counts all that the named causes do then, as their details do: `unchanged` of them are so with
    the plan and without it. `causes` are the first names with a detail ("" where there is none), `more` is
    how many other names there are. It is a finding after it has lasted for `lasting` seconds.
    """

    check: str
    severity: Severity
    sentence: str
    causes: tuple[tuple[str, str], ...]
    more: int
    lasting: float
    unchanged: int = 0


class Foresight(msgspec.Struct, frozen=True):
    """What a plan begins and ends, the worst first; `assumed` says in sentences what that stands on."""

    begun: tuple[Foreseen, ...]
    ended: tuple[Foreseen, ...]
    assumed: tuple[str, ...]


def foresee(plans: Iterable[Plan], sight: CheckContext, most: int = MOST) -> list[Foresight | None]:
    """What each plan alone would do to what the checks see now.

    None where there is nothing to be judged: a plan that is refused, or a cluster that is not loaded.
    """
    seen: _Seen | None = None
    foresights: list[Foresight | None] = []
    for plan in plans:
        if not plan.steps or not sight.state.loaded:
            foresights.append(None)
            continue
        seen = _see(sight) if seen is None else seen
        outcome = outcomes.of(plan, sight.state, sight.now, most)
        most -= outcome.cost
        after, _ = advance.advance(sight.state, Batch(outcome.changed, sight.state.zxid + 1))
        foresights.append(
            _compared(seen, _see(msgspec.structs.replace(sight, state=after)), sight, outcome.assumed)
        )
    return foresights


def _see(sight: CheckContext) -> _Seen:
    """What holds against the cluster, by check; of one that says nothing of it nothing does."""
    answers = ((check.id, check.causes(sight)) for check in CHECKS if check.id not in _LEFT_TO_CONSUMERS)
    return {check: NOBODY if isinstance(answer, Silence) else answer for check, answer in answers}


def _compared(before: _Seen, after: _Seen, sight: CheckContext, assumed: tuple[str, ...]) -> Foresight:
    begun, ended = [], []
    for check in CHECKS:
        was, now = before.get(check.id, NOBODY), after.get(check.id, NOBODY)
        if was is not now:
            begun.append(_foreseen(check, was, now, sight))
            ended.append(_foreseen(check, now, was, sight))
    return Foresight(_sorted(begun), _sorted(ended), assumed)


def _more(check: Check, before: Violations, after: Violations) -> dict[str, Violation]:
    """What there is more of after than before: causes that are new, count more, or are worse."""
    worse = {}
    for name, cause in after.items():
        was = before.get(name)
        if was is None or cause.count > was.count or _rank(check, cause) < _rank(check, was):
            worse[name] = cause
    return worse


def _rank(check: Check, cause: Violation) -> int:
    return (cause.severity or check.severity).rank


def _unchanged(before: Violations, causes: Mapping[str, Violation]) -> int:
    """How much of the causes there is anyway."""
    both = ((before[name].count, cause.count) for name, cause in causes.items() if name in before)
    return sum(was for was, now in both if was < now)


def _foreseen(check: Check, before: Violations, after: Violations, sight: CheckContext) -> Foreseen | None:
    causes = _more(check, before, after)
    if not causes:
        return None
    severities = [cause.severity or check.severity for cause in causes.values()]
    named = sorted((name, cause.why) for name, cause in causes.items() if name)
    at_once = any(cause.at_once for cause in causes.values())
    return Foreseen(
        check=check.id,
        severity=min(severities, key=lambda severity: severity.rank),
        sentence=check.failing(sum(cause.count for cause in causes.values()), len(causes)),
        causes=tuple(named[:MOST_CAUSES]),
        more=max(0, len(named) - MOST_CAUSES),
        lasting=0.0 if at_once else check.holds_for(sight.thresholds),
        unchanged=_unchanged(before, causes),
    )


def _sorted(outcomes: Sequence[Foreseen | None]) -> tuple[Foreseen, ...]:
    foreseen = (outcome for outcome in outcomes if outcome is not None)
    return tuple(sorted(foreseen, key=lambda outcome: outcome.severity.rank))
