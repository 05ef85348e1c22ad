"""What is wrong now and why: each broker that is gone, with the findings that only follow from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec

from zkdash.cluster.incidents.incident import Incident, Incidents
from zkdash.cluster.model.brokers.load import NOTHING
from zkdash.cluster.model.findings import Finding
from zkdash.cluster.model.state import ClusterState
from zkdash.kafka import paths
from zkdash.kafka.values import Controller

# So long the brokers may take to elect another controller before its absence is a trouble of its own (ms).
ELECTING_MS: Final = 10_000
# Two clocks tell when a broker went and when its partitions changed (ms).
_BEFORE_MS: Final = 2_000


class Carried(msgspec.Struct, frozen=True):
    """What brokers that are gone carry: replicas, those of them that their ISR is without already, leaders,
    and partitions that prefer them."""

    replicas: int = 0
    under_replicated: int = 0
    leaders: int = 0
    preferred: int = 0


class Cause(msgspec.Struct, frozen=True):
    """One thing that is wrong: `brokers` are not registered. `incident` tells since when and what followed,
    None where they were gone before zkdash began to watch. `checks` are the ids of what follows."""

    brokers: tuple[int, ...]
    carried: Carried
    incident: Incident | None = None
    checks: tuple[str, ...] = ()


def causes(
    state: ClusterState, incidents: Incidents, findings: Iterable[Finding], now_ms: int
) -> tuple[Cause, ...]:
    """What is wrong at a moment, the newest first; each finding is under one cause at most.

    The cost is that of the brokers, open incidents and findings.
    """
    if not state.loaded:
        return ()
    missing = {broker for broker in state.loads if broker not in state.brokers}
    made: list[Cause] = []
    brokers_told: set[int] = set()
    for incident in reversed(incidents.open):
        gone = tuple(
            dict.fromkeys(outage.broker for outage in incident.away if outage.broker not in state.brokers)
        )
        if gone:
            made.append(Cause(gone, _carried(state, gone), incident))
            brokers_told.update(gone)
    silent = tuple(sorted(missing - brokers_told))
    if silent:
        made.append(Cause(silent, _carried(state, silent)))
    left = list(findings)
    for number, cause in enumerate(made):
        follow = tuple(finding for finding in left if _follows(finding, cause, state, now_ms))
        left = [finding for finding in left if finding not in follow]
        made[number] = msgspec.structs.replace(cause, checks=tuple(finding.check for finding in follow))
    return tuple(made)


def _carried(state: ClusterState, brokers: Iterable[int]) -> Carried:
    loads = [state.loads.get(broker, NOTHING) for broker in brokers]
    return Carried(
        sum(load.replicas for load in loads),
        sum(load.under_replicated for load in loads),
        sum(load.leaders for load in loads),
        sum(load.preferred for load in loads),
    )


def _follows(finding: Finding, cause: Cause, state: ClusterState, now_ms: int) -> bool:
    """Whether a finding only follows from brokers that are gone: it began with them, or counts no more
    than what they carry."""
    most = _MOST.get(finding.check)
    if most is None:
        return False
    incident = cause.incident
    if finding.check in _OF_CONTROLLER:
        return incident is not None and _is_electing(incident, state, now_ms)
    began_with_it = incident is not None and finding.since * 1000 >= incident.heard - _BEFORE_MS
    return began_with_it or 0 < finding.count <= most(cause.carried)


def _is_electing(incident: Incident, state: ClusterState, now_ms: int) -> bool:
    """Whether the broker was the controller, or stands there as it, and the others had no time yet to elect
    another."""
    seen = state.controller
    stands = (
        seen is not None and isinstance(seen.value, Controller) and seen.value.broker_id in incident.brokers
    )
    had_it = stands or any(change.path == paths.CONTROLLER for change in incident.rows)
    return had_it and now_ms - max(outage.gone for outage in incident.outages) <= ELECTING_MS


# The checks that fail where a broker is gone, and how much of what they count it may explain.
_MOST: Final[Mapping[str, Callable[[Carried], int]]] = {
    "D1": lambda carried: carried.under_replicated,
    "D2": lambda carried: carried.leaders,
    "D8": lambda carried: carried.under_replicated,
    "D9": lambda carried: carried.replicas,
    "D10": lambda carried: carried.replicas,
    "D11": lambda carried: carried.replicas,
    "D12": lambda carried: carried.preferred,
    "D13": lambda _: 0,
    "D18": lambda _: 0,
    "D19": lambda _: 0,
    "D20": lambda _: 0,
    "D39": lambda _: 0,
    "D40": lambda _: 0,
}
_OF_CONTROLLER: Final = {"D18", "D19"}
