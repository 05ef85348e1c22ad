"""The checks, by the ids that documentation and links use for good."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from zkdash.cluster.checks.check import Check
from zkdash.cluster.state import ClusterState
from zkdash.cluster.tone import Tone
from zkdash.kafka.values import Broker, Layout


def _critical(_: ClusterState) -> Tone:
    return Tone.CRITICAL


def _warning(_: ClusterState) -> Tone:
    return Tone.WARNING


def _sum(field: str) -> Callable[[ClusterState], Mapping[str, int]]:
    """One cause, as often as a sum over the cluster says."""

    def causes(state: ClusterState) -> Mapping[str, int]:
        count = getattr(state.counts, field)
        return {field: count} if count else {}

    return causes


def _no_controller(state: ClusterState) -> Mapping[str, int] | None:
    """0.7 has no controller, so that a cluster needs one only where something newer is there."""
    if not state.counts.topics_08 and not any(_is_newer(seen.value) for seen in state.brokers.values()):
        return None
    return {} if state.controller else {"controller": 1}


def _is_newer(broker: object) -> bool:
    return isinstance(broker, Broker) and broker.layout is Layout.V08


def _unowned(state: ClusterState) -> Mapping[str, int] | None:
    """Each group for itself: somewhere in a large cluster there is always one that rebalances."""
    return state.unowned if state.counts.groups else None


def _number(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


CHECKS: tuple[Check, ...] = (
    Check(
        id="D1",
        tone=_critical,
        causes=_sum("offline"),
        failing=lambda count, _: f"{_number(count, 'partition has', 'partitions have')} no leader",
        passing="Every partition has a leader",
        remedy="Bring a broker of the partition's ISR back. An unclean election loses data.",
        page="topics",
        query="q=is%3Aoffline",
    ),
    Check(
        id="D2",
        tone=_critical,
        causes=_sum("leader_dead"),
        failing=lambda count, _: (
            f"{_number(count, 'partition has', 'partitions have')} a leader that is not registered"
        ),
        passing="Every leader is a registered broker",
        remedy="Look whether the controller acts (/controller), and restart the broker.",
        page="topics",
        query="q=is%3Aleader-dead",
    ),
    Check(
        id="D8",
        tone=_warning,
        causes=_sum("under_replicated"),
        failing=lambda count, _: f"{_number(count, 'partition is', 'partitions are')} under-replicated",
        passing="Every replica is in sync",
        remedy="Look at the brokers that are missing from the ISRs: dead, slow or cut off.",
        page="topics",
        query="q=is%3Aunder-replicated",
    ),
    Check(
        id="D18",
        tone=_critical,
        causes=_no_controller,
        failing=lambda _, __: "No broker is the controller: /controller is missing",
        passing="A controller is elected",
        remedy="Look at the brokers' connections to ZooKeeper: any of them would take the part.",
        page="brokers",
        hold=lambda thresholds: thresholds.no_controller,
    ),
    Check(
        id="D30",
        tone=lambda state: Tone.CRITICAL if state.counts.critical_problems else Tone.WARNING,
        causes=_sum("problems"),
        failing=lambda count, _: f"{_number(count, 'znode does', 'znodes do')} not parse",
        passing="Every znode parses",
        remedy="Look at who wrote them; brokers and consumers may stumble over them too.",
        page="problems",
    ),
    Check(
        id="D40",
        tone=_critical,
        causes=_unowned,
        failing=lambda count, groups: (
            f"{_number(count, 'partition has', 'partitions have')} no owner in"
            f" {_number(groups, 'group', 'groups')} with consumers"
        ),
        passing="Every partition that a group of ZooKeeper consumers subscribes to by name has an owner",
        remedy="The last rebalance failed: restart the group's consumers.",
        page="groups",
        query="q=is%3Aunowned",
        hold=lambda thresholds: thresholds.unowned,
    ),
)

# By id, the sentence of a pass.
TITLES: Mapping[str, str] = {check.id: check.passing for check in CHECKS}
