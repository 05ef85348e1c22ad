"""Checks of the controller and of what only it does."""

from __future__ import annotations

from zkdash.cluster.blame import NOBODY, Cause, Causes
from zkdash.cluster.checks.check import About, Check, Sight
from zkdash.cluster.tone import Tone
from zkdash.kafka.values import Broker, Layout


def _no_controller(sight: Sight) -> Causes | None:
    """0.7 has no controller, so that a cluster needs one only where something newer is there."""
    state = sight.state
    if not state.counts.topics_08 and not any(_is_newer(seen.value) for seen in state.brokers.values()):
        return None
    return NOBODY if state.controller else {"/controller": Cause()}


def _is_newer(broker: object) -> bool:
    return isinstance(broker, Broker) and broker.layout is Layout.V08


CHECKS: tuple[Check, ...] = (
    Check(
        id="D18",
        tone=Tone.CRITICAL,
        about=About.CLUSTER,
        causes=_no_controller,
        failing=lambda _, __: "No broker is the controller: /controller is missing",
        passing="A controller is elected",
        computed="/controller has been missing for longer than a broker's ZooKeeper session lasts.",
        remedy="Look at the brokers' connections to ZooKeeper: any of them would take the part.",
        page="brokers",
        thresholds=("no_controller",),
        hold=lambda thresholds: thresholds.no_controller,
    ),
)
