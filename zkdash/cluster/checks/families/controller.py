"""Checks of the controller: that there is one, which one, and that it stays."""

from __future__ import annotations

from zkdash.cluster.analysis import kraft
from zkdash.cluster.checks.check import About, Check, CheckContext, Silence, number
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.violations import NOBODY, Violation, Violations
from zkdash.kafka import paths
from zkdash.kafka.values import Broker, Controller, Layout

_OLD = Silence("Nothing of 0.8 or later is there, and 0.7 has no controller")
_ABSENT = Silence("There is no /controller")
_UNPARSABLE = Silence("/controller does not parse", is_unknown=True)


def _no_controller(sight: CheckContext) -> Violations | Silence:
    """0.7 has no controller, so that a cluster needs one only where something newer is there."""
    if not has_controllers(sight.state):
        return _OLD
    return NOBODY if sight.state.controller else {paths.CONTROLLER: Violation()}


def has_controllers(state: ClusterState) -> bool:
    """Whether anything of the cluster is of 0.8 or later."""
    return bool(state.counts.topics_08) or any(_is_newer(seen.value) for seen in state.brokers.values())


def _is_newer(broker: object) -> bool:
    return isinstance(broker, Broker) and broker.layout is Layout.V08


def _dead_controller(sight: CheckContext) -> Violations | Silence:
    state = sight.state
    if state.controller is None:
        return _ABSENT
    controller = state.controller.value
    if not isinstance(controller, Controller):
        return _UNPARSABLE
    if kraft.owner(state) is not None or controller.broker_id in state.brokers:
        return NOBODY
    return {paths.CONTROLLER: Violation(why=f"broker {controller.broker_id} is not registered")}


def _churn(sight: CheckContext) -> Violations | Silence:
    if not has_controllers(sight.state):
        return _OLD
    count = len(sight.elections)
    if count <= sight.thresholds.elections:
        return NOBODY
    return {paths.CONTROLLER_EPOCH: Violation(count, since=sight.elections[0])}


def _kraft(sight: CheckContext) -> Violations | Silence:
    """A KRaft controller makes /migration as soon as it may take part, and takes /controller when it does."""
    state = sight.state
    if not has_controllers(state):
        return _OLD
    violations = {}
    if kraft.owner(state) is not None:
        violations[paths.CONTROLLER] = Violation(why="a KRaft controller owns the metadata")
    if state.migration is not None:
        violations[paths.MIGRATION] = Violation(why="a KRaft controller is there")
    return violations or NOBODY


CHECKS: tuple[Check, ...] = (
    Check(
        id="D18",
        severity=Severity.CRITICAL,
        about=About.ZNODE,
        causes=_no_controller,
        failing=lambda _, __: "No broker is the controller: /controller is missing",
        passing="A controller is elected",
        computed="/controller has been missing for longer than a broker's ZooKeeper session lasts.",
        remedy="Look at the brokers' connections to ZooKeeper: any of them would take the part.",
        hold="no_controller",
    ),
    Check(
        id="D19",
        severity=Severity.CRITICAL,
        about=About.ZNODE,
        causes=_dead_controller,
        failing=lambda _, __: "The controller is a broker that is not registered",
        passing="The controller is a registered broker",
        computed="/controller names a broker without a znode in /brokers/ids, and no KRaft controller.",
        remedy="If the session that owns /controller is gone for good, re-elect the controller.",
        deeds=("reelect-controller",),
    ),
    Check(
        id="D20",
        severity=Severity.WARNING,
        about=About.ZNODE,
        causes=_churn,
        failing=lambda count, _: (
            f"{number(count, 'controller was', 'controllers were')} elected within an hour"
        ),
        passing="The controller is stable",
        computed="/controller_epoch, which grows by one at each election, is counted while this process"
        " watches.",
        remedy="Look at the brokers' pauses (garbage collection) and at their sessions with ZooKeeper.",
        limits=(
            "elections",
            "elections_within",
        ),
    ),
    Check(
        id="D21",
        severity=Severity.INFO,
        about=About.ZNODE,
        causes=_kraft,
        failing=lambda _, __: "The cluster is being migrated to KRaft",
        passing="ZooKeeper owns the metadata",
        computed="/controller has a kraftControllerEpoch of 0 or more, or /migration is there (KIP-866).",
        remedy="While a KRaft controller owns the metadata nothing may be written to ZooKeeper: actions are"
        " off.",
        page="kraft",
    ),
)
