"""Findings that it creates once a plan is done, and find no more: a part of its review, and of its JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from zkdash.cluster import foresight
from zkdash.cluster.checks.check import CheckContext
from zkdash.cluster.checks.facts import Facts
from zkdash.cluster.foresight import Foreseen, Foresight
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.plans.values import Plan
from zkdash.live.snapshot import Snapshot
from zkdash.web.actions.cells import span
from zkdash.web.frame import links, shapes


class Line(msgspec.Struct, frozen=True):
    """One check. `lasting` says how long it must last before it is a finding, "" where that is no matter;
    `unchanged` counts what of the sentence is so with the plan and without it."""

    check: str
    href: str
    severity: Severity
    sentence: str
    causes: tuple[tuple[str, str], ...]
    more: int
    lasting: str
    unchanged: int


class Told(msgspec.Struct, frozen=True):
    """What would be found, what would be found no more, and what that stands on."""

    begun: tuple[Line, ...]
    ended: tuple[Line, ...]
    assumed: tuple[str, ...]


def of(plans: Iterable[Plan], snapshot: Snapshot) -> list[Foresight | None]:
    """What each plan alone would do to what the checks see of a cluster at the moment of its last look."""
    seen = snapshot.observations
    sight = CheckContext(
        snapshot.state,
        Facts(snapshot.acls or None),
        seen.thresholds,
        seen.elections,
        seen.survey,
        seen.at or snapshot.as_of or 0.0,
    )
    return foresight.foresee(plans, sight)


def told(cluster: str, foresight: Foresight | None) -> Told | None:
    if foresight is None:
        return None
    begun, ended = (
        tuple(_line(cluster, incident) for incident in ones) for ones in (foresight.begun, foresight.ended)
    )
    return Told(begun, ended, foresight.assumed)


_FINDINGS: Final = shapes.many(
    shapes.fields(
        check=shapes.TEXT,
        status=shapes.TEXT,
        sentence=shapes.TEXT,
        causes=shapes.many(shapes.fields(name=shapes.TEXT, why=shapes.TEXT)),
        more_causes=shapes.COUNT,
        lasting_s=shapes.NUMBER,
        unchanged=shapes.COUNT,
    )
)
RECORD: Final = shapes.or_null(shapes.fields(begun=_FINDINGS, ended=_FINDINGS, assumed=shapes.TEXTS))


def record(foresight: Foresight | None) -> dict[str, Any] | None:
    """As JSON has it; None where nothing was judged."""
    if foresight is None:
        return None
    begun, ended = ([_record(incident) for incident in ones] for ones in (foresight.begun, foresight.ended))
    return {"begun": begun, "ended": ended, "assumed": list(foresight.assumed)}


def _line(cluster: str, incident: Foreseen) -> Line:
    return Line(
        check=incident.check,
        href=links.check(cluster, incident.check),
        severity=incident.severity,
        sentence=incident.sentence,
        causes=incident.causes,
        more=incident.more,
        lasting=span(incident.lasting) if incident.lasting >= _TOLD_S else "",
        unchanged=incident.unchanged,
    )


_TOLD_S = 60.0  # what is a finding sooner needs no word


def _record(incident: Foreseen) -> dict[str, Any]:
    return {
        "check": incident.check,
        "status": incident.severity.value,
        "sentence": incident.sentence,
        "causes": [{"name": name, "why": why} for name, why in incident.causes],
        "more_causes": incident.more,
        "lasting_s": incident.lasting,
        "unchanged": incident.unchanged,
    }
