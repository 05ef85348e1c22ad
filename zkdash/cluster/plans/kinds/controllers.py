"""Electing a controller anew: /controller is deleted, and every broker tries to be the next."""

from __future__ import annotations

from typing import NamedTuple

from zkdash.cluster.plans.action_kind import ActionKind
from zkdash.cluster.plans.draft import Draft
from zkdash.cluster.plans.goals import Reelected
from zkdash.cluster.plans.intents import ReelectController
from zkdash.cluster.plans.values import Ground, Plan, Write, remove
from zkdash.kafka import paths
from zkdash.kafka.values import Controller


class Election(NamedTuple):
    """The write that starts one, and the epoch that the next controller exceeds."""

    write: Write
    epoch: int


def plan(intent: ReelectController, ground: Ground) -> Plan:
    seen = ground.state.controller
    value = seen.value if seen else None
    draft = Draft(intent, ground, f"broker {value.broker_id}" if isinstance(value, Controller) else "nobody")
    draft.require_controller()
    if deletion := election(draft):
        draft.step("Delete /controller", [deletion.write], Reelected(deletion.epoch))
    if draft.era.lowest == 1 and isinstance(value, Controller):
        # KAFKA-2437, mended in 0.9: who reads /controller anew after the next one wrote it never resigns.
        draft.warn(
            "A controller of Kafka 0.8 may not notice that another took its place, and act beside it: "
            f"restart broker {value.broker_id} when another broker is the controller."
        )
    if ground.state.reassignment is not None:
        draft.warn("A reassignment runs: the next controller takes it up where it is.")
    draft.warn("Until the next controller has read the cluster, no partition gets another leader.")
    return draft.close()


def election(draft: Draft) -> Election | None:
    """What starts an election; None, and refused, where that is not ours to do."""
    seen, epoch = draft.state.controller, draft.state.controller_epoch
    if seen is None or seen.znode is None:
        draft.refuse(f"{paths.CONTROLLER} is absent or not readable: there is no controller to replace.")
    elif seen.znode.ephemeral_owner == 0:
        draft.refuse(
            f"{paths.CONTROLLER} is persistent: no broker wrote it (a KRaft controller does so). "
            "It is never deleted."
        )
    elif epoch is None or not isinstance(epoch.value, int):
        draft.refuse(
            f"{paths.CONTROLLER_EPOCH} cannot be read: nobody could tell when the next one is elected."
        )
    else:
        write = remove(paths.CONTROLLER, seen.znode, "nothing: the brokers write it again")
        return Election(write, epoch.value)
    return None


def reelect(draft: Draft) -> None:
    """Have the next controller look for requests again, from 0.10 on: one that failed on a znode does not."""
    if draft.era.highest >= 3 and (elected := election(draft)):
        title = "Re-elect controller, so that it looks for requests again"
        draft.step(title, [elected.write], Reelected(elected.epoch))


KIND = ActionKind(ReelectController, "Re-elect controller", plan, confirm=lambda _: "controller")
